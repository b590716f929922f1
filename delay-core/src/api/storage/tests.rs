//! Files of stores, cut and damaged at every place.

use super::{
    deployed::{Deployed, Syncing},
    file::{CellFile, LogFile, Trouble},
};
use crate::world::words::Keeps;
use proptest::prelude::*;
use std::{fs, path::Path, sync::Arc};

fn written(path: &Path, batches: &[Vec<Vec<u8>>]) {
    let (mut log, _) = LogFile::open(path).unwrap();
    for batch in batches {
        log.append(batch).unwrap();
        log.sync().unwrap();
    }
}

fn found(path: &Path) -> (Vec<Vec<u8>>, bool) {
    let (_, found) = LogFile::open(path).unwrap();
    (found.payloads, found.is_torn)
}

fn records() -> Vec<Vec<u8>> {
    vec![b"first".to_vec(), Vec::new(), vec![0; 20], b"the last".to_vec()]
}

#[test]
fn a_last_record_that_is_cut_anywhere_is_torn_and_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.log");
    written(&path, &[records()]);
    let whole = fs::read(&path).unwrap();
    let before = whole.len() - 8 - records()[3].len();
    for length in before..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(found(&path), (records()[..3].to_vec(), length > before), "cut at {length}");
        // Opening alone changes nothing.
        assert_eq!(fs::read(&path).unwrap(), whole[..length]);
        written(&path, &[vec![vec![7]]]);
        assert_eq!(found(&path), ([&records()[..3], &[vec![7]]].concat(), false));
    }
}

#[test]
fn a_flipped_bit_is_never_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.log");
    written(&path, &[records()]);
    let whole = fs::read(&path).unwrap();
    let last = whole.len() - 8 - records()[3].len();
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &bytes).unwrap();
        match LogFile::open(&path) {
            Err(Trouble::Foreign) => assert!(bit / 8 < 12, "bit {bit}"),
            Err(Trouble::Damaged { at, next }) => {
                assert!((at..next).contains(&(bit / 8)) && bit / 8 < last, "bit {bit}");
            }
            Ok((_, found)) => {
                assert!(bit / 8 >= last && found.is_torn && found.payloads == records()[..3], "bit {bit}");
            }
            Err(other) => panic!("{other}"),
        }
        assert_eq!(fs::read(&path).unwrap(), bytes, "what is damaged is left as it is");
    }
}

/// The same bytes at another place are no record: logs can hold copies of logs.
#[test]
fn a_record_within_half_a_record_is_no_damage() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.log");
    written(&path, &[vec![b"inner".to_vec()]]);
    let inner = fs::read(&path).unwrap();
    written(&path, &[vec![[&inner[..], &[0; 9]].concat()]]);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(found(&path), (vec![b"inner".to_vec()], true));
}

#[test]
fn a_cell_is_whole_or_damaged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.cell");
    let read = || CellFile::open(&path).map(|(_, found)| found.payloads);
    assert_eq!(read().unwrap(), Vec::<Vec<u8>>::new());
    let (mut cell, _) = CellFile::open(&path).unwrap();
    cell.replace(b"old").unwrap();
    cell.replace(b"new").unwrap();
    // A crash came while it was replaced.
    fs::write(path.with_extension("new"), b"delay ce").unwrap();
    assert_eq!(read().unwrap(), [b"new"]);
    let whole = fs::read(&path).unwrap();
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &bytes).unwrap();
        assert!(matches!(read(), Err(Trouble::Foreign | Trouble::DamagedCell)), "bit {bit}");
    }
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(matches!(read(), Err(Trouble::Foreign | Trouble::DamagedCell)), "cut at {length}");
    }
}

#[track_caller]
fn synced<T: super::Stored>(store: &Arc<Deployed<T>>) -> Result<(), String> {
    // There is no runtime here.
    match store.sync() {
        Syncing::Done(result) => result,
        Syncing::Elsewhere(_) => panic!("nobody else is there"),
    }
}

/// What a failed sync left on disk is not known, so that the next one must not succeed either.
#[test]
fn a_store_that_could_not_be_written_is_never_synced_again() {
    let directory = tempfile::tempdir().unwrap();
    let inner = directory.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let store = Arc::new(Deployed::<u32>::on_disk(inner.join("x.cell"), Keeps::Last).unwrap());
    store.write(1);
    assert_eq!(synced(&store), Ok(()));
    fs::remove_dir_all(&inner).unwrap();
    store.write(2);
    let told = synced(&store).unwrap_err();
    assert!(told.contains("x.cell cannot be written") && told.contains("started again"), "{told}");
    fs::create_dir(&inner).unwrap();
    store.write(3);
    assert_eq!(synced(&store), Err(told));
}

#[test]
fn another_type_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.log");
    let keeps = Keeps::All { torn: false };
    let store = Arc::new(Deployed::<(u8, u8)>::on_disk(path.clone(), keeps).unwrap());
    store.write((1, 2));
    synced(&store).unwrap();
    let told = Deployed::<u8>::on_disk(path.clone(), keeps).unwrap_err();
    assert!(told.contains("x.log") && told.contains("no u8"), "{told}");
    assert_eq!(Deployed::<(u8, u8)>::on_disk(path, keeps).unwrap().read(), (vec![(1, 2)], false));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_appended_is_found(batches in prop::collection::vec(prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..4), 0..4)) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.log");
        for batch in &batches {
            written(&path, std::slice::from_ref(batch));
        }
        prop_assert_eq!(found(&path), (batches.concat(), false));
    }

    #[test]
    fn any_prefix_holds_whole_records_and_goes_on(
        records in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.log");
        written(&path, std::slice::from_ref(&records));
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..cut.index(whole.len() + 1)]).unwrap();
        let (left, _) = found(&path);
        prop_assert!(records.starts_with(&left));
        written(&path, &[vec![b"more".to_vec()]]);
        let expected = [left, vec![b"more".to_vec()]].concat();
        prop_assert_eq!(found(&path), (expected, false));
    }

    #[test]
    fn what_is_written_comes_back(values in prop::collection::vec(any::<(Option<String>, i64)>(), 0..5)) {
        let directory = tempfile::tempdir().unwrap();
        for (keeps, file) in [(Keeps::All { torn: true }, "x.log"), (Keeps::Last, "x.cell")] {
            let path = directory.path().join(file);
            let store = Arc::new(Deployed::on_disk(path.clone(), keeps).unwrap());
            for value in &values {
                store.write(value.clone());
            }
            synced(&store).unwrap();
            let expected = if keeps == Keeps::Last { values.last().cloned().into_iter().collect() } else { values.clone() };
            let again = Deployed::<(Option<String>, i64)>::on_disk(path, keeps).unwrap();
            prop_assert_eq!(again.read(), (expected, false));
        }
    }
}

//! Files of checkpoints: what is written comes back, and nothing else is taken for it.

use super::{format::*, *};
use crate::{
    live::Totals,
    name::Order,
    search::{
        Deviation, Fingerprints, Settings,
        saved::{Entry, Position, Sampled, Start},
        visited::Prints,
    },
    world::premises::Fates,
};
use std::path::Path;

fn subject() -> Subject {
    let words = [
        ("mode", "ses"),
        ("cache", "state"),
        ("fingerprints", "64"),
        ("reduction", "none"),
        ("seed", "7"),
        ("budget", "1s"),
    ];
    Subject {
        test: TestName { package: "p".to_owned(), krate: "c".to_owned(), path: "m::t".to_owned() },
        settings: words.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        shard: Shard::WHOLE,
    }
}

fn place(directory: &Path, found: Found) -> Place {
    Place { directory: directory.to_owned(), every: Duration::ZERO, found }
}

fn entry(number: u32) -> Entry {
    Entry {
        deviations: vec![Deviation { step: number, delays: 2 }, Deviation { step: 300 + number, delays: 1 }],
        steps: 400 + number,
        executed: number,
        check: u32::MAX - number,
    }
}

fn exhaustive() -> Saved {
    let coverage = Coverage {
        states: 3,
        transitions: 4,
        states_per_bound: vec![1, 3],
        completed_bound: Some(1),
        totals: Totals { steps: 5, woken_first: Some("w".to_owned()), ..Totals::default() },
        ..Coverage::new(&Settings::default())
    };
    Saved::Exhaustive(Position {
        coverage,
        bound: 2,
        now: vec![entry(1), entry(0)],
        next: vec![entry(2)],
        visited: Prints {
            fingerprints: Fingerprints::Bits128,
            states: vec![1, u64::MAX, 3, 2],
            pairs: vec![4, 5, 1, u64::MAX, 6, 2],
            forgotten: 7,
        },
        names: Order { processes: vec![(0, 0), (1, 0)], objects: vec![(0, 0, true), (1, 1, false)] },
    })
}

fn sampling() -> Saved {
    let coverage = Coverage::new(&Settings::default());
    Saved::Sampling(Sampled {
        before: Some(Box::new(coverage.clone())),
        coverage,
        delays: 4,
        next: 1 << 40,
        starts: vec![Start { deviations: vec![Deviation { step: 1, delays: 2 }], from: 9 }].into(),
    })
}

const PREMISES: Premises = Premises { fates: Fates::AtSend, reads_clock: true };

/// Opens a checkpoint in a directory, to go on from it.
fn open(directory: &Path, subject: &Subject) -> Result<Checkpoint, String> {
    Checkpoint::open(&place(directory, Found::Resumed), subject).map_err(|error| error.to_string())
}

/// The file of a checkpoint that was saved in a directory.
fn saved(directory: &Path, what: &Saved) -> PathBuf {
    let checkpoint = open(directory, &subject()).unwrap();
    assert!(!checkpoint.is_resumed());
    checkpoint.save(PREMISES, what);
    assert_eq!(checkpoint.warning(&Coverage::new(&Settings::default())), None);
    checkpoint.path
}

#[test]
fn who_searches_with_a_reduction_is_told_that_nothing_is_saved() {
    let directory = tempfile::tempdir().unwrap();
    let checkpoint = open(directory.path(), &subject()).unwrap();
    let reduced = Settings { reduction: Reduction::Dpor, ..Settings::default() };
    let told = checkpoint.warning(&Coverage::new(&reduced)).unwrap();
    assert_eq!(told, "no checkpoint was saved: what a search with a reduction has visited is not saved");
}

#[test]
fn what_was_saved_is_gone_on_from_once() {
    for what in [exhaustive(), sampling()] {
        let directory = tempfile::tempdir().unwrap();
        let path = saved(directory.path(), &what);
        assert_eq!(path, directory.path().join("p").join(format!("{}.checkpoint", pin::file_stem(&subject().test))));
        let checkpoint = open(directory.path(), &subject()).unwrap();
        assert!(checkpoint.is_resumed());
        assert_eq!(checkpoint.take(), Some((PREMISES, what)));
        assert_eq!(checkpoint.take(), None);
        let left = std::fs::read_dir(path.parent().unwrap()).unwrap();
        assert_eq!(left.count(), 1, "no temporary file stays behind");
    }
}

#[test]
fn a_damaged_or_shortened_file_is_refused_wherever_it_is_damaged_and_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = saved(directory.path(), &exhaustive());
    let whole = std::fs::read(&path).unwrap();
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        let error = open(directory.path(), &subject()).unwrap_err();
        let expected = if length < 8 { "it is no checkpoint of delay" } else { "its end is missing" };
        assert!(error.contains("cannot go on from the checkpoint") && error.ends_with(expected), "{length}: {error}");
    }
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        std::fs::write(&path, &damaged).unwrap();
        assert!(open(directory.path(), &subject()).is_err(), "the bit in byte {at} does not matter");
        assert_eq!(std::fs::read(&path).unwrap(), damaged);
    }
    std::fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
    assert!(
        open(directory.path(), &subject())
            .unwrap_err()
            .ends_with("it is damaged: its checksum or its structure is wrong")
    );
    std::fs::write(&path, &whole).unwrap();
    assert!(open(directory.path(), &subject()).unwrap().is_resumed());
}

#[test]
fn another_version_and_another_file_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = saved(directory.path(), &sampling());
    let mut newer = std::fs::read(&path).unwrap();
    newer[8] = 9;
    std::fs::write(&path, newer).unwrap();
    let error = open(directory.path(), &subject()).unwrap_err();
    assert!(error.ends_with("it was written by a newer delay: version 9; this one reads 5"), "{error}");
    std::fs::write(&path, "a letter to a friend, longer than a header").unwrap();
    assert!(open(directory.path(), &subject()).unwrap_err().ends_with("it is no checkpoint of delay"));
}

#[test]
fn a_checkpoint_of_another_search_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = saved(directory.path(), &sampling());
    let refused = |change: &dyn Fn(&mut Subject)| {
        let mut other = subject();
        change(&mut other);
        let at = directory.path().join("p").join(file_name(&other));
        if at != path {
            std::fs::copy(&path, &at).unwrap();
        }
        open(directory.path(), &other).map(|_| ()).unwrap_err()
    };
    let seed = refused(&|other| drop(other.settings.insert("seed".to_owned(), "8".to_owned())));
    assert!(seed.contains("is of another search: the setting seed was 7, now it is 8"), "{seed}");
    let wider = refused(&|other| drop(other.settings.insert("fingerprints".to_owned(), "128".to_owned())));
    assert!(wider.contains("the setting fingerprints was 64, now it is 128"), "{wider}");
    let more = refused(&|other| drop(other.settings.insert("samples".to_owned(), "8".to_owned())));
    assert!(more.contains("the setting samples was not set, now it is 8"), "{more}");
    let test = refused(&|other| other.test.path.push('x'));
    assert!(test.contains("the test was p::c::m::t, now it is p::c::m::tx"), "{test}");
    let shard = refused(&|other| other.shard = Shard::new(2, 3).unwrap_or_default());
    assert!(shard.contains(".2-of-3.checkpoint") && shard.contains("the shard was 1/1, now it is 2/3"), "{shard}");
    let mut longer = subject();
    longer.settings.insert("budget".to_owned(), "1h".to_owned());
    longer.settings.insert("max_cache".to_owned(), "1".to_owned());
    longer.settings.insert("max_delays".to_owned(), "9".to_owned());
    assert!(open(directory.path(), &longer).unwrap().is_resumed(), "how far to search is free");
}

#[test]
fn a_checkpoint_of_another_binary_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = saved(directory.path(), &sampling());
    let mut binary = Binary::own().unwrap();
    binary.checksum ^= 1;
    save(&path, &Head::of(&subject(), binary), PREMISES, &sampling()).unwrap();
    let error = open(directory.path(), &subject()).unwrap_err();
    assert!(error.starts_with("the test binary is another one than when the checkpoint"), "{error}");
}

#[test]
fn what_took_long_is_not_overwritten_by_mistake() {
    let directory = tempfile::tempdir().unwrap();
    let anew =
        || Checkpoint::open(&place(directory.path(), Found::Refused), &subject()).map_err(|error| error.to_string());
    assert!(!anew().unwrap().is_resumed());
    saved(directory.path(), &sampling());
    let error = anew().unwrap_err();
    assert!(error.contains("there is a checkpoint of this test already") && error.contains("--resume"), "{error}");
}

#[test]
fn where_nothing_can_be_saved_is_said_before_the_search() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = open(&file, &subject()).unwrap_err();
    assert!(error.starts_with("cannot save a checkpoint to "), "{error}");
}

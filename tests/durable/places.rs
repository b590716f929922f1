//! Where stores are kept: names, nodes, locks, and files that are not as they were left.

use crate::child::{child, failure, run, script, told};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
};
use tempfile::TempDir;

fn directory() -> (TempDir, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("below").join("stores").to_str().expect("text").to_owned();
    (directory, path)
}

#[test]
fn a_store_is_there_again_when_the_process_is() {
    let (_kept, path) = directory();
    let keep: &[&str] = &["keep", &path];
    assert_eq!(run(&script(&[keep, &["log", "l"], &["cell", "c"]])), ["[]", "None"]);
    for text in ["one", "two"] {
        run(&script(&[keep, &["append", "l", text], &["write", "c", text]]));
    }
    let seen = run(&script(&[keep, &["log", "l"], &["cell", "c"]]));
    assert_eq!(seen, [r#"["one", "two"]"#, r#"Some("two")"#]);
}

#[test]
fn without_a_directory_stores_are_in_memory() {
    let seen = run(&script(&[&["append", "l", "one"], &["log", "l"]]));
    assert_eq!(seen, [r#"["one"]"#]);
    assert_eq!(run(&script(&[&["log", "l"]])), ["[]"]);
}

#[test]
fn names_may_be_any_text_and_a_node_has_its_own_stores() {
    let (kept, path) = directory();
    let long = "long".repeat(100);
    let names = ["", ".", "..", "../up", "a/b", "a", "A", "con", "ä ß", "x.log", "line\nbreak", &long];
    for name in names {
        run(&script(&[
            &["keep", &path],
            &["append", name, &format!("{name} outside")],
            &["on", "", "append", name, &format!("{name} on none")],
            &["on", name, "append", "a", &format!("a on {name}")],
        ]));
    }
    for name in names {
        let mut expected = vec![format!("{:?}", [format!("{name} outside")])];
        let mut on_none = vec![format!("{name} on none")];
        if name == "a" {
            // It is also the store of the node without a name.
            on_none.insert(0, "a on ".to_owned());
        }
        expected.push(format!("{on_none:?}"));
        let seen =
            run(&script(&[&["keep", &path], &["log", name], &["on", "", "log", name], &["on", name, "log", "a"]]));
        assert_eq!(seen[..2], expected, "{name:?}");
        assert!(seen[2].contains(&format!("{:?}", format!("a on {name}"))), "{name:?}: {}", seen[2]);
    }
    let beside: Vec<_> = fs::read_dir(kept.path()).expect("it is there").collect();
    assert_eq!(beside.len(), 1, "no name leads out of the directory");
}

#[test]
fn a_directory_is_of_one_process() {
    let (_kept, path) = directory();
    let mut first = child(&script(&[&["keep", &path], &["wait"]])).spawn().expect("it starts");
    let lines = BufReader::new(first.stdout.as_mut().expect("piped")).lines();
    assert!(lines.map_while(Result::ok).any(|line| told(&line) == Some("waits")), "it has the directory");
    let second = run(&script(&[&["keep", &path]]));
    assert!(second[0].contains("another process keeps its stores in") && second[0].contains("stores"), "{second:?}");
    first.kill().expect("it waits");
    first.wait().expect("it was killed");
    assert_eq!(run(&script(&[&["keep", &path]])), [""; 0]);
}

#[test]
fn a_process_has_one_directory() {
    let (_kept, path) = directory();
    assert_eq!(run(&script(&[&["keep", &path], &["cell", "c"], &["keep", &path]])), ["None"]);
    let (_other, elsewhere) = directory();
    let told = run(&script(&[&["keep", &path], &["keep", &elsewhere]]));
    assert!(told[0].contains("already; call keep_in once") && told[0].contains(&elsewhere), "{told:?}");
    let told = run(&script(&[&["cell", "c"], &["keep", &path]]));
    assert!(told[1].contains("one was opened before, in memory; call keep_in at the start of main"), "{told:?}");
    let file = PathBuf::from(&elsewhere).parent().expect("it has one").to_owned();
    fs::write(&file, "no directory").expect("it can be written");
    let told = run(&script(&[&["keep", &elsewhere]]));
    assert!(told[0].contains("stores cannot be kept in"), "{told:?}");
}

#[test]
fn half_a_record_is_told_and_overwritten() {
    let (_kept, path) = directory();
    let keep: &[&str] = &["keep", &path];
    run(&script(&[keep, &["append", "l", "one"], &["append", "l", "two"]]));
    let file = PathBuf::from(&path).join("l.log");
    let whole = fs::read(&file).expect("it is there");
    for length in whole.len() - 11..whole.len() {
        fs::write(&file, &whole[..length]).expect("it can be written");
        // Until something is appended it stays.
        for _ in 0..2 {
            let is_torn = length > whole.len() - 12;
            assert_eq!(run(&script(&[keep, &["torn", "l"]])), [format!("[\"one\"] {is_torn}")], "cut at {length}");
        }
        assert_eq!(
            run(&script(&[keep, &["log", "l"], &["append", "l", "3"], &["log", "l"]])),
            [r#"["one"]"#, r#"["one", "3"]"#]
        );
        assert_eq!(run(&script(&[keep, &["torn", "l"]])), [r#"["one", "3"] false"#]);
    }
}

#[test]
fn damage_is_never_passed_over() {
    let (_kept, path) = directory();
    let keep: &[&str] = &["keep", &path];
    run(&script(&[keep, &["append", "l", "one"], &["append", "l", "two"], &["write", "c", "x"]]));
    let damage = |name: &str, at: usize| {
        let file = PathBuf::from(&path).join(name);
        let mut bytes = fs::read(&file).expect("it is there");
        bytes[at] ^= 4;
        fs::write(&file, &bytes).expect("it can be written");
    };
    // The length, the checksum and the payload of the first record.
    for at in [12, 17, 22] {
        damage("l.log", at);
        let told = failure(&script(&[keep, &["log", "l"]]));
        assert!(told.contains("l.log: is damaged: the record at byte 12 is not whole"), "{told}");
        damage("l.log", at);
    }
    assert_eq!(run(&script(&[keep, &["log", "l"]])), [r#"["one", "two"]"#]);
    damage("c.cell", 18);
    let told = failure(&script(&[keep, &["cell", "c"]]));
    assert!(told.contains("c.cell: is damaged"), "{told}");
    let told = failure(&script(&[keep, &["log", "c"]]));
    assert!(told.contains("it is another kind of store"), "{told}");
}

//! A process that is killed while it records: what is in the file can be checked, and the next start goes on in it.

use crate::rig::{Said, check, vocabulary};
use delay::{announce, record};
use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    thread,
};

const FILE: &str = "DELAY_TEST_RECORDING";
const ROUNDS: usize = 10;

/// This test binary, run once more.
#[test]
#[ignore = "a_killed_recording_can_be_checked runs it"]
fn records_until_it_is_killed() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let _recording = record::start(PathBuf::from(file), "child", vocabulary()).expect("it can be written");
    for n in 0.. {
        announce(Said::Asked(n));
        announce(Said::Answered(n));
    }
}

fn length(path: &PathBuf) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

#[test]
fn a_killed_recording_can_be_checked() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("child.jsonl");
    let mut heard = 0;
    for round in 1..=ROUNDS {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command.args(["--exact", "kills::records_until_it_is_killed", "--nocapture", "--ignored"]).env(FILE, &path);
        let before = length(&path);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        // More than a first line; where it is hit is not up to us.
        while length(&path) < before + 1_000 {
            assert_eq!(child.try_wait().expect("it was started"), None, "it records until it is killed");
            thread::yield_now();
        }
        child.kill().expect("it runs");
        child.wait().expect("it was killed");
        let checked = check(&[&path]).unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert_eq!(checked.violations, [], "what is there is a beginning of what happened");
        let gaps: u64 = checked.gaps.iter().filter(|gap| gap.what != record::Lack::Lost).map(|gap| gap.count).sum();
        assert_eq!(gaps, round as u64, "each kill is said: {checked}");
        assert!(checked.heard > heard, "and nothing of before is gone");
        heard = checked.heard;
    }
}

//! The services are judged between processes: replicas are killed in mid-load, and what clients saw must be linearizable.
//!
//! A few rounds of what `docs/services.md` does for hundreds.

use std::process::Command;

fn rounds(options: &str) -> Command {
    let mut judge = Command::new(env!("CARGO_BIN_EXE_judge"));
    judge.arg("rounds").args(options.split(' '));
    judge
}

fn assert_nothing_lost(options: &str) {
    let output = rounds(options).output().expect("it can be run");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    assert!(said.contains("the history is linearizable"), "{said}");
}

#[test]
fn a_hash_table_over_a_chain_loses_nothing() {
    assert_nothing_lost("--protocol chain --replicas 2 --rounds 3 --seed 3");
}

#[test]
fn lists_over_paxos_lose_nothing() {
    assert_nothing_lost("--protocol paxos --service lists --rounds 2 --seed 4");
}

#[test]
fn transfers_over_chains_are_atomic() {
    assert_nothing_lost("--protocol chain --service commit --replicas 2 --rounds 3 --seed 5");
}

#[test]
fn replicas_that_lose_what_they_have_acknowledged_are_found_out() {
    // A temporary directory of its own, because what was wrong is kept.
    let place = tempfile::tempdir().expect("there is a place for temporary files");
    let mut judge = rounds("--protocol paxos --service lists --lose-stores");
    let output = judge.env("TMPDIR", place.path()).output().expect("it can be run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("not linearizable: "), "{said}");
    assert!(said.contains(place.path().to_str().expect("the path is text")), "{said}");
}

//! Two-phase commit under tokio: the same code as in the searches, once.

use delay_examples::two_phase_commit::{Decision, accounts::transfer};
use std::process::Command;

#[tokio::test]
async fn a_transfer_is_committed() {
    assert_eq!(transfer(100, 70).await, Decision::Commit);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transfer_of_too_much_is_aborted() {
    assert_eq!(transfer(100, 170).await, Decision::Abort);
}

#[test]
fn the_program_prints_what_was_decided() {
    let output = Command::new(env!("CARGO_BIN_EXE_two_phase_on_tokio")).output().expect("it can be run");
    let printed = String::from_utf8(output.stdout).expect("it prints text");
    assert_eq!(printed.lines().collect::<Vec<_>>(), ["transfer 70 of 100: Commit", "transfer 170 of 100: Abort"]);
}

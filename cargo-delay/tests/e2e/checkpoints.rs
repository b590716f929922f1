//! `cargo delay test --checkpoint`, `--resume`: searches that were stopped and killed.

use crate::{
    project::{Outcome, Project},
    shards::LONG,
};
use std::{fs, path::PathBuf};

/// A directory without checkpoints.
fn directory(name: &str) -> PathBuf {
    let directory = LONG.path("checkpoints").join(name);
    let _ = fs::remove_dir_all(&directory);
    directory
}

fn run(project: &Project, test: &str, words: &[&str]) -> Outcome {
    project.delay_in_ci(&[&["test", "--exact", test], words].concat())
}

/// What a test says it covered, from the line that begins so.
fn covered(outcome: &Outcome, begins: &str) -> String {
    let lines = outcome.stderr.lines().skip_while(|line| !line.trim_start().starts_with(begins));
    let lines: Vec<&str> = lines.take_while(|line| !line.starts_with("---")).collect();
    assert!(!lines.is_empty(), "{}", outcome.stderr);
    // Notes and warnings come after what was covered.
    let is_covered = |line: &&str| !line.contains("note: ") && !line.contains("warning: ");
    lines.into_iter().filter(is_covered).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_stopped_search_goes_on_to_the_same_statement() {
    let place = directory("stopped");
    let flags = ["--checkpoint", place.to_str().unwrap()];
    let whole = run(&LONG, "every_order", &[]).ends_with(0);
    let stopped = run(&LONG, "every_order", &[&flags[..], &["--max-states", "700"]].concat()).ends_with(0);
    stopped.says(&["OPEN", "visited so far", "stopped by its state budget"]);
    let again = run(&LONG, "every_order", &flags).ends_with(100);
    again.says(&["ERROR", "there is a checkpoint of this test already", "--resume", "remove it"]);
    let resumed = run(&LONG, "every_order", &[&flags[..], &["--resume"]].concat()).ends_with(0);
    assert_eq!(covered(&resumed, "every reachable state"), covered(&whole, "every reachable state"));
    resumed.says(&["PASS", "note: goes on from the checkpoint"]).does_not_say("warning: goes on");
    // It has come to its end: it says so again, at once.
    let ended = run(&LONG, "every_order", &[&flags[..], &["--resume"]].concat()).ends_with(0);
    assert_eq!(covered(&ended, "every reachable state"), covered(&whole, "every reachable state"));
    let seeded = run(&LONG, "every_order", &[&flags[..], &["--resume", "--explorer", "rr"]].concat()).ends_with(100);
    seeded.says(&["ERROR", "is of another search: the setting explorer was rtc, now it is rr"]);
    let other = run(&LONG, "sampled", &[&flags[..], &["--resume", "--budget", "0ms"]].concat()).ends_with(0);
    other.says(&["OPEN", "note: begins: there is no checkpoint"]);
    let samples = run(&LONG, "sampled", &[&flags[..], &["--resume"]].concat()).ends_with(0);
    assert_eq!(covered(&samples, "901 executions"), covered(&run(&LONG, "sampled", &[]), "901 executions"));
}

#[test]
#[cfg(unix)]
fn a_killed_run_goes_on_to_the_same_statement() {
    let place = directory("killed");
    let file = place.join("long/long__killed.checkpoint");
    let flags = ["--checkpoint", place.to_str().unwrap(), "--checkpoint-every", "0ms"];
    let whole = run(&LONG, "killed", &[]).ends_with(0);
    let mut command = LONG.command(&[&["test", "--exact", "killed"], &flags[..]].concat());
    command.env("CI", "1").env("LONG_DIES_AT", &file);
    let killed = LONG.outcome(command);
    assert_eq!(killed.code, None, "by a signal: {}", killed.stderr);
    assert!(file.is_file() && !killed.stderr.contains("Summary"), "{}", killed.stderr);
    let resumed = run(&LONG, "killed", &[&flags[..], &["--resume"]].concat()).ends_with(0);
    assert_eq!(covered(&resumed, "every reachable state"), covered(&whole, "every reachable state"));
}

#[test]
fn a_damaged_checkpoint_is_refused_and_left_as_it_is() {
    let place = directory("damaged");
    let flags = ["--checkpoint", place.to_str().unwrap(), "--max-states", "700"];
    run(&LONG, "every_order", &flags).ends_with(0);
    let file = place.join("long/long__every_order.checkpoint");
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let refused = run(&LONG, "every_order", &[&flags[..], &["--resume"]].concat()).ends_with(100);
    refused.says(&["ERROR", "cannot go on from the checkpoint", "long__every_order.checkpoint: it is damaged"]);
    assert_eq!(fs::read(&file).unwrap(), bytes);
}

#[test]
fn shards_and_plain_cargo_test_have_checkpoints_too() {
    let place = directory("plain");
    let alone = ["--lib", "--", "--exact", "every_order", "--nocapture"];
    let text = place.to_str().unwrap();
    let variables = [("DELAY_CHECKPOINT", text), ("DELAY_SHARD", "1/3"), ("DELAY_MAX_STATES", "500")];
    LONG.cargo_test(&variables, &alone).ends_with(0);
    assert!(place.join("long/long__every_order.1-of-3.checkpoint").is_file());
    let resumed = LONG.cargo_test(&[("DELAY_CHECKPOINT", text), ("DELAY_SHARD", "1/3"), ("DELAY_RESUME", "1")], &alone);
    let resumed = resumed.ends_with(0);
    let whole = LONG.cargo_test(&[("DELAY_SHARD", "1/3")], &alone).ends_with(0);
    let said = |outcome: &Outcome| {
        let line = outcome.stdout.lines().find(|line| line.starts_with("every_order: ")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{}", outcome.stdout))
    };
    assert_eq!(said(&resumed), said(&whole));
    let lost = LONG.cargo_test(&[("DELAY_RESUME", "1")], &alone).ends_with(101);
    lost.says(&[
        "`DELAY_RESUME` has no meaning without a checkpoint: say where it is (--checkpoint, DELAY_CHECKPOINT)",
    ]);
}

#[test]
fn a_program_that_changed_is_not_gone_on_with() {
    let source = include_str!("long.rs");
    let project = Project::new("changing", source);
    let place = project.path("checkpoints");
    let _ = fs::remove_dir_all(&place);
    let flags = ["--checkpoint", place.to_str().unwrap(), "--max-states", "700"];
    run(&project, "every_order", &flags).ends_with(0);
    project.write("src/lib.rs", &source.replace("in 0..5", "in 0..6"));
    let changed = run(&project, "every_order", &[&flags[..], &["--resume"]].concat()).ends_with(100);
    changed.says(&["ERROR", "the test binary is another one than when the checkpoint"]);
    project.write("src/lib.rs", source);
}

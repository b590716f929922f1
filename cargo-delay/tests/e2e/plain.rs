//! The same tests under plain `cargo test`, without the command.

use crate::project::Project;

const ALONE: [&str; 5] = ["--lib", "--", "--exact", "passes", "--nocapture"];

#[test]
fn variables_work_without_the_command() {
    let votes = Project::votes();
    let outcome = votes.cargo_test(&[("DELAY_MAX_DELAYS", "1")], &ALONE).ends_with(0);
    assert!(outcome.stdout.contains("visited within 1 delay;"), "{}", outcome.stdout);
    let outcome = votes.cargo_test(&[("DELAY_MODE", "random"), ("DELAY_SAMPLES", "9"), ("DELAY_SEED", "3")], &ALONE);
    assert!(outcome.stdout.contains("9 executions"), "{}", outcome.stdout);
    votes
        .cargo_test(&[("DELAY_BUDGET", "10")], &ALONE)
        .ends_with(101)
        .says(&["DELAY_BUDGET is \"10\", expected a time such as"]);
    let outcome = votes.cargo_test(&[("DELAY_MAX_DELAY", "1")], &ALONE).ends_with(0);
    outcome.says(&["warning: the variable DELAY_MAX_DELAY means nothing to delay"]);
    let outcome = votes.cargo_test(&[("DELAY_JOBS", "0")], &ALONE).ends_with(101);
    outcome.says(&["DELAY_JOBS is \"0\", expected a whole number, 1 to 1024"]);
    let outcome = votes.cargo_test(&[("DELAY_REDUCTION", "dpro")], &ALONE).ends_with(101);
    outcome.says(&["DELAY_REDUCTION is \"dpro\", expected \"none\" or \"dpor\""]);
    let outcome = votes.cargo_test(&[("DELAY_EXPLORER", "rct")], &ALONE).ends_with(101);
    outcome.says(&["explorer is \"rct\", expected one of"]);
}

#[test]
fn a_failure_is_told_whole_in_the_captured_output() {
    let outcome = Project::votes().cargo_test(&[("CI", "1")], &["--lib", "--", "fails"]).ends_with(101);
    let text = outcome.stdout;
    for part in [
        "test result: FAILED. 1 passed; 2 failed",
        "fails: panic in main: assertion `left == right` failed: votes out of order",
        "  at src/lib.rs:",
        "sends 0 to mpsc main#1",
        "replay it with: cargo delay replay TARGET/delay/votes/votes__fails.trace",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

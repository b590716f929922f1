//! `cargo delay test`: verdicts, exit codes, what a person reads, what is refused.

use crate::project::Project;

#[test]
fn a_failure_is_told_with_its_schedule_and_how_to_replay_it() {
    let outcome = Project::votes().delay_in_ci(&["test", "--lib", "--exact", "fails"]).ends_with(100);
    insta::assert_snapshot!(outcome.report());
    let trace = Project::trace("votes", "votes__fails");
    assert!(trace.is_file(), "{}", trace.display());
}

#[test]
fn passing_and_expected_failures_are_success() {
    let words = ["test", "--lib", "--exact", "passes", "fails_as_expected", "panics", "deadlocks", "--skip=deadlocks"];
    let outcome = Project::votes().delay_in_ci(&words).ends_with(0);
    outcome
        .says(&["PASS", "votes passes\n", "states and", "transitions visited within 3 delays"])
        .says(&["XFAIL", "votes fails_as_expected\n", "--- FINDING: votes fails_as_expected ---", "replay it with: "])
        .says(&["XFAIL", "votes panics\n", "--- FINDING: votes panics ---", "votes out of order"])
        .says(&["Summary [", "3 tests run: 1 passed, 2 failed as expected, 11 skipped"]);
}

#[test]
fn all_other_ends_are_failures_that_say_why() {
    let names = ["passes_unexpectedly", "returns_an_error", "deadlocks", "is_not_deterministic", "dies"];
    let words = [&["test", "--lib", "--no-fail-fast", "--exact"], &names[..]].concat();
    Project::votes()
        .delay_in_ci(&words)
        .ends_with(100)
        .says(&[
            "ERROR",
            "votes passes_unexpectedly\n",
            "expected to find a failure, found none: every reachable state visited",
        ])
        .says(&["FAIL", "votes returns_an_error\n", "the test body returned an error: \"the third\""])
        .says(&["FAIL", "votes deadlocks\n", "deadlock: the test body has not returned", "left waits for a message on"])
        .says(&[
            "ERROR",
            "votes is_not_deterministic\n",
            "uncontrolled nondeterminism: step ",
            "the same choices led to",
        ])
        .says(&[
            "ERROR",
            "votes dies\n",
            "the test process died (signal: 6 (SIGABRT))",
            "cargo test -p votes -- dies --nocapture",
        ])
        .says(&["Summary [", "5 tests run: 0 passed, 5 failed, 9 skipped"]);
}

#[test]
fn the_first_failure_stops_the_run_and_quiet_says_the_least() {
    let votes = Project::votes();
    let outcome = votes.delay_in_ci(&["test", "--lib", "--exact", "passes", "fails", "deadlocks"]).ends_with(100);
    outcome
        .says(&["2 tests of 3 run: 1 passed, 1 failed", "1 test was not run because of the failure: --no-fail-fast"]);
    let outcome = votes.delay_in_ci(&["test", "--lib", "--quiet", "--exact", "passes"]).ends_with(0);
    outcome.says(&["------------\n     Summary ["]).does_not_say("PASS");
}

#[test]
fn tests_of_one_name_in_two_crates_are_two_tests() {
    let votes = Project::votes();
    let outcome = votes.delay_in_ci(&["test", "--exact", "fails", "--no-fail-fast"]).ends_with(100);
    outcome.says(&["FAIL", "votes fails", "votes out of order", "FAIL", "votes::more fails", "in the second crate"]);
    for (krate, text) in [("votes", "votes out of order"), ("more", "in the second crate")] {
        let trace = Project::trace("votes", &format!("{krate}__fails"));
        let replay = votes.delay(&["replay", trace.to_str().unwrap()]).ends_with(0);
        replay.says(&[text, "REPLAYED", "as recorded: fail: panic in main"]);
    }
}

#[test]
fn no_test_is_no_success_unless_allowed() {
    let votes = Project::votes();
    votes.delay(&["test", "nothing_like_it"]).ends_with(4).says(&["no delay tests to run: the filter leaves out all"]);
    votes.delay(&["test", "nothing_like_it", "--no-tests=warn"]).ends_with(0).says(&["warning: no delay tests to run"]);
    votes.delay(&["test", "nothing_like_it", "--no-tests=pass"]).ends_with(0).does_not_say("no delay tests");
}

#[test]
fn what_is_misspelt_is_refused() {
    let votes = Project::votes();
    votes
        .delay(&["test", "--max-delay", "3"])
        .ends_with(2)
        .says(&["unexpected argument '--max-delay'", "'--max-delays'"]);
    votes
        .delay(&["test", "--", "--include-ignore"])
        .ends_with(2)
        .says(&["unknown option `--include-ignore` behind `--`"]);
    votes.delay(&["test", "--budget", "10"]).ends_with(2).says(&["unknown unit ``, expected ms, s, m or h"]);
    let outcome = votes.delay(&["test", "--lib", "--exact", "passes", "--explorer", "rct"]).ends_with(100);
    outcome.says(&["ERROR", "explorer is \"rct\", expected one of \"rtc\", \"rr\""]);
    let outcome = votes.delay(&["test", "--mode", "dfs"]).ends_with(2);
    outcome.says(&["invalid value 'dfs' for '--mode <MODE>'", "[possible values: ses, ss, ses+ss, random]"]);
    let outcome = votes.delay(&["test", "--reduction", "dpro"]).ends_with(2);
    outcome.says(&["invalid value 'dpro' for '--reduction <NAME>'", "a similar value exists: 'dpor'"]);
    votes.delay(&["test", "--samples", "0"]).ends_with(2).says(&["0 is not in 1.."]);
}

#[test]
fn flags_win_over_the_attribute() {
    let votes = Project::votes();
    let outcome = votes.delay_in_ci(&["test", "--lib", "--exact", "passes", "--max-delays", "1"]).ends_with(0);
    outcome.says(&["states and", "transitions visited within 1 delay;"]);
    let outcome = votes.delay_in_ci(&["test", "--lib", "--exact", "takes_long", "--budget", "300ms"]).ends_with(0);
    outcome.says(&["OPEN", "stopped by its time budget: nothing found yet"]);
    let outcome = votes.delay_in_ci(&["test", "--lib", "--exact", "takes_long", "--max-states", "1000"]).ends_with(0);
    outcome.says(&["OPEN", "visited so far"]);
}

#[test]
fn how_many_threads_sample_changes_no_result() {
    let run = |jobs| {
        let outcome = Project::votes().delay_in_ci(&["test", "--lib", "--exact", "sampled", "--jobs", jobs]);
        outcome.ends_with(0).report()
    };
    let one = run("1");
    assert!(one.contains("executions sampled"), "{one}");
    assert_eq!(one, run("2"));
    assert_eq!(one, run("7"));
}

#[test]
fn a_failed_build_is_cargos_to_explain() {
    let project = Project::new("broken", "fn nothing() -> u8 { \"text\" }\n");
    project.delay(&["test"]).ends_with(101).says(&["mismatched types"]).does_not_say("Summary");
}

#[test]
fn a_package_without_delay_tests_has_none_to_run() {
    let project = Project::new("plain", "#[test]\nfn works() {}\n");
    let outcome = project.delay(&["test"]).ends_with(4);
    outcome.says(&["no delay tests to run: is `delay-test` a (dev-)dependency of the selected packages?"]);
}

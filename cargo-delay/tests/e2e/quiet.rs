//! What the program prints: nothing while it is explored, all of it where a person looks at one execution.

use crate::project::Project;

#[test]
fn a_hundred_thousand_executions_print_nothing() {
    let votes = Project::votes();
    let outcome = votes.delay_in_ci(&["test", "--lib", "--verbose", "--exact", "floods"]).ends_with(0);
    outcome.says(&["PASS", "100,000 executions"]).does_not_say("OUTPUT");
    // As cargo nextest starts a test.
    let outcome = votes.cargo_test(&[], &["--lib", "--", "--exact", "floods", "--nocapture"]).ends_with(0);
    assert!(outcome.stdout.len() + outcome.stderr.len() < 2_000, "{}{}", outcome.stdout, outcome.stderr);
}

#[test]
fn the_failing_execution_prints_with_step_and_process() {
    let votes = Project::votes();
    let prints = ["with what it prints:\n", "voter | the voter thinks\n", "voter | the voter votes 1\n"];
    let outcome = votes.delay_in_ci(&["test", "--lib", "--exact", "prints_and_fails"]).ends_with(100);
    outcome.says(&["--- FINDING", "a wrong vote", "--- OUTPUT"]);
    let trace = Project::trace("votes", "votes__prints_and_fails");
    let outcome = votes.delay(&["replay", trace.to_str().unwrap()]).ends_with(0);
    insta::assert_snapshot!(outcome.report());
    outcome.says(&prints).does_not_say("the voter votes 0");
}

#[test]
fn a_backtrace_is_shown_if_asked_for() {
    let votes = Project::votes();
    let mut command = votes.command(&["test", "--lib", "--exact", "fails"]);
    command.env("CI", "1").env("RUST_BACKTRACE", "1");
    let outcome = votes.outcome(command).ends_with(100);
    outcome.says(&["main | thread 'fails'", "main | stack backtrace:", "votes::fails::fails::{{closure}}"]);
}

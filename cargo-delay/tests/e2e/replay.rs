//! `cargo delay replay`.

use crate::project::Project;

const RING: &str = include_str!("ring.rs");

#[test]
fn a_trace_replays_the_same_each_time_until_the_program_changes() {
    let project = Project::new("ring", RING);
    project.delay(&["test"]).ends_with(100).says(&["two leaders", "replay it with: cargo delay replay "]);
    let [pin] = project.pins().try_into().unwrap();
    let trace = Project::trace("ring", "ring__elects");
    let replay = || project.delay(&["replay", trace.to_str().unwrap()]);

    let first = replay().ends_with(0).report();
    insta::assert_snapshot!("as_recorded", first);
    for _ in 0..2 {
        assert_eq!(replay().ends_with(0).report(), first);
    }
    let pinned = format!("delay-snapshots/{pin}");
    assert_eq!(project.delay(&["replay", &pinned]).ends_with(0).report(), first, "the pin is the same trace");

    project.write("src/lib.rs", &RING.replace("// one more step here", "delay::task::yield_now().await;"));
    let diverged = replay().ends_with(120);
    insta::assert_snapshot!("diverged", diverged.report());

    project.write("src/lib.rs", &RING.replace("leaders < 2", "leaders < 9"));
    replay().ends_with(100).says(&["DIFFERS", "recorded: fail: panic in main: two leaders", "seen now: pass"]);
}

#[test]
fn what_cannot_be_replayed_is_said() {
    let project = Project::votes();
    project.delay(&["replay"]).ends_with(2).says(&["which trace? `cargo delay test` saves one for each failure"]);
    project.delay(&["replay", "no.trace"]).ends_with(96).says(&["cannot read the trace no.trace: "]);
    project.write("target/foreign.trace", "fn main() {}\n");
    let outcome = project.delay(&["replay", "target/foreign.trace"]).ends_with(96);
    outcome.says(&["target/foreign.trace:1: expected `delay trace 1`, found `fn main() {}`"]);

    project.delay_in_ci(&["test", "--lib", "--exact", "deadlocks"]).ends_with(100);
    let trace = std::fs::read_to_string(Project::trace("votes", "votes__deadlocks")).unwrap();
    let replay = |from: &str, to: &str| {
        assert!(trace.contains(from), "{trace}");
        project.write("target/damaged.trace", &trace.replace(from, to));
        project.delay(&["replay", "target/damaged.trace"])
    };
    let outcome = replay("seed: 0", "seed: zero").ends_with(100);
    outcome.says(&["ERROR", "target/damaged.trace:4: expected a number up to", "found \"zero\""]);
    replay("end of trace", "").ends_with(100).says(&["ERROR", "the file ends here, expected", "it is truncated"]);
    replay("test: votes votes", "test: other votes")
        .ends_with(96)
        .says(&["package `other`, which is not in this workspace"]);
    let outcome = replay("deadlocks", "renamed").ends_with(96);
    outcome.says(&["the test `votes::renamed` of package `votes`, and there is no such delay test"]);
}

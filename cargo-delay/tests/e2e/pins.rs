//! The life of a pinned trace: found, accepted, replayed, fixed.

use crate::project::Project;
use std::fs;

const RING: &str = include_str!("ring.rs");

/// Accepts the one pending pin, as a person does by hand.
fn accept(project: &Project) -> String {
    let [accepted] = project
        .pins()
        .into_iter()
        .filter_map(|name| name.strip_suffix(".new").map(str::to_owned))
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();
    let path = project.path("delay-snapshots").join(&accepted);
    fs::rename(path.with_extension("snap.new"), path).unwrap();
    accepted
}

#[test]
fn a_pin_is_pending_then_a_bug_report_then_a_regression_test() {
    let project = Project::new("pinned", RING);
    let found = project.delay(&["test"]).ends_with(100);
    found.says(&[
        "FAIL",
        "waits to be accepted: delay-snapshots/pinned__elects@",
        "1 trace waits to be accepted: `cargo insta review`",
    ]);
    let pin = accept(&project);
    let text = project.read(&format!("delay-snapshots/{pin}"));
    insta::assert_snapshot!("pin", text);

    // An accepted pin whose bug is still there is no approval of it. No second pin of it is made.
    let again = project.delay(&["test", "--verbose"]).ends_with(100);
    again.says(&["FAIL", "pinned trace pinned__elects@", "still fails: delay-snapshots/", "two leaders"]);
    assert_eq!(project.pins(), std::slice::from_ref(&pin));
    // It is found before anything is explored, and even if the exploration cannot find it.
    let blind = project.delay(&["test", "--max-delays", "0"]).ends_with(100);
    blind.says(&[
        "FAIL",
        "--- FINDING",
        "two leaders",
        "replay it with: cargo delay replay delay-snapshots/pinned__elects@",
    ]);

    project.write("src/lib.rs", &RING.replace("leaders < 2", "leaders < 9"));
    let fixed = project.delay(&["test"]).ends_with(100);
    fixed.says(&["ERROR", "changed (it was `fail`, now it is `pass`): review it", "every reachable state visited"]);
    assert_eq!(project.pins(), [pin.clone(), format!("{pin}.new")]);
    assert_eq!(accept(&project), pin);
    assert!(project.read(&format!("delay-snapshots/{pin}")).contains("\nverdict: pass\n"));
    project.delay(&["test"]).ends_with(0).says(&["PASS"]);

    project.write("src/lib.rs", &RING.replace("// one more step here", "delay::task::yield_now().await;"));
    let diverged = project.delay(&["test", "--max-delays", "0"]).ends_with(100);
    diverged.says(&["ERROR", "diverged at step", "the program no longer follows it; if that is intended, remove"]);
    assert_eq!(project.pins(), [pin], "a divergence is nothing to accept");
}

#[test]
fn insta_cannot_make_a_failure_pass_and_writes_nothing_in_ci() {
    let project = Project::new("forced", RING);
    let mut command = project.command(&["test"]);
    command.env("CI", "1");
    let in_ci = project.outcome(command).ends_with(100);
    in_ci.does_not_say("accepted");
    assert!(project.pins().is_empty());
    let mut command = project.command(&["test"]);
    command.env("INSTA_FORCE_PASS", "1").env("INSTA_UPDATE", "new");
    project.outcome(command).ends_with(100).says(&["FAIL", "two leaders", "1 trace waits to be accepted"]);
    assert_eq!(project.pins().len(), 1);
}

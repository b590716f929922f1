//! `cargo delay check`.

use crate::project::Project;
use std::sync::LazyLock;

static OBSERVED: LazyLock<Project> = LazyLock::new(|| {
    Project::depending(
        "observed",
        include_str!("observed.rs"),
        "serde = { version = \"1\", features = [\"derive\"] }\n",
    )
});

/// The recording of a process: each event so many microseconds after the beginning. Without an end if it is said so.
fn recording(process: &str, events: &[(u64, &str)], rest: &str) -> String {
    let at = |after: u64| format!("\"at\":[{},0]", 1_764_329_700_000_000 + after);
    let who = format!("\"process\":\"{process}\",\"run\":\"{process}\"");
    let first = format!("{{\"seq\":0,\"type\":\"recording\",\"version\":1,{},{who}}}\n", at(0));
    let event = |(seq, (after, data)): (usize, &(u64, &str))| {
        format!("{{\"seq\":{seq},\"type\":\"event\",{},\"name\":\"progress\",\"data\":{data}}}\n", at(*after))
    };
    let events: Vec<String> = (1..).zip(events).map(event).collect();
    let last = format!("{{\"seq\":{},\"type\":\"end\",{}}}\n", events.len() + 1, at(1_000_000));
    [first, events.concat(), rest.replace("END", &last)].concat()
}

const AGREED: &str = "{\"Agreed\":1}";
const COMMITTED: &str = "{\"Committed\":1}";

#[test]
fn recordings_of_several_processes_are_checked_as_one() {
    let project = &*OBSERVED;
    project.write("run/alpha.jsonl", &recording("alpha", &[(20, COMMITTED)], "END"));
    project.write("run/beta.jsonl", &recording("beta", &[(10, AGREED)], "END"));
    project
        .delay(&["check", "run/alpha.jsonl", "run/beta.jsonl"])
        .ends_with(0)
        .says(&[
            "PASS",
            "observed specification::atomic::observer\n",
            "checked 2 events of 2 processes against monitor Atomicity, which heard 2: no objection",
            "warning: observed specification::foreign::observer heard nothing of these recordings",
        ])
        .does_not_say("gaps");
    let outcome = project.delay(&["check", "run/alpha.jsonl", "--observer", "atomic"]).ends_with(100);
    insta::assert_snapshot!(outcome.report());
    let hot = project.delay(&["check", "run/beta.jsonl"]).ends_with(100);
    hot.says(&[
        "FAIL",
        "monitor Atomicity is hot at the end of the recording",
        "if the recording is a part of the run only: --part",
    ]);
    let part = project.delay(&["check", "--part", "run/beta.jsonl"]).ends_with(0);
    part.says(&["PASS", "warning: monitor Atomicity is hot at the end of the recording, which is a part"]);
}

#[test]
fn a_torn_recording_is_checked_and_said() {
    let project = &*OBSERVED;
    project.write("torn.jsonl", &recording("alpha", &[(10, AGREED), (20, COMMITTED)], "{\"seq\":3,\"ty"));
    project.delay(&["check", "torn.jsonl"]).ends_with(0).says(&[
        "PASS",
        "no objection; the recordings have gaps: a violation may have been missed, or be none",
        "warning: ",
        "torn.jsonl of alpha: a line is torn: the process was killed while it wrote",
    ]);
}

#[test]
fn what_cannot_be_checked_is_no_success() {
    let project = &*OBSERVED;
    project.write("good.jsonl", &recording("alpha", &[(10, AGREED), (20, COMMITTED)], "END"));
    project.write("damaged.jsonl", &recording("alpha", &[(10, AGREED)], "oops\nEND"));
    project.write("unheard.jsonl", &recording("alpha", &[(10, AGREED)], "END").replace("progress", "progres"));
    project.delay(&["check"]).ends_with(2).says(&["<RECORDING>..."]);
    project.delay(&["check", "no.jsonl"]).ends_with(96).says(&["cannot use no.jsonl: "]).does_not_say("Finished");
    project
        .delay(&["check", "damaged.jsonl"])
        .ends_with(96)
        .says(&["ERROR", "damaged.jsonl:3: no line of a recording ("]);
    project.delay(&["check", "unheard.jsonl"]).ends_with(4).says(&[
        "ERROR",
        "nothing was checked: checked 1 event of 1 process against monitor Atomicity, which heard 0",
        "warning: 1 event `progres` met, a name the observer does not know",
    ]);
    project
        .delay(&["check", "good.jsonl", "--observer", "atomc"])
        .ends_with(4)
        .says(&["there is no observer `atomc`; did you mean `specification::atomic`?"]);
    let votes = Project::votes();
    votes.write("target/good.jsonl", &project.read("good.jsonl"));
    votes
        .delay(&["check", "target/good.jsonl"])
        .ends_with(4)
        .says(&["no observer to check with: write a function with"]);
}

#[test]
fn an_observer_is_no_test() {
    let project = &*OBSERVED;
    let list = project.delay(&["list", "--run-ignored", "all"]).ends_with(0);
    assert!(list.stdout.contains("specification::explores") && !list.stdout.contains("observer"), "{}", list.stdout);
    project.delay_in_ci(&["test"]).ends_with(0).says(&["1 test run: 1 passed"]);
    let plain = project.cargo_test(&[], &["--lib"]).ends_with(0);
    assert!(plain.stdout.contains("2 ignored"), "{}", plain.stdout);
    // Whoever runs it all the same is told what it is.
    let asked = project.cargo_test(&[], &["--lib", "--", "--ignored", "--nocapture"]).ends_with(0);
    assert!(asked.stdout.contains("it checks recordings: cargo delay check FILE.."), "{}", asked.stdout);
}

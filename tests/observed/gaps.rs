//! Recordings that lack something, or are none.

use crate::rig::{Files, Said, check, first, last, line, said};
use delay::record::Verdict;
use std::path::PathBuf;

fn asked(seq: u64, n: u32) -> String {
    said(seq, seq, &Said::Asked(n))
}

fn answered(seq: u64, n: u32) -> String {
    said(seq, seq, &Said::Answered(n))
}

/// A check that holds, and what it warns of.
#[track_caller]
fn warns(files: &Files, path: &PathBuf, expected: &[&str]) {
    let checked = check(&[path]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(checked.verdict(), Verdict::Holds, "{checked}");
    let warnings: Vec<String> = checked.warnings().iter().map(|warning| files.stable(warning)).collect();
    assert_eq!(warnings, expected);
    let claims_less = checked
        .sentences()
        .ends_with("no objection; the recordings have gaps: a violation may have been missed, or be none");
    assert_eq!(claims_less, !expected.is_empty(), "{}", checked.sentences());
}

#[track_caller]
fn refuses(files: &Files, path: &PathBuf, expected: &str) {
    let error = check(&[path]).map(|checked| checked.to_string()).expect_err("it is refused");
    let text = files.stable(&error);
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn a_whole_recording_has_no_gaps() {
    let files = Files::new();
    let path = files.with("a", [first("alpha", "1"), asked(1, 7), answered(2, 7), last(3)].concat());
    warns(&files, &path, &[]);
    assert_eq!(
        check(&[&path]).expect("it can be read").sentences(),
        "checked 2 events of 1 process against monitor Answers, which heard 2: no objection"
    );
}

#[test]
fn a_recording_without_its_end_is_checked_and_said() {
    let files = Files::new();
    let whole = [first("alpha", "1"), asked(1, 7), answered(2, 7)].concat();
    let path = files.with("a", &whole);
    warns(
        &files,
        &path,
        &["DIR/a of alpha: there is no end: the process was killed, or goes on, and its last events may be missing"],
    );
    let torn = "DIR/b of alpha: a line is torn: the process was killed while it wrote, and its last events are missing";
    let next = asked(3, 8);
    for cut in 1..next.len() - 1 {
        warns(&files, &files.with("b", [&whole, &next[..cut]].concat()), &[torn]);
    }
    warns(&files, &files.with("b", [whole.as_bytes(), b"\0\0\0\0"].concat()), &[torn]);
    // Only the line end is missing: the line is there.
    let path = files.with("c", whole.trim_end());
    assert_eq!(check(&[&path]).expect("it can be read").events, 2);
}

#[test]
fn a_process_that_was_started_again_goes_on_in_the_same_file() {
    let files = Files::new();
    let [one, two] = ["1", "2"].map(|run| first("alpha", run));
    let path = files.with("a", [&*one, &asked(1, 7), "{\"seq\":2,\"ty\n", &two, &answered(1, 7), &last(2)].concat());
    let torn = "DIR/a of alpha: a line is torn: the process was killed while it wrote, and its last events are missing";
    warns(&files, &path, &[torn]);
    let path = files.with("a", [&*one, &asked(1, 7), &last(2), &two, &answered(1, 7), &last(2)].concat());
    warns(&files, &path, &[]);
    let path = files.with("a", [&*one, &asked(1, 7), &two, &answered(1, 7), &last(2)].concat());
    let unended =
        "DIR/a of alpha: there is no end: the process was killed, or goes on, and its last events may be missing";
    warns(&files, &path, &[unended]);
}

#[test]
fn what_the_recorder_could_not_keep_is_said() {
    let files = Files::new();
    let at = "\"at\":[1764329700000002,0]";
    let lines = [
        first("alpha", "1"),
        asked(1, 7),
        line(2, &format!("\"type\":\"lost\",{at},\"count\":12")),
        line(3, &format!("\"type\":\"lost\",{at},\"count\":3")),
        line(4, &format!("\"type\":\"unwritable\",{at},\"name\":\"x\",\"why\":\"key must be a string\"")),
        line(5, &format!("\"type\":\"skew\",{at},\"count\":2")),
        answered(8, 7),
        last(9),
    ];
    let path = files.with("a", lines.concat());
    warns(
        &files,
        &path,
        &[
            "DIR/a of alpha: 15 events found no room while the disk was slow, and are lost",
            "DIR/a of alpha: 1 events `x` could not be recorded (key must be a string)",
            "DIR/a of alpha: 2 messages came from clocks more than an hour ahead, which were not believed: the order may be wrong",
            "DIR/a of alpha: 2 lines were taken out of the file",
        ],
    );
}

#[test]
fn damage_is_no_gap() {
    let files = Files::new();
    let one = first("alpha", "1");
    let refuses = |text: &str, expected: &str| refuses(&files, &files.with("a", text), expected);
    refuses("", "cannot read the recording DIR/a: the file is empty");
    refuses("fn main() {}\n", "DIR/a:1: no line of a recording (");
    refuses(&asked(0, 1), "DIR/a:1: a recording begins with a line of type `recording`");
    refuses(&[&*one, "oops\n", &asked(1, 7)].concat(), "DIR/a:2: no line of a recording (");
    refuses(&[&*one, &asked(1, 7), &asked(1, 8)].concat(), "DIR/a:3: line 1 of the recording comes after line 1");
    refuses(&[&*one, &last(1), &asked(2, 8)].concat(), "DIR/a:3: this recording has ended before");
    refuses(&one.replace("\"version\":1", "\"version\":9"), "DIR/a:1: a recording of version 9, this can read 1");
    refuses(&[&*one, &one].concat(), "DIR/a:2: this recording was read already, from DIR/a");
    let other = line(1, "\"type\":\"event\",\"at\":[1764329700000002,0],\"name\":\"said\",\"data\":{\"Shouted\":1}");
    refuses(
        &[&*one, &other].concat(),
        "DIR/a:2: the event `said` does not fit the type it has here (unknown variant `Shouted`",
    );
    let error = check(&[&files.path("nowhere")]).expect_err("it is not there");
    assert!(files.stable(&error).starts_with("cannot read the recording DIR/nowhere: "), "{error}");
}

#[test]
fn a_first_line_that_is_torn_is_a_recording_of_nothing() {
    let files = Files::new();
    let path = files.with("a", &first("alpha", "1")[..30]);
    let checked = check(&[&path]).expect("it is a recording");
    assert_eq!(checked.verdict(), Verdict::Unheard, "{checked}");
    assert_eq!(checked.gaps.len(), 1);
}

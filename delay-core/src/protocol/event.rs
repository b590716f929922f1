//! What a test tells cargo-delay while it runs: numbered events, one JSON value a line.
//!
//! Invariants: the first event is `started` and the last `finished`; numbers start at 0 and have no gap; an event is one
//! line, written at once and flushed, so that a killed process loses at most its last line; every number in a sentence for
//! people was put there by the test, this side only prints.

use super::{Covered, VERSION};
use serde::{Deserialize, Serialize};
use std::fmt;

/// An event and its place in the test's stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// 0 for the first event of a process, then one more each.
    pub seq: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened in a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Event {
    /// The test began; always the first.
    Started(Started),
    /// Where the search is.
    Progress(Progress),
    /// An execution that breaks the property; sent again, with the same title, if a smaller one is found.
    Finding(Finding),
    /// A pinned trace was replayed or recorded.
    Pin(Pin),
    /// The outcome of a replay request.
    Replayed(Replayed),
    /// Something to know that decides nothing.
    Warning {
        /// One or several lines.
        text: String,
    },
    /// Something to know that is as it was asked for.
    Note {
        /// One or several lines.
        text: String,
    },
    /// The test ended; always the last.
    Finished(Finished),
}

/// Which test began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// [`VERSION`] of the writer.
    pub version: u32,
    /// libtest's name of the test.
    pub test: String,
    /// `file!()` of the test.
    pub file: String,
    /// Its line.
    pub line: u32,
}

/// How far the search is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Executions finished.
    pub executions: u64,
    /// Steps taken.
    pub steps: u64,
    /// Distinct states seen; 0 when the mode remembers none.
    pub states: u64,
    /// States waiting for a larger bound.
    pub frontier: u64,
    /// The bound being searched, or the delays of the samples.
    pub delays: u32,
    /// Since `started`.
    pub elapsed_ms: u64,
}

/// A bug, or whatever the test calls one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// One line: the violated assertion.
    pub title: String,
    /// The text for people: the schedule, the delays, the explorer.
    pub report: String,
    /// Where the trace was saved, if it could be.
    pub trace_path: Option<String>,
    /// The command that replays it; empty without a saved trace.
    pub replay: String,
}

/// A pinned trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// The snapshot's name.
    pub name: String,
    /// What became of it.
    pub verdict: PinVerdict,
    /// The snapshot's file.
    pub path: String,
}

/// What became of a pinned trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PinVerdict {
    /// Replayed, and it passes.
    Passes,
    /// Replayed, and it still fails.
    Fails,
    /// The program no longer follows it.
    Diverged,
    /// Written, waiting to be accepted.
    Pending,
}

/// The outcome of a replay request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    /// How the replay compares with the trace.
    pub outcome: ReplayOutcome,
    /// The verdict the trace holds, one line.
    pub recorded: String,
    /// The verdict of the replay, one line; where it left the trace, if it did.
    pub seen: String,
    /// The text for people: the event list.
    pub report: String,
}

/// How a replay compares with its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayOutcome {
    /// The same events and the same verdict.
    AsRecorded,
    /// The trace was followed to its end, to another verdict.
    VerdictDiffers,
    /// The program did something the trace does not hold.
    Diverged,
}

/// How a test ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    /// The verdict; the process ends as libtest wants for it.
    pub verdict: Verdict,
    /// What was covered and why the search stopped, in one or several lines; all a person is promised.
    pub coverage: String,
    /// Executions finished.
    pub executions: u64,
    /// Steps taken.
    pub steps: u64,
    /// Distinct states seen; 0 when the mode remembers none.
    pub states: u64,
    /// Since `started`.
    pub elapsed_ms: u64,
    /// The numbers behind `coverage`; none if nothing was explored.
    pub covered: Option<Box<Covered>>,
}

/// The verdict of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing found within what the coverage says.
    Passed,
    /// Nothing found before the time or the states ran out. The test is green, and has not passed.
    Unfinished,
    /// A bug was found.
    Failed,
    /// A bug was found and `expect = "fail"` asked for one.
    ExpectedFailure,
    /// No statement about the property can be made.
    Error {
        /// Why not.
        kind: ErrorKind,
        /// One or several lines for people.
        message: String,
    },
}

/// Why a test ended without a statement about its property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// A pinned or given trace no longer applies to the program.
    Diverged,
    /// The same decisions led to different behaviour.
    Nondeterministic,
    /// A pin changed and waits to be accepted.
    PendingPin,
    /// `expect = "fail"` and no bug was found.
    NotFound,
    /// Settings, request, trace or recording cannot be used.
    Invalid,
    /// The monitors of an observer heard nothing of what was recorded.
    Unheard,
}

impl Verdict {
    /// Whether the test counts as passed.
    pub fn is_success(&self) -> bool {
        match self {
            Self::Passed | Self::Unfinished | Self::ExpectedFailure => true,
            Self::Failed | Self::Error { kind: _, message: _ } => false,
        }
    }
}

impl Envelope {
    /// The event as one line, with its line end.
    pub fn to_line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("an event holds nothing that JSON cannot");
        line.push('\n');
        line
    }

    /// Reads one line. Refuses a `started` of another version.
    pub fn from_line(line: &str) -> Result<Self, EventError> {
        if let Ok(VersionedLine { version }) = serde_json::from_str(line)
            && version != VERSION
        {
            return Err(EventError::Version(version));
        }
        serde_json::from_str(line).map_err(EventError::Json)
    }
}

/// The part of `started` that every version has; no other event has the field.
#[derive(Deserialize)]
struct VersionedLine {
    version: u32,
}

/// A line that is no event of this version.
#[derive(Debug)]
pub enum EventError {
    /// Written by another version.
    Version(u32),
    /// Not an event.
    Json(serde_json::Error),
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(found) => write!(
                f,
                "the test speaks protocol version {found}, this cargo-delay {VERSION}: use the cargo-delay and delay-test of \
                 one release"
            ),
            Self::Json(error) => write!(f, "not an event of protocol version {VERSION}: {error}"),
        }
    }
}

impl std::error::Error for EventError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Version(_) => None,
            Self::Json(error) => Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{
        Shard,
        covered::{Alike, Loops, Noticed, Shared, Stop, Stratum},
    };

    fn covered() -> Covered {
        Covered {
            settings: [("mode".to_owned(), "ses".to_owned())].into(),
            shard: Shard::new(2, 4).unwrap(),
            stop: Stop::Delays,
            shared: Some(Shared { bound: 1, states: 2, transitions: 3, executions: 4, truncated: 0, frontier: 5 }),
            loops: Some(Loops { states: 1, transitions: 2, unconfirmed: 0 }),
            strata: vec![Stratum { delays: 1, samples: 9, exact: 8 }],
            noticed: Noticed {
                links: vec![("link from a".to_owned(), true)],
                copies: Some(Alike { count: 3, apart: None }),
                ..Noticed::default()
            },
            ..Covered::default()
        }
    }

    fn one_of_each() -> Vec<Event> {
        vec![
            Event::Started(Started { version: VERSION, test: "a::b".into(), file: "a.rs".into(), line: 3 }),
            Event::Progress(Progress {
                executions: 1,
                steps: u64::MAX,
                states: 3,
                frontier: 4,
                delays: 5,
                elapsed_ms: 6,
            }),
            Event::Finding(Finding {
                title: "two leaders".into(),
                report: "1 a sends\n2 \"b\" receives\n".into(),
                trace_path: None,
                replay: "cargo delay replay x".into(),
            }),
            Event::Pin(Pin { name: "n".into(), verdict: PinVerdict::Pending, path: "p".into() }),
            Event::Replayed(Replayed {
                outcome: ReplayOutcome::VerdictDiffers,
                recorded: "fail".into(),
                seen: "pass".into(),
                report: String::new(),
            }),
            Event::Warning { text: "no choice was met".into() },
            Event::Note { text: "goes on from the checkpoint c".into() },
            Event::Finished(Finished {
                verdict: Verdict::Error { kind: ErrorKind::NotFound, message: "no bug".into() },
                coverage: "every execution".into(),
                executions: 1,
                steps: 2,
                states: 3,
                elapsed_ms: 4,
                covered: Some(Box::new(covered())),
            }),
        ]
    }

    #[test]
    fn every_event_is_one_line_and_reads_back_as_it_was() {
        for (seq, event) in (0..).zip(one_of_each()) {
            let envelope = Envelope { seq, event };
            let line = envelope.to_line();
            assert_eq!(line.matches('\n').count(), 1, "{line}");
            assert_eq!(Envelope::from_line(&line).unwrap(), envelope);
        }
    }

    #[test]
    fn the_wire_form_is_the_documented_one() {
        let lines: String = (0..).zip(one_of_each()).map(|(seq, event)| Envelope { seq, event }.to_line()).collect();
        let document = include_str!("../../../docs/protocol.md");
        for line in lines.lines() {
            assert!(document.contains(line), "docs/protocol.md lacks the line\n{line}");
        }
    }

    #[test]
    fn another_version_is_named() {
        let error = Envelope::from_line(r#"{"seq":0,"type":"started","version":6,"who":"x"}"#).unwrap_err();
        assert!(error.to_string().starts_with("the test speaks protocol version 6, this cargo-delay 5"), "{error}");
        assert!(matches!(Envelope::from_line("{\"seq\":0,\"ty"), Err(EventError::Json(_))));
    }
}

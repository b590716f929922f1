//! The text of a recording: one JSON object a line. `docs/recording-format.md` is its prose.
//!
//! Invariants: a line is whole only with its line end, so that a torn one is recognised; numbers of lines start at 0 and have no gap; a
//! field this version does not know is an error, and another version is named before anything else in it is looked at.

use super::{Travel, clock::Stamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::{borrow::Cow, fmt};

/// The version of the format.
pub(super) const VERSION: u32 = 1;

/// What a line says.
#[derive(Debug)]
pub(super) enum Line<'a> {
    /// A process began to record.
    Recording { process: Cow<'a, str>, run: Cow<'a, str> },
    /// An event was announced.
    Event { name: Cow<'a, str>, data: &'a RawValue },
    /// A message was sent or received.
    Message { travel: Travel, name: Cow<'a, str>, from: Cow<'a, str>, to: Cow<'a, str>, data: &'a RawValue },
    /// So many lines found no room while the disk was slow.
    Lost { count: u64 },
    /// An event could not be made text.
    Unwritable { name: Cow<'a, str>, why: Cow<'a, str> },
    /// The clocks of so many messages were too far ahead to be believed.
    Skew { count: u64 },
    /// The process ended its recording.
    End,
}

/// A line with its number and its time.
#[derive(Debug)]
pub(super) struct Numbered<'a> {
    pub(super) seq: u64,
    pub(super) at: Stamp,
    pub(super) line: Line<'a>,
}

#[derive(Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Recording,
    Event,
    Sent,
    Received,
    Lost,
    Unwritable,
    Skew,
    End,
}

/// All fields of all kinds. Not an enum for serde: a tagged one cannot hold text as it stands.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields<'a> {
    seq: u64,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u32>,
    at: (u64, u64),
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    process: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    run: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    from: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    to: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    why: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    data: Option<&'a RawValue>,
}

/// The part of a first line that every version has.
#[derive(Deserialize)]
struct Versioned {
    #[serde(rename = "type")]
    kind: Kind,
    version: u32,
}

fn borrowed(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

impl<'a> Numbered<'a> {
    /// The line, with its line end.
    pub(super) fn to_text(&self) -> String {
        let Self { seq, at, line } = self;
        let mut fields = Fields {
            seq: *seq,
            kind: Kind::End,
            version: None,
            at: at.parts(),
            process: None,
            run: None,
            name: None,
            from: None,
            to: None,
            count: None,
            why: None,
            data: None,
        };
        match line {
            Line::Recording { process, run } => {
                (fields.kind, fields.version) = (Kind::Recording, Some(VERSION));
                (fields.process, fields.run) = (Some(borrowed(process)), Some(borrowed(run)));
            }
            Line::Event { name, data } => {
                (fields.kind, fields.name, fields.data) = (Kind::Event, Some(borrowed(name)), Some(*data));
            }
            Line::Message { travel, name, from, to, data } => {
                fields.kind = match travel {
                    Travel::Sent => Kind::Sent,
                    Travel::Received => Kind::Received,
                };
                (fields.name, fields.data) = (Some(borrowed(name)), Some(*data));
                (fields.from, fields.to) = (Some(borrowed(from)), Some(borrowed(to)));
            }
            Line::Lost { count } => (fields.kind, fields.count) = (Kind::Lost, Some(*count)),
            Line::Unwritable { name, why } => {
                (fields.kind, fields.name, fields.why) = (Kind::Unwritable, Some(borrowed(name)), Some(borrowed(why)));
            }
            Line::Skew { count } => (fields.kind, fields.count) = (Kind::Skew, Some(*count)),
            Line::End => {}
        }
        let mut text = serde_json::to_string(&fields).expect("a line holds nothing that JSON cannot");
        text.push('\n');
        text
    }

    /// Reads a line.
    pub(super) fn from_text(text: &'a str) -> Result<Self, Unread> {
        if let Ok(Versioned { kind: Kind::Recording, version }) = serde_json::from_str(text)
            && version != VERSION
        {
            return Err(Unread::Version(version));
        }
        let fields: Fields<'a> = serde_json::from_str(text).map_err(|error| Unread::Malformed(error.to_string()))?;
        let Fields { seq, kind, version, at, process, run, name, from, to, count, why, data } = fields;
        let at = Stamp::of_parts(at).ok_or(Unread::Time)?;
        let line = match (kind, version, process, run, name, from, to, count, why, data) {
            (Kind::Recording, Some(VERSION), Some(process), Some(run), None, None, None, None, None, None) => {
                Line::Recording { process, run }
            }
            (Kind::Event, None, None, None, Some(name), None, None, None, None, Some(data)) => {
                Line::Event { name, data }
            }
            (Kind::Sent, None, None, None, Some(name), Some(from), Some(to), None, None, Some(data)) => {
                Line::Message { travel: Travel::Sent, name, from, to, data }
            }
            (Kind::Received, None, None, None, Some(name), Some(from), Some(to), None, None, Some(data)) => {
                Line::Message { travel: Travel::Received, name, from, to, data }
            }
            (Kind::Lost, None, None, None, None, None, None, Some(count), None, None) => Line::Lost { count },
            (Kind::Unwritable, None, None, None, Some(name), None, None, None, Some(why), None) => {
                Line::Unwritable { name, why }
            }
            (Kind::Skew, None, None, None, None, None, None, Some(count), None, None) => Line::Skew { count },
            (Kind::End, None, None, None, None, None, None, None, None, None) => Line::End,
            _ => return Err(Unread::Fields),
        };
        Ok(Self { seq, at, line })
    }
}

/// Why a line is none of this version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unread {
    Version(u32),
    Malformed(String),
    Time,
    /// Some are missing, or do not belong there.
    Fields,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(found) => write!(
                f,
                "a recording of version {found}, this can read {VERSION}: check it with the release of delay that recorded it"
            ),
            Self::Malformed(error) => write!(f, "no line of a recording ({error})"),
            Self::Time => f.write_str("`at` is no time"),
            Self::Fields => f.write_str("the fields are not those of a line of this type"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/recording-format.md");

    fn example() -> Vec<&'static str> {
        let (_, rest) = PAGE.split_once("```json\n").expect("the page has an example");
        let (example, _) = rest.split_once("```").expect("the example ends");
        example.lines().collect()
    }

    #[test]
    fn the_page_shows_lines_as_they_are_written() {
        let lines = example();
        assert_eq!(lines.len(), 8, "one of each type");
        for (number, text) in (0..).zip(lines) {
            let read = Numbered::from_text(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(read.seq, number);
            assert_eq!(read.to_text(), format!("{text}\n"));
        }
    }

    #[test]
    fn what_is_no_line_is_refused_with_the_reason() {
        let first = example()[0];
        let refused = |from: &str, to: &str| {
            assert!(first.contains(from), "{first}");
            Numbered::from_text(&first.replace(from, to)).unwrap_err()
        };
        assert_eq!(refused("\"version\":1", "\"version\":2,\"new\":[]"), Unread::Version(2));
        assert!(
            matches!(refused("\"run\"", "\"ran\""), Unread::Malformed(text) if text.contains("unknown field `ran`"))
        );
        assert_eq!(refused(",\"run\":\"5f0c8a3b9d2e4176\"", ""), Unread::Fields);
        assert_eq!(refused(",0]", ",4096]"), Unread::Time);
        assert!(matches!(Numbered::from_text(&first[..40]).unwrap_err(), Unread::Malformed(_)));
    }
}

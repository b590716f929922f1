//! What is wrong with a text that should be a trace: where, what was found, what was expected, what to do.

use super::text::VERSION;
use std::fmt;

/// Longest excerpt of a file in a message: the file may be anything.
const EXCERPT_CHARS_MAX: usize = 60;

/// A text that is no trace, or a damaged one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceError {
    /// The line of the file, from 1; where the file ended too early, its last line.
    pub line: u32,
    /// What is wrong there.
    pub kind: TraceErrorKind,
}

/// What is wrong with a text that should be a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TraceErrorKind {
    /// It does not begin like a trace.
    Foreign {
        /// How it begins instead.
        found: String,
    },
    /// It was written by a newer release.
    Newer {
        /// The version it states.
        version: u64,
    },
    /// It is not UTF-8.
    NotUtf8,
    /// A snapshot's header that has no end.
    OpenHeader,
    /// The file ends too early.
    Ended {
        /// What should follow.
        expected: String,
    },
    /// A line that does not stand there in a trace.
    Unexpected {
        /// What stands there.
        found: String,
        /// What should.
        expected: String,
        /// What to do about it.
        hint: Option<&'static str>,
    },
    /// The schedule does not add up.
    Delays {
        /// The sum of the schedule's delays.
        sum: u64,
        /// What the line `delays:` says.
        stated: u64,
    },
}

impl TraceErrorKind {
    /// `found` stands where `expected` should.
    pub(crate) fn unexpected(found: &str, expected: impl Into<String>) -> Self {
        let conflict = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"].iter().any(|mark| found.starts_with(mark));
        let hint = conflict.then_some("an unresolved merge conflict: keep one side of it, or delete the file");
        Self::Unexpected { found: excerpt(found), expected: expected.into(), hint }
    }

    /// Adds what to do about it.
    pub(crate) fn hint(self, text: &'static str) -> Self {
        match self {
            Self::Unexpected { found, expected, hint } => {
                Self::Unexpected { found, expected, hint: hint.or(Some(text)) }
            }
            Self::Foreign { .. }
            | Self::Newer { .. }
            | Self::NotUtf8
            | Self::OpenHeader
            | Self::Ended { .. }
            | Self::Delays { .. } => self,
        }
    }

    /// This, on that line.
    pub(crate) fn at(self, line: u32) -> TraceError {
        TraceError { line, kind: self }
    }
}

/// The beginning of a line, for a message.
pub(crate) fn excerpt(line: &str) -> String {
    match line.char_indices().nth(EXCERPT_CHARS_MAX) {
        Some((end, _)) => format!("{}..", &line[..end]),
        None => line.to_owned(),
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, kind } = self;
        write!(f, "line {line}: {kind}")
    }
}

impl fmt::Display for TraceErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign { found } if found.is_empty() => {
                write!(f, "not a delay trace: it is empty, a trace begins with `delay trace {VERSION}`")
            }
            Self::Foreign { found } => {
                write!(f, "not a delay trace: it begins with {found:?}, a trace begins with `delay trace {VERSION}`")
            }
            Self::Newer { version } => {
                write!(
                    f,
                    "written by a newer delay: version {version}; this one reads {VERSION}. Update delay, or record it again"
                )
            }
            Self::NotUtf8 => write!(f, "not a delay trace: this line is not UTF-8"),
            Self::OpenHeader => write!(f, "the snapshot's header has no second line `---`: is the file truncated?"),
            Self::Ended { expected } => {
                write!(f, "the file ends here, expected {expected}: it is truncated, restore or delete it")
            }
            Self::Unexpected { found, expected, hint: None } => write!(f, "expected {expected}, found {found:?}"),
            Self::Unexpected { found, expected, hint: Some(hint) } => {
                write!(f, "expected {expected}, found {found:?} ({hint})")
            }
            Self::Delays { sum, stated } => write!(
                f,
                "the schedule's delays add up to {sum}, the line `delays:` says {stated}: lines of the schedule were lost or added, restore or delete the file"
            ),
        }
    }
}

impl std::error::Error for TraceError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_where_what_and_what_to_do() {
        let error = TraceErrorKind::unexpected("polite", "`fail` or `pass`").hint("write it small").at(12);
        assert_eq!(error.to_string(), "line 12: expected `fail` or `pass`, found \"polite\" (write it small)");
        let error = TraceErrorKind::Newer { version: 2 }.at(1);
        assert!(error.to_string().starts_with("line 1: written by a newer delay: version 2; this one reads 1"));
    }

    #[test]
    fn a_merge_conflict_is_called_one() {
        let error = TraceErrorKind::unexpected("<<<<<<< HEAD", "`delays:`").at(12).to_string();
        assert!(error.ends_with("(an unresolved merge conflict: keep one side of it, or delete the file)"), "{error}");
    }

    #[test]
    fn excerpts_are_short_and_end_between_characters() {
        assert_eq!(excerpt(&"é".repeat(1_000)), format!("{}..", "é".repeat(EXCERPT_CHARS_MAX)));
        assert_eq!(excerpt("short"), "short");
    }
}

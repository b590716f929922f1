//! What can stop the command: bad input and a bad environment, with a text that says what, where and what to do.
//!
//! Invariant: a failing test is no error; it is an outcome and stands in `outcome.rs`.

use crate::{exit_code::Code, saved_report::ReportError, trace_header::TraceError};
use cargo_metadata::camino::Utf8PathBuf;
use delay_core::protocol::{RecordError, RequestError};
use std::{fmt, io, path::PathBuf};

/// A reason to stop.
#[derive(Debug)]
pub(crate) enum Error {
    /// The command line parses but makes no sense.
    Usage(String),
    /// `cargo metadata` failed.
    Metadata(cargo_metadata::Error),
    /// A program could not be started or talked to.
    Process { program: String, error: io::Error },
    /// cargo has said why.
    BuildFailed,
    /// A test binary cannot be read.
    Binary { path: Utf8PathBuf, error: io::Error },
    /// A test binary holds a record of another version.
    Record { path: Utf8PathBuf, error: RecordError },
    /// A test binary does not list its tests.
    List { path: Utf8PathBuf, why: String },
    /// Nothing to run.
    NoTests(String),
    /// A request cannot be written.
    Request(RequestError),
    /// A file or directory of ours cannot be used.
    File { path: PathBuf, error: io::Error },
    /// A trace cannot be read.
    Trace(TraceError),
    /// A trace fits no test, or several.
    TraceTest(String),
    /// A report cannot be read, or does not fit the others.
    Report(ReportError),
    /// A person stopped the command before it had a result.
    Interrupted,
    /// Standard output or error cannot be written.
    Output(io::Error),
}

impl Error {
    /// The exit code that stands for it.
    pub(crate) fn code(&self) -> Code {
        match self {
            Self::Usage(_) => Code::Usage,
            Self::Metadata(_) => Code::MetadataFailed,
            Self::BuildFailed => Code::BuildFailed,
            Self::Binary { path: _, error: _ }
            | Self::Record { path: _, error: _ }
            | Self::List { path: _, why: _ } => Code::ListFailed,
            Self::NoTests(_) => Code::NoTests,
            Self::Process { program: _, error: _ }
            | Self::Request(_)
            | Self::File { path: _, error: _ }
            | Self::Trace(_)
            | Self::TraceTest(_)
            | Self::Report(_) => Code::Setup,
            Self::Interrupted => Code::TestFailed,
            Self::Output(_) => Code::OutputFailed,
        }
    }

    /// What to say about it; `None` if somebody else has said it already.
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Self::BuildFailed => None,
            other => Some(other.to_string()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::NoTests(text) | Self::TraceTest(text) => f.write_str(text),
            Self::Metadata(cargo_metadata::Error::CargoMetadata { stderr }) => {
                write!(f, "cargo metadata failed\n{}", stderr.trim_end())
            }
            Self::Metadata(error) => write!(f, "cargo metadata failed: {error}"),
            Self::Process { program, error } => write!(f, "cannot run {program}: {error}"),
            Self::BuildFailed => f.write_str("the build failed"),
            Self::Binary { path, error } => write!(f, "cannot read the test binary {path}: {error}"),
            Self::Record { path, error } => write!(f, "in the test binary {path}: {error}"),
            Self::List { path, why } => write!(f, "cannot list the tests of {path}: {why}"),
            Self::Request(error) => error.fmt(f),
            Self::File { path, error } => write!(f, "cannot use {}: {error}", path.display()),
            Self::Trace(error) => error.fmt(f),
            Self::Report(error) => error.fmt(f),
            Self::Interrupted => f.write_str("stopped"),
            Self::Output(error) => write!(f, "cannot write the output: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<TraceError> for Error {
    fn from(error: TraceError) -> Self {
        Self::Trace(error)
    }
}

impl From<ReportError> for Error {
    fn from(error: ReportError) -> Self {
        Self::Report(error)
    }
}

impl From<RequestError> for Error {
    fn from(error: RequestError) -> Self {
        Self::Request(error)
    }
}

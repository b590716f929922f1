//! What cargo-delay asks of one test: explore it, or replay one trace, with the settings given on the command line; of an observer: to check
//! recordings.
//!
//! Invariants: a request is complete in one file, written before the test starts and never changed; its version is looked at
//! before anything else in it; a field this version does not know is an error, because a setting that is silently ignored is
//! a claim that is silently wrong.

use super::{Shard, VERSION};
use serde::{Deserialize, Serialize};
use std::{
    fmt, fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// The words for a mode.
pub const MODES: [&str; 4] = ["ses", "ss", "ses+ss", "random"];

/// The words for a reduction.
pub const REDUCTIONS: [&str; 2] = ["none", "dpor"];

/// Most threads that search in one test.
pub const JOBS_MAX: u32 = 1024;

/// One request, for one test in one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// [`VERSION`] of the writer.
    pub version: u32,
    /// What to do.
    pub command: Command,
    /// Settings that win over variables, attributes and defaults.
    #[serde(default)]
    pub overrides: Overrides,
}

/// What a test is asked to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Replay the pinned traces, then explore.
    Test,
    /// Replay one trace and nothing else.
    Replay {
        /// Absolute path of the trace or of the snapshot that holds it.
        trace: String,
    },
    /// Of an observer: check recordings and nothing else.
    Check {
        /// Absolute paths.
        recordings: Vec<String>,
        /// How much of a run they hold.
        extent: Extent,
    },
}

/// How much of a run recordings hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// All of it: who is hot at the end is violated.
    Whole,
    /// A part, whose end says nothing.
    Part,
}

/// The settings a command line can override. `None` leaves the test's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Overrides {
    /// A name of the registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explorer: Option<String>,
    /// `ses`, `ss`, `ses+ss` or `random`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// `none` or `dpor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction: Option<String>,
    /// The largest number of delays in one execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_delays: Option<u32>,
    /// Seed of sampling and of seeded explorers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Time to search, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_ms: Option<u64>,
    /// How many executions to sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// The most states to visit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_states: Option<u64>,
    /// How many bytes what was visited may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cache: Option<u64>,
    /// How many bits of a fingerprint are kept of it: 64 or 128.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprints: Option<u32>,
    /// The most steps of one execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u64>,
    /// Threads that search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// Which part of the search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The directory in which searches are saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// How often, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_every_ms: Option<u64>,
    /// Whether to go on from what is saved there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<bool>,
}

impl Request {
    /// A request of this version.
    pub fn new(command: Command, overrides: Overrides) -> Self {
        Self { version: VERSION, command, overrides }
    }

    /// Reads the request in the file `path`.
    pub fn load(path: &Path) -> Result<Self, RequestError> {
        let at = |kind| RequestError { path: path.to_owned(), kind };
        let text = fs::read_to_string(path).map_err(|error| at(RequestErrorKind::Read(error)))?;
        Self::from_json(&text).map_err(at)
    }

    /// Writes the request to the file `path`, which holds either all of it or what it held before.
    pub fn save(&self, path: &Path) -> Result<(), RequestError> {
        self.write(path).map_err(|error| RequestError { path: path.to_owned(), kind: RequestErrorKind::Write(error) })
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        serde_json::to_writer(&mut file, self)?;
        file.write_all(b"\n")?;
        file.persist(path)?;
        Ok(())
    }

    fn from_json(text: &str) -> Result<Self, RequestErrorKind> {
        let Versioned { version } = serde_json::from_str(text).map_err(RequestErrorKind::Json)?;
        if version != VERSION {
            return Err(RequestErrorKind::Version(version));
        }
        serde_json::from_str(text).map_err(RequestErrorKind::Json)
    }
}

/// The part of a request that every version has.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// A request that cannot be read or written.
#[derive(Debug)]
pub struct RequestError {
    path: PathBuf,
    kind: RequestErrorKind,
}

#[derive(Debug)]
enum RequestErrorKind {
    Read(io::Error),
    Write(io::Error),
    Json(serde_json::Error),
    Version(u32),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, kind } = self;
        let path = path.display();
        match kind {
            RequestErrorKind::Read(error) => write!(f, "cannot read the request {path}: {error}"),
            RequestErrorKind::Write(error) => write!(f, "cannot write the request {path}: {error}"),
            RequestErrorKind::Json(error) => write!(f, "the request {path} is not one of this version: {error}"),
            RequestErrorKind::Version(found) => write!(
                f,
                "the request {path} is of protocol version {found}, this test understands {VERSION}: use the cargo-delay \
                 and delay-test of one release"
            ),
        }
    }
}

impl std::error::Error for RequestError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            RequestErrorKind::Read(error) | RequestErrorKind::Write(error) => Some(error),
            RequestErrorKind::Json(error) => Some(error),
            RequestErrorKind::Version(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Overrides {
        Overrides {
            explorer: Some("rtc".to_owned()),
            mode: Some("ses+ss".to_owned()),
            reduction: Some("dpor".to_owned()),
            max_delays: Some(3),
            seed: Some(u64::MAX),
            budget_ms: Some(10_000),
            samples: Some(5),
            max_states: Some(6),
            max_cache: Some(1 << 20),
            fingerprints: Some(128),
            max_steps: Some(7),
            jobs: Some(8),
            shard: Shard::new(2, 4),
            checkpoint: Some("/c".to_owned()),
            checkpoint_every_ms: Some(9),
            resume: Some(true),
        }
    }

    #[test]
    fn a_saved_request_loads_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("request.json");
        let replay = Command::Replay { trace: "/a \"b\"/c.snap".to_owned() };
        let check = Command::Check { recordings: vec!["/a.jsonl".to_owned()], extent: Extent::Part };
        let requests = [(Command::Test, Overrides::default()), (replay, full()), (check, Overrides::default())];
        for request in requests.map(|(command, overrides)| Request::new(command, overrides)) {
            request.save(&path).unwrap();
            assert_eq!(Request::load(&path).unwrap(), request);
        }
        let left: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "no temporary file stays behind");
    }

    #[test]
    fn only_what_is_overridden_is_written() {
        let overrides = Overrides { seed: Some(7), ..Overrides::default() };
        let json = serde_json::to_string(&Request::new(Command::Test, overrides)).unwrap();
        assert_eq!(json, r#"{"version":5,"command":"test","overrides":{"seed":7}}"#);
    }

    #[test]
    fn another_version_is_named_before_anything_else_is_looked_at() {
        let error = Request::from_json(r#"{"version":6,"verb":"dance"}"#).unwrap_err();
        let text = RequestError { path: "r.json".into(), kind: error }.to_string();
        assert!(text.starts_with("the request r.json is of protocol version 6, this test understands 5"), "{text}");
    }

    #[test]
    fn errors_name_the_file_and_what_is_wrong() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("request.json");
        assert!(Request::load(&path).unwrap_err().to_string().starts_with("cannot read the request "));
        fs::write(&path, r#"{"version":5,"command":"test","overrides":{"max_delay":3}}"#).unwrap();
        let text = Request::load(&path).unwrap_err().to_string();
        assert!(text.contains("unknown field `max_delay`"), "{text}");
        assert!(text.contains("request.json"), "{text}");
    }
}

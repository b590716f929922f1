//! The report of a run as a file: what a shard hands to `cargo delay merge`.
//!
//! Invariants: a file holds all of a report or what it held before; a report names every test that was meant to run, run or not;
//! the version is looked at before anything else.

use crate::{
    discover::Test,
    error::Error,
    outcome::{Status, TestRun},
};
use delay_core::protocol::{Finding, Finished, Shard, TestRecord};
use serde::{Deserialize, Serialize};
use std::{
    fmt, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// The version of the file. A change of any field, here, of [`Status`] or in what the protocol says of a test, is a new one.
const VERSION: u32 = 4;

/// How a run went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedReport {
    /// [`VERSION`] of the writer.
    report_version: u32,
    /// The release that wrote it: what a search does may differ in another.
    pub(crate) release: String,
    /// Which part of the run it is; none if nobody divided the run.
    pub(crate) shard: Option<Shard>,
    /// All that were meant to run, in their order.
    pub(crate) tests: Vec<SavedTest>,
}

/// How a test went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedTest {
    /// As cargo nextest names the binary.
    pub(crate) binary: String,
    /// The package's name.
    pub(crate) package: String,
    /// libtest's name.
    pub(crate) name: String,
    /// What became of it; none if it was not run.
    pub(crate) end: Option<Status>,
    /// What it found, what it warned of.
    pub(crate) findings: Vec<Finding>,
    pub(crate) warnings: Vec<String>,
    /// Its last word, if it had one.
    pub(crate) finished: Option<Finished>,
    /// From the start of its process to its end.
    pub(crate) elapsed_ms: u64,
}

impl SavedReport {
    /// Of a run in which nothing has run yet.
    pub(crate) fn of(shard: Option<Shard>, tests: &[Test]) -> Self {
        let one = |Test { binary, record, ignored: _ }: &Test| {
            let TestRecord { package, path, .. } = record;
            SavedTest {
                binary: binary.id.clone(),
                package: package.clone(),
                name: path.clone(),
                end: None,
                findings: Vec::new(),
                warnings: Vec::new(),
                finished: None,
                elapsed_ms: 0,
            }
        };
        Self {
            report_version: VERSION,
            release: env!("CARGO_PKG_VERSION").to_owned(),
            shard,
            tests: tests.iter().map(one).collect(),
        }
    }

    /// Which part of the run it is; all of it if nobody divided it.
    pub(crate) fn part(&self) -> Shard {
        self.shard.unwrap_or(Shard::WHOLE)
    }

    /// Reads a report.
    pub(crate) fn load(path: &Path) -> Result<Self, ReportError> {
        let at = |why: String| ReportError(format!("cannot use the report {}: {why}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
        let no_report = |error: serde_json::Error| at(format!("it is none of `cargo delay test --report`: {error}"));
        let Versioned { report_version } = serde_json::from_str(&text).map_err(no_report)?;
        if report_version != VERSION {
            let advice = "use the cargo-delay that wrote it";
            return Err(at(format!("it is of version {report_version}, this cargo-delay reads {VERSION}: {advice}")));
        }
        serde_json::from_str(&text).map_err(no_report)
    }
}

impl SavedTest {
    /// The name for people.
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.binary, self.name)
    }

    /// The test has ended.
    pub(crate) fn end(&mut self, run: &TestRun) {
        self.end = Some(run.status());
        self.findings.clone_from(&run.story.findings);
        self.warnings.clone_from(&run.story.warnings);
        self.finished.clone_from(&run.story.finished);
        self.elapsed_ms = u64::try_from(run.elapsed.as_millis()).unwrap_or(u64::MAX);
    }
}

/// The part of a report that every version has.
#[derive(Deserialize)]
struct Versioned {
    report_version: u32,
}

/// A report that is being made: the place for it is there.
#[derive(Debug)]
pub(crate) struct Saving {
    file: tempfile::NamedTempFile,
    path: PathBuf,
}

impl Saving {
    /// Makes sure that a report can be written to `path`.
    pub(crate) fn begin(path: &Path) -> Result<Self, Error> {
        let unusable = |error| Error::File { path: path.to_owned(), error };
        if path.is_dir() {
            return Err(unusable(io::Error::other("it is a directory, a report is a file")));
        }
        let file = delay_core::trace::pin::beside(path).map_err(unusable)?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Writes the report.
    pub(crate) fn finish(mut self, report: &SavedReport) -> Result<(), Error> {
        let mut text = serde_json::to_string_pretty(report).expect("a report holds nothing that JSON cannot");
        text.push('\n');
        let written = self.file.write_all(text.as_bytes());
        let written = written.and_then(|()| self.file.as_file().sync_all());
        let persisted = written.and_then(|()| Ok(self.file.persist(&self.path).map(drop)?));
        persisted.map_err(|error| Error::File { path: self.path, error })
    }
}

/// A report that cannot be read, or does not fit the others.
#[derive(Debug)]
pub(crate) struct ReportError(pub(crate) String);

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ReportError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        discover::tests::test,
        outcome::{
            End,
            tests::{finding, finished, run},
        },
    };
    use delay_core::protocol::Verdict;

    #[test]
    fn a_saved_report_loads_as_it_was_and_replaces_the_old_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new/report.json");
        let mut report =
            SavedReport::of(Some(Shard::new(2, 3).unwrap()), &[test("ex", "a", false), test("ex", "b", false)]);
        report.tests[1].end(&run(vec![finding("lost", "3 events"), finished(Verdict::Failed)], End::Success));
        for _ in 0..2 {
            Saving::begin(&path).unwrap().finish(&report).unwrap();
            assert_eq!(SavedReport::load(&path).unwrap(), report);
        }
        assert_eq!((&report.tests[0].end, &report.tests[1].end), (&None, &Some(Status::ExpectedFailure)));
        assert_eq!(fs::read_dir(directory.path().join("new")).unwrap().count(), 1, "no temporary file stays behind");
        assert!(Saving::begin(directory.path()).unwrap_err().to_string().contains("it is a directory"));
    }

    #[test]
    fn what_is_no_report_is_refused_with_its_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.json");
        let refused = |text: &str| {
            fs::write(&path, text).unwrap();
            SavedReport::load(&path).unwrap_err().to_string()
        };
        let report = serde_json::to_string(&SavedReport::of(Some(Shard::WHOLE), &[test("ex", "a", false)])).unwrap();
        assert!(refused("").contains("report.json: it is none of `cargo delay test --report`"));
        assert!(refused(&report[..report.len() - 9]).contains("it is none of"), "cut short");
        assert!(
            refused(&report.replace("report_version\":4", "report_version\":1"))
                .contains("it is of version 1, this cargo-delay reads 4")
        );
        assert!(refused(&report.replace("1/1", "3/2")).contains("\"3/2\" is no shard"));
        fs::remove_file(&path).unwrap();
        assert!(SavedReport::load(&path).unwrap_err().to_string().contains("cannot use the report"));
    }
}

//! Finds the delay tests of built binaries by their records, and asks libtest which of them it knows.
//!
//! Invariants: no test runs; a binary without records is not even started; a record whose test libtest does not list (a
//! stale or foreign one) never becomes a test; a record of another version is an error, not a missing test.

use crate::{build::TestBinary, error::Error};
use delay_core::protocol::{
    RecordError, TestRecord, parse_section,
    record::{SECTION_ELF, SECTION_MACH_O, SECTION_PE},
};
use object::{Object as _, ObjectSection as _};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Stdio,
    sync::Arc,
};

/// A delay test that can be run.
#[derive(Debug, Clone)]
pub(crate) struct Test {
    /// Where it is.
    pub(crate) binary: Arc<TestBinary>,
    /// What its record says.
    pub(crate) record: TestRecord,
    /// Whether libtest ignores it unless asked.
    pub(crate) ignored: bool,
}

impl Test {
    /// The name for people, unique in a workspace: binary and test.
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.binary.id, self.record.path)
    }
}

/// The delay tests of `binaries`, in the order of the binaries and, in each, of the source.
pub(crate) fn discover(binaries: Vec<TestBinary>) -> Result<Vec<Test>, Error> {
    let mut tests = Vec::new();
    for binary in binaries {
        let records = records(&binary)?;
        if !records.is_empty() {
            tests.extend(known_to_libtest(binary, records)?);
        }
    }
    Ok(tests)
}

/// The records in the binary, each test once.
fn records(binary: &TestBinary) -> Result<Vec<TestRecord>, Error> {
    let path = || binary.path.clone();
    let bytes = fs::read(&binary.path).map_err(|error| Error::Binary { path: path(), error })?;
    let records = read_records(&bytes).map_err(|error| Error::Record { path: path(), error })?;
    // A generic test function may be instantiated several times, its record with it.
    let by_place: BTreeMap<_, _> =
        records.into_iter().map(|record| ((record.file.clone(), record.line, record.path.clone()), record)).collect();
    Ok(by_place.into_values().collect())
}

/// The records of an executable: from its section or, if the linker renamed or merged that, from wherever the magic is.
fn read_records(executable: &[u8]) -> Result<Vec<TestRecord>, RecordError> {
    let section = object::File::parse(executable).ok().and_then(|file| {
        let mut named = file.sections().filter(|section| {
            section.name().is_ok_and(|name| [SECTION_ELF, SECTION_MACH_O, SECTION_PE].contains(&name))
        });
        named.next().and_then(|section| section.data().ok())
    });
    match section {
        Some(section) => parse_section(section).into_iter().collect(),
        // The magic may stand in code that reads records; only a section is known to hold nothing else.
        None => Ok(parse_section(executable).into_iter().filter_map(Result::ok).collect()),
    }
}

/// Those of `records` that the binary lists.
fn known_to_libtest(binary: TestBinary, records: Vec<TestRecord>) -> Result<Vec<Test>, Error> {
    let all = list(&binary, &[])?;
    let ignored = list(&binary, &["--ignored"])?;
    let binary = Arc::new(binary);
    let known = records.into_iter().filter(|record| record.package == binary.package && all.contains(&record.path));
    let tests =
        known.map(|record| Test { ignored: ignored.contains(&record.path), binary: Arc::clone(&binary), record });
    Ok(tests.collect())
}

/// The names libtest lists.
fn list(binary: &TestBinary, options: &[&str]) -> Result<BTreeSet<String>, Error> {
    let failed = |why: String| Error::List { path: binary.path.clone(), why };
    let mut command = binary.command();
    command.args(["--list", "--format", "terse"]).args(options).stdin(Stdio::null());
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(failed(format!("{}\n{}", output.status, text.trim_end())));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::build::tests::binary;

    /// A test that is never run.
    pub(crate) fn test(id: &str, path: &str, ignored: bool) -> Test {
        let binary = binary(id);
        let record = TestRecord {
            package: binary.package.clone(),
            krate: id.rsplit([':', '/']).next().unwrap_or_default().to_owned(),
            path: path.to_owned(),
            file: format!("tests/{}.rs", id.rsplit("::").next().unwrap_or_default()),
            line: 7,
            config: "explorer=rtc;mode=ses".to_owned(),
            kind: delay_core::protocol::Kind::Test,
        };
        Test { binary: Arc::new(binary), record, ignored }
    }

    /// A record of this very binary: what the attribute leaves, in the section it is left in.
    #[test]
    #[cfg(target_os = "linux")]
    fn records_are_found_in_a_real_executable() {
        const TEXT: &str = "cargo-delay\x1fcargo_delay::discover::tests::nothing\x1fsrc/discover.rs\x1f1\x1f\x1ftest";
        #[used]
        #[expect(unsafe_code, reason = "a link section of plain data, as the attribute writes it")]
        #[unsafe(link_section = "delay_tests")]
        static RECORD: delay_core::protocol::Record<{ TEXT.len() }> = delay_core::protocol::Record::new(TEXT);
        std::hint::black_box(&RECORD);

        let executable = fs::read(std::env::current_exe().unwrap()).unwrap();
        let records = read_records(&executable).unwrap();
        assert_eq!(records, [TestRecord::from_text(TEXT).unwrap()]);
        let mut nameless = executable;
        for at in 0..nameless.len() - SECTION_ELF.len() {
            if nameless[at..].starts_with(SECTION_ELF.as_bytes()) && nameless[at + SECTION_ELF.len()] == 0 {
                nameless[at] = b'x';
            }
        }
        let without_section = read_records(&nameless).unwrap();
        assert!(without_section.contains(&records[0]), "{without_section:?}");
    }
}

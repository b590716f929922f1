//! Pins: the saved traces of a test, which are replayed before it explores.
//!
//! A pin is an insta snapshot in `<package>/delay-snapshots/`; insta writes it and people accept it. Here pins are named,
//! found and read, and plain copies of traces are saved.
//!
//! Invariants:
//! - One file a pin, named after its test and a digest of its decisions: two people's pins never clash in a merge, and
//!   the same execution found twice is the same pin.
//! - One damaged pin does not hide the others, and is never skipped silently.
//! - A saved file holds all of its text or what it held before.

use super::{
    TestName, Trace,
    error::TraceError,
    text::{parse_bytes, print_decisions},
};
use crate::hash::{Domain, Print};
use std::{
    cmp::Reverse,
    fmt, fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

const DIRECTORY: &str = "delay-snapshots";
const ACCEPTED: &str = ".snap";
const PENDING: &str = ".snap.new";

/// File systems allow 255 bytes a name; the rest is for the digests and the extension.
const TEST_BYTES_MAX: usize = 200;

/// A larger file is no trace: it must not cost memory. A line an event, that is a million events.
const FILE_BYTES_MAX: u64 = 1 << 28;

/// A saved trace of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pin {
    /// What insta calls the snapshot: the file's name without its extension.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// What it holds.
    pub trace: Trace,
}

/// The pins of one test.
#[derive(Debug, Default)]
pub struct Pins {
    /// Those that can be read, newest first.
    pub pins: Vec<Pin>,
    /// Those that cannot, in order of their paths.
    pub errors: Vec<PinError>,
}

/// A file of a trace that cannot be read or written.
#[derive(Debug)]
pub struct PinError {
    /// The file or directory.
    pub path: PathBuf,
    /// What is wrong.
    pub kind: PinErrorKind,
}

/// What is wrong with a file of a trace.
#[derive(Debug)]
pub enum PinErrorKind {
    /// It cannot be read.
    Read(io::Error),
    /// It cannot be written.
    Write(io::Error),
    /// It is larger than any trace.
    TooLarge,
    /// It holds no trace, or a damaged one.
    Trace(TraceError),
    /// It is named after one test and holds a trace of another.
    OtherTest {
        /// The test it is named after.
        named: String,
        /// The test of its trace.
        found: String,
    },
}

/// Where the pins of a package's tests lie.
pub fn directory(manifest_dir: &Path) -> PathBuf {
    manifest_dir.join(DIRECTORY)
}

/// The name of the trace's pin: its test, and a digest of its decisions.
pub fn name(trace: &Trace) -> String {
    format!("{}@{}", file_stem(&trace.test), digest(&print_decisions(trace)))
}

/// The accepted pins of a test. A package without pins has no errors either.
pub fn pins(manifest_dir: &Path, test: &TestName) -> Pins {
    find(manifest_dir, test, ACCEPTED)
}

/// The pins of a test that nobody has accepted yet.
pub fn pending(manifest_dir: &Path, test: &TestName) -> Pins {
    find(manifest_dir, test, PENDING)
}

/// Reads the trace in a file: a pin, pending or accepted, or a plain copy.
pub fn load(path: &Path) -> Result<Trace, PinError> {
    let at = |kind| PinError { path: path.to_owned(), kind };
    let bytes = read(path).map_err(|error| at(PinErrorKind::Read(error)))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(at(PinErrorKind::TooLarge));
    }
    parse_bytes(&bytes).map_err(|error| at(PinErrorKind::Trace(error)))
}

/// Writes a file, all or nothing; makes the directories it lies in.
pub fn save(path: &Path, text: &str) -> Result<(), PinError> {
    write(path, text).map_err(|error| PinError { path: path.to_owned(), kind: PinErrorKind::Write(error) })
}

/// A file beside the one that it is to replace once it is whole; makes the directories that it lies in.
///
/// # Errors
/// No file can be made there.
pub fn beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let mut builder = tempfile::Builder::new();
    // A temporary file is its owner's alone by default; what is saved is a file like any other, subject to the umask.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory)
}

/// At most one byte more than a trace may have.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = beside(path)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

fn find(manifest_dir: &Path, test: &TestName, extension: &str) -> Pins {
    let mut found = Pins::default();
    let directory = directory(manifest_dir);
    let files = match files(&directory, test, extension) {
        Ok(files) => files,
        Err(error) => {
            found.errors.push(PinError { path: directory, kind: PinErrorKind::Read(error) });
            return found;
        }
    };
    let mut dated: Vec<(SystemTime, Pin)> = Vec::new();
    for (name, path) in files {
        match load(&path) {
            // Somebody accepted or deleted it just now.
            Err(PinError { kind: PinErrorKind::Read(error), .. }) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => found.errors.push(error),
            Ok(trace) if is_same(&trace.test, test) => {
                let modified = fs::metadata(&path).and_then(|metadata| metadata.modified());
                dated.push((modified.unwrap_or(SystemTime::UNIX_EPOCH), Pin { name, path, trace }));
            }
            // Another test whose name looks the same in a file's name: the pin is that test's.
            Ok(trace) if file_stem(&trace.test) == file_stem(test) => {}
            Ok(trace) => {
                let kind = PinErrorKind::OtherTest { named: test.to_string(), found: trace.test.to_string() };
                found.errors.push(PinError { path, kind });
            }
        }
    }
    // Stable, and by name before: files of one checkout have one date.
    dated.sort_by_key(|(modified, _)| Reverse(*modified));
    found.pins = dated.into_iter().map(|(_, pin)| pin).collect();
    found
}

/// Names and paths of the files named after `test`, by name.
fn files(directory: &Path, test: &TestName, extension: &str) -> io::Result<Vec<(String, PathBuf)>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let stem = file_stem(test);
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let file = path.file_name().and_then(|file| file.to_str());
        let name = file.and_then(|file| file.strip_suffix(extension));
        if let Some(name) = name.filter(|name| name.split_once('@').is_some_and(|(before, _)| before == stem)) {
            files.push((name.to_owned(), path));
        }
    }
    files.sort();
    Ok(files)
}

/// Whether the names mean one test of the package in whose directory a pin lies; a package may be renamed.
fn is_same(a: &TestName, b: &TestName) -> bool {
    (&a.krate, &a.path) == (&b.krate, &b.path)
}

/// The test in a form that every file system takes as the start of a file's name; unique in its package but for unusual
/// names.
pub(crate) fn file_stem(test: &TestName) -> String {
    let whole = test.to_string();
    let name = whole.replace("::", "__");
    let keep = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut stem: String = name.chars().map(|c| if keep(c) { c } else { '-' }).collect();
    if stem.len() > TEST_BYTES_MAX {
        stem.truncate(stem.floor_char_boundary(TEST_BYTES_MAX));
        stem = format!("{stem}-{}", digest(&whole));
    }
    stem
}

/// Eight hexadecimal digits that tell texts apart.
fn digest(text: &str) -> String {
    format!("{:08x}", Print::of_text(Domain::Content, text).short() >> 32)
}

impl fmt::Display for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, kind } = self;
        let path = path.display();
        match kind {
            PinErrorKind::Read(error) => write!(f, "cannot read {path}: {error}"),
            PinErrorKind::Write(error) => write!(f, "cannot write {path}: {error}"),
            PinErrorKind::TooLarge => write!(f, "{path}: not a delay trace: larger than {FILE_BYTES_MAX} bytes"),
            PinErrorKind::Trace(TraceError { line, kind }) => write!(f, "{path}:{line}: {kind}"),
            PinErrorKind::OtherTest { named, found } => write!(
                f,
                "{path}: it is named after the test `{named}` and holds a trace of `{found}`: correct its line `test:` or delete it"
            ),
        }
    }
}

impl std::error::Error for PinError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            PinErrorKind::Read(error) | PinErrorKind::Write(error) => Some(error),
            PinErrorKind::Trace(error) => Some(error),
            PinErrorKind::TooLarge | PinErrorKind::OtherTest { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Verdict, samples::lost_vote, text::print};
    use std::time::Duration;

    const HEADER: &str = "---\nsource: tests/two_phase.rs\n---\n";

    /// Saves a pin that was written `age` seconds ago.
    fn pin(manifest_dir: &Path, file: &str, text: &str, age: u64) -> PathBuf {
        let path = directory(manifest_dir).join(file);
        save(&path, text).unwrap();
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - age);
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        path
    }

    fn names(found: &Pins) -> Vec<&str> {
        assert!(found.errors.is_empty(), "{:?}", found.errors);
        found.pins.iter().map(|pin| pin.name.as_str()).collect()
    }

    #[test]
    fn a_name_is_the_test_and_a_digest_of_the_decisions() {
        let trace = lost_vote();
        assert_eq!(name(&trace), "protocols__two_phase__counts_votes@fe7709f6");
        let mut same = trace.clone();
        (same.verdict, same.violation, same.events, same.steps) = (Verdict::Pass, Vec::new(), Vec::new(), 3);
        assert_eq!(name(&same), name(&trace), "a fixed bug stays the same pin");
        let mut other = trace.clone();
        other.schedule[1].step += 1;
        assert_ne!(name(&other), name(&trace));
        let mut other = trace.clone();
        other.explorer = "rr".to_owned();
        assert_ne!(name(&other), name(&trace));
    }

    #[test]
    fn any_test_has_a_name_that_file_systems_take() {
        let named = |path: String| {
            let mut trace = lost_vote();
            trace.test.path = path;
            name(&trace)
        };
        assert!(named("a::r#match::case_1".to_owned()).starts_with("protocols__a__r-match__case_1@"));
        assert!(named("a/b\\c:<>\"|?*@\n".to_owned()).starts_with("protocols__a-b-c---------@"));
        let long = |last: &str| named("ä::".repeat(500) + last);
        assert!(long("x").len() < 230);
        assert_ne!(long("x"), long("y"));
    }

    #[test]
    fn pins_come_newest_first_and_only_those_of_the_test() {
        let package = tempfile::tempdir().unwrap();
        let trace = lost_vote();
        assert!(names(&pins(package.path(), &trace.test)).is_empty(), "no directory, no pins");
        let text = format!("{HEADER}{}", print(&trace));
        for (file, age) in [
            ("protocols__two_phase__counts_votes@00000001.snap", 30),
            ("protocols__two_phase__counts_votes@00000003.snap", 20),
            ("protocols__two_phase__counts_votes@00000002.snap", 20),
            ("protocols__two_phase__counts_votes@00000004.snap", 10),
            ("protocols__two_phase__counts_votes@00000005.snap.new", 10),
            ("protocols__two_phase__counts_votes_twice@00000001.snap", 10),
            ("protocols__two_phase__counts_votes.snap", 10),
            ("README.md", 10),
        ] {
            pin(package.path(), file, &text, age);
        }
        let found = pins(package.path(), &trace.test);
        let expected = ["4", "2", "3", "1"].map(|digit| format!("protocols__two_phase__counts_votes@0000000{digit}"));
        assert_eq!(names(&found), expected);
        assert_eq!(found.pins[0].trace, trace);
        assert_eq!(names(&pending(package.path(), &trace.test)), ["protocols__two_phase__counts_votes@00000005"]);
    }

    #[test]
    fn a_damaged_pin_is_named_with_its_line_and_hides_no_other() {
        let package = tempfile::tempdir().unwrap();
        let trace = lost_vote();
        let text = format!("{HEADER}{}", print(&trace));
        let stem = "protocols__two_phase__counts_votes";
        pin(package.path(), &format!("{stem}@1.snap"), &text, 0);
        let damaged = text.replace("seed: 0", "seed: zero");
        let damaged = pin(package.path(), &format!("{stem}@2.snap"), &damaged, 0);
        let renamed = text.replace("two_phase::counts_votes", "two_phase::counts");
        let renamed = pin(package.path(), &format!("{stem}@3.snap"), &renamed, 0);
        // The test `two_phase::counts_votes` does not own this one, though their files begin alike.
        let alike = text.replace("two_phase::counts_votes", "two_phase__counts_votes");
        pin(package.path(), &format!("{stem}@4.snap"), &alike, 0);
        fs::create_dir(directory(package.path()).join(format!("{stem}@5.snap"))).unwrap();

        let Pins { pins, errors } = pins(package.path(), &trace.test);
        assert_eq!(pins.iter().map(|pin| &pin.name).collect::<Vec<_>>(), [&format!("{stem}@1")]);
        let errors: Vec<String> = errors.iter().map(PinError::to_string).collect();
        assert_eq!(errors.len(), 3, "{errors:?}");
        let expected = format!("{}:7: expected a number up to {}, found \"zero\"", damaged.display(), u64::MAX);
        assert_eq!(errors[0], expected);
        assert!(errors[1].starts_with(&format!("{}: it is named after the test", renamed.display())), "{}", errors[1]);
        assert!(errors[2].contains("@5.snap"), "{}", errors[2]);
    }

    #[test]
    fn a_saved_file_is_whole_and_alone() {
        let package = tempfile::tempdir().unwrap();
        let path = package.path().join("target/delay/two_phase.trace");
        for text in ["longer text\n", "text\n"] {
            save(&path, text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file stays behind");
        let error = save(&path.join("below/a/file"), "x").unwrap_err().to_string();
        assert!(error.starts_with("cannot write ") && error.contains("below"), "{error}");
        assert!(load(&package.path().join("missing")).unwrap_err().to_string().starts_with("cannot read "));
    }
}

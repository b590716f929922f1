//! The record that `#[delay_test]` and `#[observer]` leave in a link section, so that tests are found without running anything.
//!
//! Invariants: a record is `magic | version | length | bytes` in little endian, aligned to 8, and nothing in it is a pointer,
//! so the same reader serves every object format, target and linker. A reader may meet padding between records and foreign
//! bytes around them; it never trusts a length it has not checked. The text is `package \x1f path \x1f file \x1f line \x1f
//! config \x1f kind`: not JSON, because `concat!` cannot escape the backslashes of `file!()` on Windows.

use std::{fmt, str};

/// Starts every record. The first two bytes are no UTF-8 together, so that no text looks like it.
pub const MAGIC: [u8; 8] = *b"\xdd\x01dlytst";

/// The version of the record's layout and text.
pub const VERSION: u32 = 2;

/// Separates the fields of a record's text.
pub const SEPARATOR: char = '\x1f';

/// The section of ELF files (Linux, Android, the BSDs).
pub const SECTION_ELF: &str = "delay_tests";

/// The section of Mach-O files, in the segment `__DATA`; 16 bytes at most.
pub const SECTION_MACH_O: &str = "__delay_tests";

/// The section of PE files; 8 bytes at most.
pub const SECTION_PE: &str = ".dlytst";

/// Longer texts are taken for garbage: a path and a line do not need more, and a corrupt length must not cost memory.
const TEXT_BYTES_MAX: usize = 1 << 16;

const HEADER_BYTES: usize = MAGIC.len() + 4 + 4;

/// One test's record as it lies in the binary. `N` is the length of its text.
#[repr(C, align(8))]
#[derive(Debug)]
pub struct Record<const N: usize> {
    magic: [u8; 8],
    version: u32,
    length: u32,
    bytes: [u8; N],
}

impl<const N: usize> Record<N> {
    /// The record of `text`, whose length must be `N`.
    ///
    /// # Panics
    /// At compile time, when used in a `static`, if `N` is not the length of `text`.
    pub const fn new(text: &str) -> Self {
        assert!(text.len() == N, "a record's size is the length of its text");
        assert!(N <= TEXT_BYTES_MAX, "a record's text is too long");
        let mut bytes = [0; N];
        bytes.copy_from_slice(text.as_bytes());
        Self { magic: MAGIC, version: VERSION.to_le(), length: (N as u32).to_le(), bytes }
    }
}

/// What a record says about its test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestRecord {
    /// `CARGO_PKG_NAME` of the package that holds the test.
    pub package: String,
    /// The crate of the test: the package's library, or one of its test binaries.
    pub krate: String,
    /// The name libtest knows the test by: the module path without the crate, and the function.
    pub path: String,
    /// `file!()`: relative to where rustc ran, the workspace root as a rule.
    pub file: String,
    /// The line of the attribute.
    pub line: u32,
    /// The attribute's settings, `key=value` separated by `;`, for people.
    pub config: String,
    /// Which attribute.
    pub kind: Kind,
}

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A `#[delay_test]`.
    Test,
    /// An `#[observer]`.
    Observer,
}

impl Kind {
    /// As it stands in a record.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Observer => "observer",
        }
    }
}

impl TestRecord {
    /// Reads the text that the macro wrote.
    pub fn from_text(text: &str) -> Result<Self, RecordError> {
        let fields: Vec<&str> = text.split(SEPARATOR).collect();
        let &[package, module_path, file, line, config, kind] = fields.as_slice() else {
            return Err(RecordError::Fields { found: fields.len() });
        };
        let Some((krate, path)) = module_path.split_once("::") else {
            return Err(RecordError::Path(module_path.to_owned()));
        };
        let line = line.parse().map_err(|_| RecordError::Line(line.to_owned()))?;
        let kinds = [Kind::Test, Kind::Observer];
        let known = kinds.into_iter().find(|known| known.word() == kind);
        let kind = known.ok_or_else(|| RecordError::Kind(kind.to_owned()))?;
        Ok(Self {
            package: package.to_owned(),
            krate: krate.to_owned(),
            path: path.to_owned(),
            file: file.to_owned(),
            line,
            config: config.to_owned(),
            kind,
        })
    }
}

/// All records in `section`, in the order they lie there. Padding and foreign bytes are skipped; bytes that start like a
/// record and are none are reported, not dropped, because they mean a test that would silently not run.
pub fn parse_section(section: &[u8]) -> Vec<Result<TestRecord, RecordError>> {
    let mut records = Vec::new();
    let mut rest = section;
    while let Some(start) = find(rest, MAGIC) {
        rest = &rest[start..];
        let (record, taken) = read_record(rest);
        records.push(record);
        rest = &rest[taken..];
    }
    records
}

/// Reads the record at the start of `bytes`, which begins with the magic; also says how many bytes to skip.
fn read_record(bytes: &[u8]) -> (Result<TestRecord, RecordError>, usize) {
    let word = |at: usize| bytes.get(at..at + 4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let (Some(version), Some(length)) = (word(MAGIC.len()), word(MAGIC.len() + 4)) else {
        return (Err(RecordError::Truncated), MAGIC.len());
    };
    if version != VERSION {
        return (Err(RecordError::Version(version)), MAGIC.len());
    }
    let length = length as usize;
    let text = if length <= TEXT_BYTES_MAX { bytes.get(HEADER_BYTES..HEADER_BYTES + length) } else { None };
    let Some(text) = text else {
        return (Err(RecordError::Truncated), MAGIC.len());
    };
    match str::from_utf8(text) {
        Ok(text) => (TestRecord::from_text(text), HEADER_BYTES + length),
        Err(_) => (Err(RecordError::Text), MAGIC.len()),
    }
}

/// Where `needle` starts in `haystack`. Compares the whole needle only where its first byte, rare in code, is met.
fn find(haystack: &[u8], needle: [u8; 8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = haystack[from..].iter().position(|&byte| byte == needle[0]) {
        if haystack[from + at..].starts_with(&needle) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// Why bytes that start like a record are none that this version can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordError {
    /// Written by a `delay-test` of another record version.
    Version(u32),
    /// The section ends inside the record, or its length is beyond every limit.
    Truncated,
    /// The text is not UTF-8.
    Text,
    /// The text has another number of fields than six.
    Fields {
        /// How many there are.
        found: usize,
    },
    /// The path has no crate name in front.
    Path(String),
    /// The line is no number.
    Line(String),
    /// Neither a test nor an observer.
    Kind(String),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(found) => {
                write!(
                    f,
                    "test record of version {found}, expected {VERSION}: use the cargo-delay and delay-test of one release"
                )
            }
            Self::Truncated => write!(f, "test record cut short"),
            Self::Text => write!(f, "test record is not UTF-8"),
            Self::Fields { found } => write!(f, "test record has {found} fields, expected 6"),
            Self::Path(path) => write!(f, "test record names `{path}`, expected `crate::path`"),
            Self::Line(line) => write!(f, "test record has the line `{line}`, expected a number"),
            Self::Kind(kind) => write!(f, "test record is of a `{kind}`, expected `test` or `observer`"),
        }
    }
}

impl std::error::Error for RecordError {}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "examples\x1ftwo_phase::tests::votes\x1fexamples\\tests\\two_phase.rs\x1f17\x1fexplorer=rtc\x1ftest";

    fn bytes_of(text: &str) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes
    }

    fn votes() -> TestRecord {
        TestRecord {
            package: "examples".to_owned(),
            krate: "two_phase".to_owned(),
            path: "tests::votes".to_owned(),
            file: "examples\\tests\\two_phase.rs".to_owned(),
            line: 17,
            config: "explorer=rtc".to_owned(),
            kind: Kind::Test,
        }
    }

    #[test]
    fn a_static_record_has_the_layout_the_reader_expects() {
        static RECORD: Record<{ TEXT.len() }> = Record::new(TEXT);
        let Record { magic, version, length, bytes } = &RECORD;
        let mut raw = magic.to_vec();
        raw.extend(version.to_ne_bytes());
        raw.extend(length.to_ne_bytes());
        raw.extend(bytes);
        assert_eq!(raw, bytes_of(TEXT));
        assert_eq!(std::mem::offset_of!(Record<{ TEXT.len() }>, bytes), HEADER_BYTES);
        assert_eq!(parse_section(&raw), [Ok(votes())]);
    }

    #[test]
    fn padding_and_foreign_bytes_around_records_are_skipped() {
        let mut section = vec![0; 5];
        section.extend(bytes_of(TEXT));
        section.extend([0xdd, 0xdd, 0x01, b'd', 0, 0, 0]);
        section.extend(bytes_of(TEXT));
        section.extend([0; 64]);
        assert_eq!(parse_section(&section), [Ok(votes()), Ok(votes())]);
        assert_eq!(parse_section(&[]), []);
        assert_eq!(parse_section(&MAGIC[..7]), []);
    }

    #[test]
    fn broken_records_are_reported_and_the_next_one_is_still_read() {
        let mut foreign = bytes_of(TEXT);
        foreign[8] = 9;
        foreign.extend(bytes_of(TEXT));
        assert_eq!(parse_section(&foreign), [Err(RecordError::Version(9)), Ok(votes())]);

        let mut long = bytes_of(TEXT);
        long[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
        long.extend(bytes_of(TEXT));
        assert_eq!(parse_section(&long), [Err(RecordError::Truncated), Ok(votes())]);

        let whole = bytes_of(TEXT);
        assert_eq!(parse_section(&whole[..whole.len() - 1]), [Err(RecordError::Truncated)]);
        assert_eq!(parse_section(&whole[..10]), [Err(RecordError::Truncated)]);
        assert_eq!(parse_section(&bytes_of("a\x1fb::c")), [Err(RecordError::Fields { found: 2 })]);
    }

    #[test]
    fn the_text_is_checked_field_by_field() {
        let error = |text: &str| TestRecord::from_text(text).unwrap_err();
        assert_eq!(error("p\x1fno_crate\x1ff\x1f1\x1f\x1ftest"), RecordError::Path("no_crate".to_owned()));
        assert_eq!(error("p\x1fc::t\x1ff\x1fone\x1f\x1ftest"), RecordError::Line("one".to_owned()));
        assert_eq!(error("p\x1fc::t\x1ff\x1f1\x1f\x1fbench"), RecordError::Kind("bench".to_owned()));
        let observer = TestRecord::from_text("p\x1fc::t\x1ff\x1f1\x1f\x1fobserver").unwrap();
        assert_eq!((observer.path.as_str(), observer.kind), ("t", Kind::Observer));
    }
}

//! The first lines of a saved trace: which test it belongs to. The rest is the test's own business.
//!
//! A trace is a plain file or an insta snapshot, whose text stands below a header between two lines `---`. The text begins
//! with `delay trace 1`, and a line `test: PACKAGE CRATE NAME` follows. Line numbers in errors are those of the file.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

/// The version of the trace's text that this command can hand on.
const VERSION: u32 = 1;

/// Which test a trace belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TraceHeader {
    /// The test's package.
    pub(crate) package: String,
    /// The test's crate.
    pub(crate) krate: String,
    /// libtest's name of the test.
    pub(crate) test: String,
    /// The source file in a snapshot's header; tells tests of the same name apart.
    pub(crate) source: Option<String>,
}

impl TraceHeader {
    /// Reads the header of the trace in the file `path`.
    pub(crate) fn load(path: &Path) -> Result<Self, TraceError> {
        let at = |kind| TraceError { path: path.to_owned(), kind };
        let bytes = fs::read(path).map_err(|error| at(TraceErrorKind::Read(error)))?;
        let text = String::from_utf8(bytes).map_err(|_| at(TraceErrorKind::Text))?;
        Self::parse(&text).map_err(at)
    }

    fn parse(text: &str) -> Result<Self, TraceErrorKind> {
        let mut lines = (1..).zip(text.lines()).peekable();
        let mut source = None;
        if lines.next_if(|(_, line)| line.trim_end() == "---").is_some() {
            loop {
                let (_, line) = lines.next().ok_or(TraceErrorKind::OpenHeader)?;
                if line.trim_end() == "---" {
                    break;
                }
                source = source.or(line.strip_prefix("source: ").map(|path| path.trim_matches('"').to_owned()));
            }
            while lines.next_if(|(_, line)| line.trim().is_empty()).is_some() {}
        }
        let (first, line) = lines.next().ok_or(TraceErrorKind::Empty)?;
        check_version(line).map_err(|why| TraceErrorKind::Line { line: first, why })?;
        let (at, test) = lines
            .find_map(|(at, line)| line.strip_prefix("test: ").map(|test| (at, test.trim())))
            .ok_or(TraceErrorKind::NoTest { after: first })?;
        let mut words = test.splitn(3, ' ').map(str::trim);
        let (Some(package), Some(krate), Some(test)) = (words.next(), words.next(), words.next()) else {
            let why = format!("expected `test: PACKAGE CRATE NAME`, found `test: {}`", shorten(test));
            return Err(TraceErrorKind::Line { line: at, why });
        };
        Ok(Self { package: package.to_owned(), krate: krate.to_owned(), test: test.to_owned(), source })
    }
}

/// Whether a trace's first line is one this command understands; else why not.
fn check_version(line: &str) -> Result<(), String> {
    let version = line.strip_prefix("delay trace ").and_then(|version| version.trim().parse::<u32>().ok());
    match version {
        Some(VERSION) => Ok(()),
        Some(other) => Err(format!("the trace is of version {other}, this cargo-delay reads version {VERSION}")),
        None => Err(format!("expected `delay trace {VERSION}`, found `{}`", shorten(line))),
    }
}

/// At most 60 characters of `line`: the file may be anything.
fn shorten(line: &str) -> String {
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}..", &line[..end]),
        None => line.to_owned(),
    }
}

/// A file that is no trace.
#[derive(Debug)]
pub(crate) struct TraceError {
    path: PathBuf,
    kind: TraceErrorKind,
}

#[derive(Debug)]
enum TraceErrorKind {
    Read(io::Error),
    Text,
    Empty,
    OpenHeader,
    Line { line: u32, why: String },
    NoTest { after: u32 },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, kind } = self;
        let path = path.display();
        match kind {
            TraceErrorKind::Read(error) => write!(f, "cannot read the trace {path}: {error}"),
            TraceErrorKind::Text => write!(f, "{path}: not a trace: not UTF-8"),
            TraceErrorKind::Empty => {
                write!(f, "{path}: not a trace: expected `delay trace {VERSION}`, found the end of the file")
            }
            TraceErrorKind::OpenHeader => write!(f, "{path}:1: the snapshot's header has no second line `---`"),
            TraceErrorKind::Line { line, why } => write!(f, "{path}:{line}: {why}"),
            TraceErrorKind::NoTest { after } => write!(f, "{path}:{after}: no line `test: PACKAGE CRATE NAME` follows"),
        }
    }
}

impl std::error::Error for TraceError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        TraceError { path: "t.snap".into(), kind: TraceHeader::parse(text).unwrap_err() }.to_string()
    }

    #[test]
    fn plain_traces_and_snapshots_name_their_test() {
        let plain = TraceHeader::parse(
            "delay trace 1\ntest: delay-examples protocols two_phase::counts_votes\nexplorer: rtc\n",
        );
        let votes = TraceHeader {
            package: "delay-examples".to_owned(),
            krate: "protocols".to_owned(),
            test: "two_phase::counts_votes".to_owned(),
            source: None,
        };
        assert_eq!(plain.unwrap(), votes);
        let header = "---\nsource: examples/tests/two_phase.rs\ndescription: \"a --- b\"\n---\n";
        let snapshot =
            format!("{header}delay trace 1\nverdict: fail\ntest: delay-examples protocols two_phase::counts_votes\n");
        let source = Some("examples/tests/two_phase.rs".to_owned());
        assert_eq!(TraceHeader::parse(&snapshot).unwrap(), TraceHeader { source, ..votes });
    }

    #[test]
    fn malformed_files_are_named_with_their_line() {
        let all = [
            "",
            "---\nsource: a.rs\n",
            "---\nsource: a.rs\n---\ndelay trace 2\n",
            "---\nsource: a.rs\n---\n\nfn main() {}\n",
            "delay trace one\n",
            "delay trace 1\nexplorer: rtc\n",
            "delay trace 1\ntest: lonely\n",
            "delay trace 1\ntest: package name\n",
        ];
        insta::assert_snapshot!(all.map(error).join("\n"));
    }
}

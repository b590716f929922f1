//! Reads the recordings of a run, as one: in the order of their clocks.
//!
//! Invariants: lines of one file keep their order; of several files the one with the earliest time comes next, and of equal times, between which
//! there is no causality, that of the file named first. What is missing is a [`Gap`]; what cannot be told from damage is an error. Files
//! are read as they are merged, so that their size does not matter.

use super::{
    Travel,
    clock::Stamp,
    line::{Line, Numbered, Unread},
};
use crate::limits;
use serde_json::value::RawValue;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    rc::Rc,
};

/// How every recording begins.
pub(super) const BEGINNING: &str = "{\"seq\":0,\"type\":\"recording\",";

/// Something that happened, as it was recorded.
pub(super) struct Entry {
    pub(super) at: Stamp,
    pub(super) process: Rc<str>,
    pub(super) recording: Rc<Path>,
    pub(super) line: u64,
    pub(super) name: String,
    /// If it happened to a message.
    pub(super) message: Option<Carried>,
    pub(super) data: Box<RawValue>,
}

/// What happened to a message, and its endpoints.
pub(super) struct Carried {
    pub(super) travel: Travel,
    pub(super) from: String,
    pub(super) to: String,
}

/// Something a recording lacks. What was checked without it may have been judged wrongly.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// The file.
    pub recording: PathBuf,
    /// The process that recorded.
    pub process: String,
    /// What is lacking.
    pub what: Lack,
    /// How much of it.
    pub count: u64,
}

/// What a recording lacks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Lack {
    /// Events found no room while the disk was slow.
    Lost,
    /// Events could not be made text.
    Unwritable {
        /// Their name.
        name: String,
        /// Why not.
        why: String,
    },
    /// The clocks of other nodes were too far ahead to be believed.
    Skew,
    /// Lines were taken out of the file.
    Missing,
    /// The last line is torn.
    Torn,
    /// There is no last line.
    Unended,
    /// Messages were received that no recording shows being sent.
    Unsent,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { recording, process, what, count } = self;
        write!(f, "{} of {process}: ", recording.display())?;
        match what {
            Lack::Lost => write!(f, "{count} events found no room while the disk was slow, and are lost"),
            Lack::Unwritable { name, why } => write!(f, "{count} events `{name}` could not be recorded ({why})"),
            Lack::Skew => write!(
                f,
                "{count} messages came from clocks more than an hour ahead, which were not believed: the order may be wrong"
            ),
            Lack::Missing => write!(f, "{count} lines were taken out of the file"),
            Lack::Torn => {
                f.write_str("a line is torn: the process was killed while it wrote, and its last events are missing")
            }
            Lack::Unended => {
                f.write_str("there is no end: the process was killed, or goes on, and its last events may be missing")
            }
            Lack::Unsent => write!(
                f,
                "{count} messages were received that no recording shows being sent: is the recording of a process left out, or of another run?"
            ),
        }
    }
}

/// A recording cannot be read or understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    pub(super) recording: PathBuf,
    pub(super) line: Option<u64>,
    pub(super) why: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { recording, line, why } = self;
        match line {
            Some(line) => write!(f, "{}:{line}: {why}", recording.display()),
            None => write!(f, "cannot read the recording {}: {why}", recording.display()),
        }
    }
}

impl std::error::Error for Unreadable {}

/// The recordings of a run.
pub(super) struct Merged {
    /// Each with what comes next in it.
    sources: Vec<(Source, Option<Entry>)>,
    seen: Seen,
}

/// What was met while reading, besides what happened.
#[derive(Default)]
pub(super) struct Seen {
    /// How much of each there is.
    gaps: BTreeMap<(PathBuf, String, Lack), u64>,
    /// The recordings, and where each is.
    runs: BTreeMap<String, PathBuf>,
    processes: BTreeSet<String>,
}

impl Seen {
    pub(super) fn gaps(&self) -> Vec<Gap> {
        let gap = |((recording, process, what), count): (&(PathBuf, String, Lack), &u64)| Gap {
            recording: recording.clone(),
            process: process.clone(),
            what: what.clone(),
            count: *count,
        };
        self.gaps.iter().map(gap).collect()
    }

    pub(super) fn processes(&self) -> usize {
        self.processes.len()
    }
}

impl Merged {
    pub(super) fn open<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<Self, Unreadable> {
        let mut merged = Self { sources: Vec::new(), seen: Seen::default() };
        for path in paths {
            let mut source = Source::open(path)?;
            let first = source.next(&mut merged.seen)?;
            merged.sources.push((source, first));
        }
        Ok(merged)
    }

    /// What happened next.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, Unreadable> {
        let heads = self.sources.iter_mut().filter(|(_, head)| head.is_some());
        let Some((source, head)) = heads.min_by_key(|(_, head)| head.as_ref().map(|entry| entry.at)) else {
            return Ok(None);
        };
        let next = source.next(&mut self.seen)?;
        Ok(std::mem::replace(head, next))
    }

    pub(super) fn seen(&self) -> &Seen {
        &self.seen
    }
}

/// One file.
struct Source {
    path: Rc<Path>,
    file: BufReader<File>,
    /// A line that was read ahead.
    ahead: Option<Vec<u8>>,
    /// The number of the last line that was read, from 1.
    number: u64,
    run: Run,
}

/// The recording within the file that is being read.
enum Run {
    /// None yet.
    None,
    /// It expects a line of this number.
    Going { process: Rc<str>, seq: u64 },
    /// It is over.
    Ended,
}

impl Source {
    fn open(path: &Path) -> Result<Self, Unreadable> {
        let file = File::open(path).map_err(|error| cannot_read(path, &error))?;
        Ok(Self { path: path.into(), file: BufReader::new(file), ahead: None, number: 0, run: Run::None })
    }

    fn unreadable(&self, why: impl Into<String>) -> Unreadable {
        Unreadable { recording: self.path.to_path_buf(), line: Some(self.number), why: why.into() }
    }

    /// The next line without its end; none at the end of the file.
    fn line(&mut self) -> Result<Option<Vec<u8>>, Unreadable> {
        let mut line = match self.ahead.take() {
            Some(line) => line,
            None => self.read()?,
        };
        if line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        Ok(Some(line))
    }

    fn read(&mut self) -> Result<Vec<u8>, Unreadable> {
        let mut line = Vec::new();
        let most = limits::RECORDED_LINE_BYTES_MAX;
        let read = self.file.by_ref().take(most).read_until(b'\n', &mut line);
        read.map_err(|error| cannot_read(&self.path, &error))?;
        if line.len() as u64 == most {
            return Err(
                self.unreadable(format!("a line of more than {most} bytes: this is no recording, or it is damaged"))
            );
        }
        Ok(line)
    }

    /// Whether the file ends here, or a new recording begins in it: then the line before may be torn.
    fn is_at_an_end(&mut self) -> Result<bool, Unreadable> {
        let ahead = self.read()?;
        let is_end = ahead.is_empty() || ahead.starts_with(BEGINNING.as_bytes());
        self.ahead = Some(ahead);
        Ok(is_end)
    }

    fn lacks(&self, seen: &mut Seen, process: &str, what: Lack, count: u64) {
        *seen.gaps.entry((self.path.to_path_buf(), process.to_owned(), what)).or_default() += count;
    }

    /// What happened next in this file.
    fn next(&mut self, seen: &mut Seen) -> Result<Option<Entry>, Unreadable> {
        while let Some(text) = self.line()? {
            let Some(numbered) = self.understood(&text, seen)? else { continue };
            if let Line::Recording { process, run } = numbered.line {
                self.begin(&process, &run, seen)?;
            } else if let Some(entry) = self.take(numbered, seen)? {
                return Ok(Some(entry));
            }
        }
        self.unended(seen);
        if self.number == 0 {
            return Err(Unreadable {
                recording: self.path.to_path_buf(),
                line: None,
                why: "the file is empty: was anything recorded into it?".to_owned(),
            });
        }
        Ok(None)
    }

    /// A line that can be read; none if it is torn.
    fn understood<'a>(&mut self, text: &'a [u8], seen: &mut Seen) -> Result<Option<Numbered<'a>>, Unreadable> {
        let read = match str::from_utf8(text) {
            Ok(text) => Numbered::from_text(text),
            Err(error) => Err(Unread::Malformed(error.to_string())),
        };
        let why = match read {
            Ok(numbered) => return Ok(Some(numbered)),
            Err(why @ Unread::Version(_)) => return Err(self.unreadable(why.to_string())),
            Err(why) => why,
        };
        let begins_as_one = text.starts_with(BEGINNING.as_bytes()) || BEGINNING.as_bytes().starts_with(text);
        let may_be_torn = match &self.run {
            Run::Going { .. } => true,
            Run::None | Run::Ended => begins_as_one,
        };
        if !may_be_torn || !self.is_at_an_end()? {
            return Err(self.unreadable(why.to_string()));
        }
        let process = match std::mem::replace(&mut self.run, Run::Ended) {
            Run::Going { process, seq: _ } => process,
            Run::None | Run::Ended => "a process".into(),
        };
        self.lacks(seen, &process, Lack::Torn, 1);
        Ok(None)
    }

    fn begin(&mut self, process: &str, run: &str, seen: &mut Seen) -> Result<(), Unreadable> {
        self.unended(seen);
        if let Some(there) = seen.runs.insert(run.to_owned(), self.path.to_path_buf()) {
            return Err(self.unreadable(format!("this recording was read already, from {}", there.display())));
        }
        seen.processes.insert(process.to_owned());
        self.run = Run::Going { process: process.into(), seq: 1 };
        Ok(())
    }

    fn unended(&mut self, seen: &mut Seen) {
        if let Run::Going { process, seq: _ } = std::mem::replace(&mut self.run, Run::Ended) {
            self.lacks(seen, &process, Lack::Unended, 1);
        }
    }

    /// What happened, if the line is about something that did.
    fn take(&mut self, Numbered { seq, at, line }: Numbered<'_>, seen: &mut Seen) -> Result<Option<Entry>, Unreadable> {
        let (process, expected) = match &mut self.run {
            Run::Going { process, seq } => (Rc::clone(process), std::mem::replace(seq, *seq + 1)),
            Run::None => return Err(self.unreadable("a recording begins with a line of type `recording`")),
            Run::Ended => return Err(self.unreadable("this recording has ended before")),
        };
        if seq < expected {
            return Err(self.unreadable(format!("line {seq} of the recording comes after line {}", expected - 1)));
        }
        if seq > expected {
            self.lacks(seen, &process, Lack::Missing, seq - expected);
            self.run = Run::Going { process: Rc::clone(&process), seq: seq + 1 };
        }
        let (name, message, data) = match line {
            Line::Event { name, data } => (name, None, data),
            Line::Message { travel, name, from, to, data } => {
                (name, Some(Carried { travel, from: from.into_owned(), to: to.into_owned() }), data)
            }
            Line::Lost { count } => {
                self.lacks(seen, &process, Lack::Lost, count);
                return Ok(None);
            }
            Line::Unwritable { name, why } => {
                let what = Lack::Unwritable { name: name.into_owned(), why: why.into_owned() };
                self.lacks(seen, &process, what, 1);
                return Ok(None);
            }
            Line::Skew { count } => {
                self.lacks(seen, &process, Lack::Skew, count);
                return Ok(None);
            }
            Line::End => {
                self.run = Run::Ended;
                return Ok(None);
            }
            Line::Recording { process: _, run: _ } => crate::bug!("the beginning of a recording is no line within it"),
        };
        let (recording, line, name) = (Rc::clone(&self.path), self.number, name.into_owned());
        Ok(Some(Entry { at, process, recording, line, name, message, data: data.to_owned() }))
    }
}

fn cannot_read(path: &Path, error: &io::Error) -> Unreadable {
    Unreadable { recording: path.to_owned(), line: None, why: error.to_string() }
}

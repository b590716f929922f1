//! The file of a checkpoint.
//!
//! `magic (8) | version (4) | bytes that follow (8) | their checksum (4) | head | entries | fingerprints`. Numbers are little endian. Head and entries
//! are postcard, each after its length (8); fingerprints are words (8), one or two each, with one more for their delays where the cache tells explorers apart.
//!
//! Invariants: the version is looked at before anything but the magic; nothing of a file is used before all of it was read, and its length and checksum
//! were right; a change of anything here or of `protocol::Covered` is a new version. A file is written beside the old one and then takes its place.

use super::Subject;
use crate::{
    coverage::Coverage,
    name::Order,
    protocol::{Covered, Shard},
    search::{
        Deviation, Fingerprints, Stop,
        saved::{Entry, Position, Sampled, Saved, Start},
        visited::Prints,
    },
    trace::pin,
    world::premises::{Fates, Premises},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    env, fmt, fs,
    io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    path::Path,
};

const MAGIC: [u8; 8] = *b"\xdd\x02dlysav";
const VERSION: u32 = 5;
const HEADER_BYTES: u64 = 8 + 4 + 8 + 4;

/// Bytes of head or entries are read in pieces of so many: a length that is damage must not cost memory.
const PIECE_BYTES: u64 = 1 << 20;

/// What a checkpoint is of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(in crate::harness) struct Head {
    /// Package, crate, path.
    pub(super) test: [String; 3],
    pub(super) settings: BTreeMap<String, String>,
    pub(super) shard: Shard,
    pub(super) binary: Binary,
}

impl Head {
    pub(super) fn of(subject: &Subject, binary: Binary) -> Self {
        let Subject { test, settings, shard } = subject.clone();
        Self { test: [test.package, test.krate, test.path], settings, shard, binary }
    }
}

/// What tells test binaries apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Binary {
    bytes: u64,
    pub(super) checksum: u32,
}

impl Binary {
    /// Of the running one.
    pub(super) fn own() -> io::Result<Self> {
        let mut file = fs::File::open(env::current_exe()?)?;
        let mut buffer = vec![0; PIECE_BYTES as usize];
        let mut own = Self { bytes: 0, checksum: 0 };
        loop {
            let count = file.read(&mut buffer)?;
            if count == 0 {
                return Ok(own);
            }
            own.bytes += count as u64;
            own.checksum = crc32c::crc32c_append(own.checksum, &buffer[..count]);
        }
    }
}

/// A checkpoint but for its entries and fingerprints.
#[derive(Serialize, Deserialize)]
struct Front {
    head: Head,
    at_send: bool,
    reads_clock: bool,
    covered: Covered,
    search: Search,
}

/// How far the search has come.
#[derive(Serialize, Deserialize)]
enum Search {
    Exhaustive {
        bound: u32,
        processes: Vec<(u32, u32)>,
        objects: Vec<(u32, u32, bool)>,
        now: u64,
        /// Fingerprints of 128 bits.
        wide: bool,
        /// Words of fingerprints.
        states: u64,
        pairs: u64,
        forgotten: u64,
    },
    Sampling {
        delays: u32,
        next: u64,
        before: Option<Box<Covered>>,
    },
}

/// An entry, or a start: its delays, and in the place of the steps where it starts.
#[derive(Serialize, Deserialize)]
struct SavedEntry {
    deviations: Vec<(u32, u32)>,
    steps: u32,
    executed: u32,
    check: u32,
}

/// Saves a search.
pub(super) fn save(path: &Path, head: &Head, premises: Premises, saved: &Saved) -> io::Result<()> {
    let file = pin::beside(path)?;
    let mut out = Checked { inner: BufWriter::new(file), bytes: 0, checksum: 0 };
    out.inner.write_all(&[0; HEADER_BYTES as usize])?;
    let (covered, search, entries) = match saved {
        Saved::Exhaustive(position) => exhaustive(position, head),
        Saved::Sampling(sampled) => sampling(sampled, head),
    };
    let Premises { fates, reads_clock } = premises;
    let front = Front { head: head.clone(), at_send: fates == Fates::AtSend, reads_clock, covered, search };
    out.write_part(&front)?;
    out.write_part(&entries)?;
    if let Saved::Exhaustive(position) = saved {
        let Prints { fingerprints: _, states, pairs, forgotten: _ } = &position.visited;
        for word in states.iter().chain(pairs) {
            out.write(&word.to_le_bytes())?;
        }
    }
    let Checked { inner, bytes, checksum } = out;
    let mut file = inner.into_inner()?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&MAGIC)?;
    file.write_all(&VERSION.to_le_bytes())?;
    file.write_all(&bytes.to_le_bytes())?;
    file.write_all(&checksum.to_le_bytes())?;
    // Its name must not be there before its contents are.
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn wire(coverage: &Coverage, head: &Head) -> Covered {
    // Why it stopped is not known: it goes on.
    coverage.to_wire(&Stop::Interrupted, head.settings.clone())
}

fn pairs(deviations: &[Deviation]) -> Vec<(u32, u32)> {
    deviations.iter().map(|Deviation { step, delays }| (*step, *delays)).collect()
}

fn exhaustive(position: &Position, head: &Head) -> (Covered, Search, Vec<SavedEntry>) {
    let Position { coverage, bound, now, next, visited, names } = position;
    let entries = now.iter().chain(next).map(|entry| {
        let Entry { deviations, steps, executed, check } = entry;
        SavedEntry { deviations: pairs(deviations), steps: *steps, executed: *executed, check: *check }
    });
    let search = Search::Exhaustive {
        bound: *bound,
        processes: names.processes.clone(),
        objects: names.objects.clone(),
        now: now.len() as u64,
        wide: visited.fingerprints == Fingerprints::Bits128,
        states: visited.states.len() as u64,
        pairs: visited.pairs.len() as u64,
        forgotten: visited.forgotten,
    };
    (wire(coverage, head), search, entries.collect())
}

fn sampling(sampled: &Sampled, head: &Head) -> (Covered, Search, Vec<SavedEntry>) {
    let Sampled { coverage, delays, next, starts, before } = sampled;
    let entry = |Start { deviations, from }: &Start| SavedEntry {
        deviations: pairs(deviations),
        steps: *from,
        executed: 0,
        check: 0,
    };
    let entries = starts.iter().map(entry);
    let before = before.as_ref().map(|before| Box::new(wire(before, head)));
    (wire(coverage, head), Search::Sampling { delays: *delays, next: *next, before }, entries.collect())
}

/// Reads a checkpoint: what it is of, what it took for granted, and how far it had come.
pub(super) fn load(path: &Path) -> Result<(Head, Premises, Saved), FormatError> {
    let file = fs::File::open(path)?;
    let length = file.metadata()?.len();
    let mut inner = BufReader::new(file);
    let mut header = [0; HEADER_BYTES as usize];
    let is_whole = length >= HEADER_BYTES;
    let begin = header.get_mut(..HEADER_BYTES.min(length) as usize).unwrap_or_default();
    inner.read_exact(begin)?;
    if header[..8] != MAGIC {
        return Err(FormatError::Foreign);
    }
    let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if !is_whole {
        return Err(FormatError::CutShort);
    }
    if word(8) != VERSION {
        return Err(FormatError::Version(word(8)));
    }
    let bytes = u64::from(word(12)) | u64::from(word(16)) << 32;
    if length - HEADER_BYTES != bytes {
        return Err(if length - HEADER_BYTES < bytes { FormatError::CutShort } else { FormatError::Damaged });
    }
    let mut from = Checked { inner, bytes: 0, checksum: 0 };
    let parts = read(&mut from, bytes);
    // What is wrong on the way is wrong because something is damaged; whatever the reason, the checksum knows.
    let mut rest = [0; 1 << 12];
    while from.bytes < bytes {
        let count = (bytes - from.bytes).min(rest.len() as u64) as usize;
        from.read(&mut rest[..count])?;
    }
    if from.checksum != word(20) {
        return Err(FormatError::Damaged);
    }
    let (front, entries, visited) = parts?;
    taken_up(front, entries, visited)
}

type Parts = (Front, Vec<SavedEntry>, Prints);

fn read(from: &mut Checked<BufReader<fs::File>>, bytes: u64) -> Result<Parts, FormatError> {
    let front: Front = from.read_part(bytes)?;
    let entries: Vec<SavedEntry> = from.read_part(bytes)?;
    let mut visited = Prints::default();
    if let Search::Exhaustive { wide, states, pairs, forgotten, .. } = front.search {
        let expected = states.checked_add(pairs).and_then(|words| words.checked_mul(8));
        if expected != Some(bytes - from.bytes) {
            return Err(FormatError::Damaged);
        }
        visited.forgotten = forgotten;
        visited.fingerprints = if wide { Fingerprints::Bits128 } else { Fingerprints::Bits64 };
        for _ in 0..states {
            visited.states.push(from.read_u64()?);
        }
        for _ in 0..pairs {
            visited.pairs.push(from.read_u64()?);
        }
    }
    Ok((front, entries, visited))
}

fn taken_up(front: Front, entries: Vec<SavedEntry>, visited: Prints) -> Result<(Head, Premises, Saved), FormatError> {
    let Front { head, at_send, reads_clock, covered, search } = front;
    let premises = Premises { fates: if at_send { Fates::AtSend } else { Fates::AtReceive }, reads_clock };
    let coverage =
        |covered| Coverage::from_wire(covered).map(|(coverage, _)| coverage).map_err(|_| FormatError::Damaged);
    let deviations = |deviations: Vec<(u32, u32)>| {
        deviations.into_iter().map(|(step, delays)| Deviation { step, delays }).collect::<Vec<_>>()
    };
    let saved = match search {
        Search::Exhaustive { bound, processes, objects, now, .. } => {
            let entry = |SavedEntry { deviations: delayed, steps, executed, check }| Entry {
                deviations: deviations(delayed),
                steps,
                executed,
                check,
            };
            let mut now_and_next: Vec<Entry> = entries.into_iter().map(entry).collect();
            let next =
                now_and_next.split_off(usize::try_from(now).map_or(usize::MAX, |now| now.min(now_and_next.len())));
            Saved::Exhaustive(Position {
                coverage: coverage(covered)?,
                bound,
                now: now_and_next,
                next,
                visited,
                names: Order { processes, objects },
            })
        }
        Search::Sampling { delays, next, before } => {
            let start = |entry: SavedEntry| Start { deviations: deviations(entry.deviations), from: entry.steps };
            Saved::Sampling(Sampled {
                coverage: coverage(covered)?,
                delays,
                next,
                starts: entries.into_iter().map(start).collect(),
                before: before.map(|before| coverage(*before).map(Box::new)).transpose()?,
            })
        }
    };
    Ok((head, premises, saved))
}

/// Counts and sums up what passes.
struct Checked<T> {
    inner: T,
    bytes: u64,
    checksum: u32,
}

impl<T> Checked<T> {
    fn pass(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.checksum = crc32c::crc32c_append(self.checksum, bytes);
    }
}

impl<W: Write> Checked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.pass(bytes);
        self.inner.write_all(bytes)
    }

    fn write_part(&mut self, part: &impl Serialize) -> io::Result<()> {
        let bytes = postcard::to_allocvec(part).map_err(io::Error::other)?;
        self.write(&(bytes.len() as u64).to_le_bytes())?;
        self.write(&bytes)
    }
}

impl<R: Read> Checked<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.inner.read_exact(bytes)?;
        self.pass(bytes);
        Ok(())
    }

    fn read_u64(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.read(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// A part of at most as many bytes as are left.
    fn read_part<P: DeserializeOwned>(&mut self, all: u64) -> Result<P, FormatError> {
        let length = self.read_u64()?;
        if length > all.saturating_sub(self.bytes) {
            return Err(FormatError::Damaged);
        }
        let mut part = Vec::new();
        while (part.len() as u64) < length {
            let from = part.len();
            part.resize((from as u64 + PIECE_BYTES).min(length) as usize, 0);
            self.read(&mut part[from..])?;
        }
        postcard::from_bytes(&part).map_err(|_| FormatError::Damaged)
    }
}

/// A file that is no checkpoint of this version.
#[derive(Debug)]
pub(in crate::harness) enum FormatError {
    /// It cannot be read.
    Read(io::Error),
    /// It is something else.
    Foreign,
    /// Written by another version.
    Version(u32),
    /// Its end is missing.
    CutShort,
    /// It is not what was written.
    Damaged,
}

impl From<io::Error> for FormatError {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "it cannot be read: {error}"),
            Self::Foreign => f.write_str("it is no checkpoint of delay"),
            Self::Version(found) if *found > VERSION => {
                write!(f, "it was written by a newer delay: version {found}; this one reads {VERSION}")
            }
            Self::Version(found) => {
                write!(f, "it was written by another delay: version {found}; this one reads {VERSION}")
            }
            Self::CutShort => f.write_str("its end is missing"),
            Self::Damaged => f.write_str("it is damaged: its checksum or its structure is wrong"),
        }
    }
}

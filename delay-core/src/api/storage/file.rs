//! The files of stores: what a log and a cell look like on disk, and what of them an interrupted write leaves.
//!
//! A log is its magic, then records: length, checksum, payload. The checksum covers where the record stands, so that a record
//! within the payload of another is never taken for one. A log is read up to the first record that is not whole. If a whole one
//! follows, what is between was damaged, and nothing is opened; else it is the half that a crash left, and the next append
//! overwrites it. That the last of the synced records was damaged cannot be told from its never having been written whole.
//!
//! A cell is its magic, a checksum, a payload. It is replaced as a whole, so half of one is damage.
//!
//! Invariant: what was found when a file was opened is durable, as is that there is this file.

use crate::limits::STORED_BYTES_MAX;
use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

const LOG: &[u8] = b"delay log 1\n";
const CELL: &[u8] = b"delay cell 1\n";
/// Of a record before its payload: length and checksum, each four bytes, least first.
const HEAD: usize = 8;

/// Why a store's file cannot be opened.
#[derive(Debug)]
pub(super) enum Trouble {
    Io(io::Error),
    /// It does not begin as a file of ours does.
    Foreign,
    /// Not whole from this byte on, although something whole follows.
    Damaged {
        at: usize,
        next: usize,
    },
    /// Its only value is not whole.
    DamagedCell,
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Foreign => f.write_str("is not a store's file of this version of delay: move it away"),
            Self::Damaged { at, next } => write!(
                f,
                "is damaged: the record at byte {at} is not whole, but one at byte {next} is, so that this is no interrupted write; restore the file from a copy, or cut it at byte {at} if what follows may be lost"
            ),
            Self::DamagedCell => f.write_str("is damaged: its checksum does not match; restore the file from a copy"),
        }
    }
}

/// A log that is open.
#[derive(Debug)]
pub(super) struct LogFile {
    file: File,
    /// Where the whole records end.
    end: usize,
    /// Half a record follows.
    is_torn: bool,
    is_durable: bool,
}

/// What a file held when it was opened.
pub(super) struct Found {
    pub(super) payloads: Vec<Vec<u8>>,
    pub(super) is_torn: bool,
}

impl LogFile {
    pub(super) fn open(path: &Path) -> Result<(Self, Found), Trouble> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut bytes = fs::read(path)?;
        if bytes.len() < LOG.len() && LOG.starts_with(&bytes) {
            // New, or a crash came while it was made.
            file.write_all(LOG)?;
            bytes = LOG.to_vec();
        }
        if !bytes.starts_with(LOG) {
            return Err(Trouble::Foreign);
        }
        let mut payloads = Vec::new();
        let mut end = LOG.len();
        while let Some(payload) = record_at(&bytes, end) {
            payloads.push(payload.to_vec());
            end += HEAD + payload.len();
        }
        if let Some(next) = (end + 1..bytes.len()).find(|next| record_at(&bytes, *next).is_some()) {
            return Err(Trouble::Damaged { at: end, next });
        }
        let is_torn = end < bytes.len();
        file.sync_all()?;
        sync_parent(path)?;
        Ok((Self { file, end, is_torn, is_durable: true }, Found { payloads, is_torn }))
    }

    /// Hands records to the operating system.
    pub(super) fn append(&mut self, payloads: &[Vec<u8>]) -> io::Result<()> {
        if payloads.is_empty() {
            return Ok(());
        }
        if self.is_torn {
            // What is left of it beyond a shorter record would look like the damage of a longer one.
            self.file.set_len(self.end as u64)?;
            self.is_torn = false;
        }
        let mut bytes = Vec::new();
        for payload in payloads {
            let (at, length) = (self.end + bytes.len(), payload.len() as u32);
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(&checksum(at, payload).to_le_bytes());
            bytes.extend_from_slice(payload);
        }
        self.is_durable = false;
        self.file.seek(SeekFrom::Start(self.end as u64))?;
        self.file.write_all(&bytes)?;
        self.end += bytes.len();
        Ok(())
    }

    /// Waits until all records are durable.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        if !self.is_durable {
            self.file.sync_data()?;
            self.is_durable = true;
        }
        Ok(())
    }
}

/// The payload of the record that stands there, if it is whole.
fn record_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let (length, rest) = bytes.get(at..)?.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let payload = rest.get(..length).filter(|_| length <= STORED_BYTES_MAX)?;
    (checksum(at, payload) == u32::from_le_bytes(*sum)).then_some(payload)
}

fn checksum(at: usize, payload: &[u8]) -> u32 {
    let place = crc32c::crc32c(&(at as u64).to_le_bytes());
    crc32c::crc32c_append(crc32c::crc32c_append(place, &(payload.len() as u64).to_le_bytes()), payload)
}

/// A cell that is open.
#[derive(Debug)]
pub(super) struct CellFile {
    path: PathBuf,
}

impl CellFile {
    pub(super) fn open(path: &Path) -> Result<(Self, Found), Trouble> {
        let mut payloads = Vec::new();
        match fs::read(path) {
            Ok(bytes) => {
                let rest = bytes.strip_prefix(CELL).ok_or(Trouble::Foreign)?;
                let (sum, payload) = rest.split_first_chunk::<4>().ok_or(Trouble::DamagedCell)?;
                if checksum(0, payload) != u32::from_le_bytes(*sum) {
                    return Err(Trouble::DamagedCell);
                }
                payloads.push(payload.to_vec());
                sync_parent(path)?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        Ok((Self { path: path.to_owned() }, Found { payloads, is_torn: false }))
    }

    /// Replaces the value, durably: a crash leaves the old one or the new one.
    pub(super) fn replace(&mut self, payload: &[u8]) -> io::Result<()> {
        let new = self.path.with_extension("new");
        let mut file = File::create(&new)?;
        file.write_all(CELL)?;
        file.write_all(&checksum(0, payload).to_le_bytes())?;
        file.write_all(payload)?;
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        sync_parent(&self.path)
    }
}

/// Makes a directory and those above it, durably.
pub(super) fn create_directory(path: &Path) -> io::Result<()> {
    if path.is_dir() || path.as_os_str().is_empty() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create_directory(parent)?;
    }
    match fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => sync_parent(path),
    }
}

/// Makes durable that the file is there, under its name.
fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Elsewhere a directory cannot be opened as a file, and a rename need not be synced.
    if cfg!(unix) { File::open(parent)?.sync_all() } else { Ok(()) }
}

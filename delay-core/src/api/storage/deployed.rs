//! Stores outside a controlled execution: in memory, and where `keep_in` said so on disk too.
//!
//! Values are read from memory. A write is in memory when its future completes, in the order of writes; a thread that may block
//! hands records of a log to the operating system soon after. What a sync must make durable is thus fixed when it is asked
//! for, and a task that is aborted leaves no write behind that comes later.
//!
//! Invariant: after a file could not be written the store never says again that anything is durable. What a failed `fdatasync` left
//! on disk is not known, and the next one may succeed without it.

use super::{
    Stored,
    file::{CellFile, Found, LogFile, Trouble},
    lock,
};
use crate::{limits::STORED_BYTES_MAX, world::words::Keeps};
use std::{
    any::type_name,
    io,
    path::PathBuf,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{self, Poll},
};
use tokio::{runtime::Handle, task::JoinHandle};

#[derive(Debug)]
enum Kind {
    Log(LogFile),
    Cell(CellFile),
}

/// A store's file.
#[derive(Debug)]
struct Disk {
    path: PathBuf,
    /// What went wrong first. Held while the file is written and synced, which may take long: never by a task.
    file: Mutex<Result<Kind, String>>,
}

#[derive(Debug)]
struct InMemory<T> {
    values: Vec<T>,
    /// Encoded, in order: what the file has not got yet. The last one only, if it is a cell.
    unsaved: Vec<Vec<u8>>,
    is_torn: bool,
}

/// A store outside a controlled execution.
#[derive(Debug)]
pub(super) struct Deployed<T> {
    keeps: Keeps,
    memory: Mutex<InMemory<T>>,
    disk: Option<Disk>,
}

/// How far what was written is to go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    OperatingSystem,
    Disk,
}

/// A sync that was asked for.
#[derive(Debug)]
pub(super) enum Syncing {
    Done(Result<(), String>),
    Elsewhere(JoinHandle<Result<(), String>>),
}

impl Syncing {
    pub(super) fn poll(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<(), String>> {
        match self {
            Self::Done(result) => Poll::Ready(result.clone()),
            Self::Elsewhere(job) => Pin::new(job).poll(cx).map(|joined| {
                joined.unwrap_or_else(|error| Err(format!("it is not known whether a store was synced: {error}")))
            }),
        }
    }
}

impl<T> Deployed<T> {
    pub(super) fn in_memory(keeps: Keeps) -> Self {
        let memory = InMemory { values: Vec::new(), unsaved: Vec::new(), is_torn: false };
        Self { keeps, memory: Mutex::new(memory), disk: None }
    }

    pub(super) fn keeps(&self) -> Keeps {
        self.keeps
    }
}

impl<T: Stored> Deployed<T> {
    /// Opens the store's file, or makes it. The error says what is wrong with which file.
    pub(super) fn on_disk(path: PathBuf, keeps: Keeps) -> Result<Self, String> {
        let opened = match keeps {
            Keeps::Last => CellFile::open(&path).map(|(file, found)| (Kind::Cell(file), found)),
            Keeps::All { .. } => LogFile::open(&path).map(|(file, found)| (Kind::Log(file), found)),
        };
        let told = |trouble: Trouble| format!("{}: {trouble}", path.display());
        let (file, Found { payloads, is_torn }) = opened.map_err(told)?;
        let values: Result<Vec<T>, String> = payloads.iter().map(|payload| decode(payload)).collect();
        let values = values.map_err(|error| format!("{}: {error}", path.display()))?;
        // Without torn records a log ends with the last whole one.
        let is_torn = is_torn && keeps == Keeps::All { torn: true };
        let memory = InMemory { values, unsaved: Vec::new(), is_torn };
        Ok(Self { keeps, memory: Mutex::new(memory), disk: Some(Disk { path, file: Mutex::new(Ok(file)) }) })
    }

    fn memory(&self) -> MutexGuard<'_, InMemory<T>> {
        lock(&self.memory)
    }

    pub(super) fn write(self: &Arc<Self>, value: T) {
        let encoded = self.disk.as_ref().map(|disk| encode(&value, disk));
        let mut memory = self.memory();
        memory.is_torn = false;
        if self.keeps == Keeps::Last {
            memory.values.clear();
            memory.unsaved.clear();
        }
        memory.values.push(value);
        memory.unsaved.extend(encoded);
        // One that was there before has somebody on the way to save it.
        let is_first = memory.unsaved.len() == 1 && self.keeps != Keeps::Last;
        drop(memory);
        if let Some(runtime) = Handle::try_current().ok().filter(|_| is_first) {
            let this = Arc::clone(self);
            // If it fails the next sync says so.
            drop(runtime.spawn_blocking(move || this.save(To::OperatingSystem)));
        }
    }

    pub(super) fn read(&self) -> (Vec<T>, bool) {
        let memory = self.memory();
        (memory.values.clone(), memory.is_torn)
    }

    /// Begins to make durable what was written, where that does not hold up other tasks.
    pub(super) fn sync(self: &Arc<Self>) -> Syncing {
        if self.disk.is_none() {
            return Syncing::Done(Ok(()));
        }
        match Handle::try_current() {
            Ok(runtime) => {
                let this = Arc::clone(self);
                Syncing::Elsewhere(runtime.spawn_blocking(move || this.save(To::Disk)))
            }
            // There are no other tasks.
            Err(_) => Syncing::Done(self.save(To::Disk)),
        }
    }

    fn save(&self, to: To) -> Result<(), String> {
        let Some(disk) = &self.disk else { return Ok(()) };
        let mut file = lock(&disk.file);
        // Taken while the file is held, so that nobody writes later records first.
        let unsaved = std::mem::take(&mut self.memory().unsaved);
        let saved = match &mut *file {
            Ok(Kind::Log(log)) => log.append(&unsaved).and_then(|()| if to == To::Disk { log.sync() } else { Ok(()) }),
            Ok(Kind::Cell(cell)) => unsaved.last().map_or(Ok(()), |value| cell.replace(value)),
            Err(before) => return Err(before.clone()),
        };
        saved.map_err(|error| {
            let told = disk.failure(&error);
            *file = Err(told.clone());
            told
        })
    }
}

impl Disk {
    fn failure(&self, error: &io::Error) -> String {
        format!(
            "the store in {} cannot be written: {error}; what was not synced before may be lost, and nothing more is stored until the process is started again",
            self.path.display()
        )
    }
}

#[track_caller]
fn encode<T: Stored>(value: &T, disk: &Disk) -> Vec<u8> {
    let (path, name) = (disk.path.display(), type_name::<T>());
    let encoded =
        postcard::to_allocvec(value).unwrap_or_else(|error| panic!("{path}: a {name} has no encoding: {error}"));
    assert!(
        encoded.len() <= STORED_BYTES_MAX,
        "{path}: a {name} of more than {STORED_BYTES_MAX} bytes is too large to store"
    );
    encoded
}

fn decode<T: Stored>(payload: &[u8]) -> Result<T, String> {
    match postcard::take_from_bytes(payload) {
        Ok((value, [])) => Ok(value),
        Ok(_) | Err(_) => Err(format!(
            "holds something that is no {}: open it with the type it was written with, or convert it",
            type_name::<T>()
        )),
    }
}

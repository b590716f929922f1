//! Durable storage of a node: a cell that holds a value, a log that is appended to.
//!
//! What is written may be lost in a crash until it was synced. A store is opened by its name: the same name on the same node, also
//! after it has started again, is the same store. Every operation is a scheduling point, so that a crash can come between any two.
//!
//! Outside a controlled execution a store is one of the operating system's process, for each node and name. It lives in memory,
//! unless [`keep_in`] names a directory: then what was synced survives the process and the machine.
//!
//! # On disk
//!
//! A store is read from its file when it is first opened in a process, by the thread that opens it, and stays in memory. A write is in
//! memory when its future completes. Records of a log go to the operating system soon after; a cell is written by its sync.
//! [`Log::sync`] and [`Cell::sync`] complete when the disk has it (`fdatasync`; for a cell: a new file, synced and renamed); other
//! tasks go on meanwhile. A value is encoded by serde in a compact format that has no field names: to change a type is to convert
//! the file.
//!
//! What a kill or a loss of power leaves of a last record that was not synced is found and overwritten; [`Log::with_torn_records`] tells that it
//! is there. What no crash can leave is damage, and is never passed over.
//!
//! Operations return plain values, in a test and on disk. Where the disk fails they panic, with the file and what to do: `open` if the file
//! cannot be read, is damaged or holds another type; the future of `sync` if something could not be written, now or earlier. After that no
//! sync of this store succeeds until the process is started again.

#[cfg_attr(not(feature = "controlled"), path = "../plain/storage.rs")]
mod controlled;
mod deployed;
mod file;
mod handle;
mod place;

use super::payload::Payload;
use crate::world::words::Keeps;
use handle::{Asking, Contents, Handle};
pub use place::{KeepError, keep_in};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    fmt,
    future::Future,
    panic::Location,
    pin::Pin,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{self, Poll},
};

/// What can be stored: has a copy in memory and an encoding on disk. Every type that could be is.
pub trait Stored: Clone + Send + Sync + Serialize + DeserializeOwned + 'static {}

impl<T: Clone + Send + Sync + Serialize + DeserializeOwned + 'static> Stored for T {}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A name stands for one thing.
#[track_caller]
fn opened_as_another(name: &str) -> ! {
    panic!("the store {name:?} is already open as another kind of store, or with another type")
}

/// A cell: holds the value written last.
///
/// ```
/// # use delay_core::api::storage::Cell;
/// async fn vote(term: u64) -> bool {
///     let voted = Cell::<u64>::open("voted");
///     if voted.read().await >= Some(term) {
///         return false;
///     }
///     voted.write(term).await;
///     // Without this a crash could make it vote twice.
///     voted.sync().await;
///     true
/// }
/// ```
pub struct Cell<T>(Handle<T>);

impl<T> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").finish_non_exhaustive()
    }
}

impl<T: Stored> Cell<T> {
    /// Opens the cell with this name on the node of the running task.
    ///
    /// # Panics
    /// If it was opened as something else: as a log, or with another type. If it is on disk and its file cannot be opened: see the
    /// [module](self).
    #[track_caller]
    pub fn open(name: &str) -> Self {
        Self::with_payload(name, Payload::opaque())
    }

    /// Opens a cell, and says what the engine may know of its values.
    ///
    /// # Panics
    /// As [`Cell::open`].
    #[track_caller]
    pub fn with_payload(name: &str, payload: Payload<T>) -> Self {
        Self(Handle::open(name, Keeps::Last, payload))
    }

    /// Writes a value. Not durable before [`Cell::sync`].
    #[track_caller]
    pub fn write(&self, value: T) -> Write<T> {
        Write(self.0.write(value, Location::caller()))
    }

    /// Makes what was written durable.
    ///
    /// # Panics
    /// The future: if it is on disk and its file could not be written.
    #[track_caller]
    pub fn sync(&self) -> Write<T> {
        Write(self.0.sync(Location::caller()))
    }

    /// Reads the value, durable or not; none if nothing was ever written.
    #[track_caller]
    pub fn read(&self) -> ReadCell<T> {
        ReadCell(self.0.read(Location::caller()))
    }
}

/// A log: holds all values that were appended.
///
/// ```
/// # use delay_core::api::storage::Log;
/// async fn recover() -> Vec<String> {
///     let log = Log::<String>::open("updates");
///     log.append("x = 1".to_owned()).await;
///     log.sync().await;
///     log.read().await.records
/// }
/// ```
pub struct Log<T>(Handle<T>);

impl<T> fmt::Debug for Log<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").finish_non_exhaustive()
    }
}

/// What a log holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Records<T> {
    /// The records, in the order in which they were appended.
    pub records: Vec<T>,
    /// Half a record follows: a crash came while it was written. It is gone with the next append.
    pub is_torn: bool,
}

impl<T: Stored> Log<T> {
    /// Opens the log with this name on the node of the running task. A crash loses whole records, from the end.
    ///
    /// # Panics
    /// If it was opened as something else: as a cell, as a log with torn records, or with another type. If it is on disk and its file
    /// cannot be opened: see the [module](self).
    #[track_caller]
    pub fn open(name: &str) -> Self {
        Self::with_payload(name, Payload::opaque())
    }

    /// Opens a log, and says what the engine may know of its records.
    ///
    /// # Panics
    /// As [`Log::open`].
    #[track_caller]
    pub fn with_payload(name: &str, payload: Payload<T>) -> Self {
        Self(Handle::open(name, Keeps::All { torn: false }, payload))
    }

    /// Opens a log of which a crash may leave half a record.
    ///
    /// # Panics
    /// As [`Log::open`].
    #[track_caller]
    pub fn with_torn_records(name: &str, payload: Payload<T>) -> Self {
        Self(Handle::open(name, Keeps::All { torn: true }, payload))
    }

    /// Appends a record. Not durable before [`Log::sync`].
    #[track_caller]
    pub fn append(&self, record: T) -> Write<T> {
        Write(self.0.write(record, Location::caller()))
    }

    /// Makes what was appended durable.
    ///
    /// # Panics
    /// The future: if it is on disk and its file could not be written.
    #[track_caller]
    pub fn sync(&self) -> Write<T> {
        Write(self.0.sync(Location::caller()))
    }

    /// Reads all records, durable or not.
    #[track_caller]
    pub fn read(&self) -> ReadLog<T> {
        ReadLog(self.0.read(Location::caller()))
    }
}

/// Future of [`Cell::write`], [`Log::append`] and the two `sync`.
#[must_use = "futures do nothing unless awaited"]
pub struct Write<T>(Asking<T>);

impl<T: Stored> Future for Write<T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        self.0.poll(cx).map(|_| ())
    }
}

/// Future of [`Cell::read`].
#[must_use = "futures do nothing unless awaited"]
pub struct ReadCell<T>(Asking<T>);

impl<T: Stored> Future for ReadCell<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Option<T>> {
        self.0.poll(cx).map(|contents| contents.values.into_iter().next_back())
    }
}

/// Future of [`Log::read`].
#[must_use = "futures do nothing unless awaited"]
pub struct ReadLog<T>(Asking<T>);

impl<T: Stored> Future for ReadLog<T> {
    type Output = Records<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Records<T>> {
        self.0.poll(cx).map(|Contents { values, is_torn }| Records { records: values, is_torn })
    }
}

macro_rules! debug {
    ($($future:ident)*) => {$(
        impl<T> fmt::Debug for $future<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($future)).finish_non_exhaustive()
            }
        }
    )*};
}
debug!(Write ReadCell ReadLog);

#[cfg(test)]
mod tests;

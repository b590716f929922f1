//! Recordings: what a production run announced and sent, in a file a process, to be checked against the monitors later.
//!
//! A [`Vocabulary`] gives the types of events and messages names that last. [`start`] records them; [`check`] reads the files of all
//! processes of a run, merges them by their clocks (`clock.rs`) and tells the monitors of an [`Observer`]. `docs/recording-format.md` is about
//! the files.
//!
//! Source: PObserve of P, which checks the logs of services against specifications.
//!
//! Invariant: inside a controlled execution nothing is recorded.

mod check;
pub(crate) mod clock;
mod line;
mod merge;
mod vocabulary;
mod writer;

use super::{
    backend,
    monitor::{
        self, RECORDED,
        ear::{Told, short_type_name},
    },
    net::{Address, Network},
};
pub use check::{Checked, Extent, Happened, Observer, Verdict, Violation, check};
use line::Line;
pub use merge::{Gap, Lack, Unreadable};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use std::{
    any::{Any, TypeId},
    borrow::Cow,
    fmt, io,
    path::{Path, PathBuf},
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};
use vocabulary::written;
pub use vocabulary::{Received, Sent, Vocabulary};
use writer::Writer;

/// Begins to record what this process announces, as far as the vocabulary has names for it, into a file.
///
/// A file that is there already is gone on with: it then holds several recordings, one for each start of the process, and a line that was
/// torn when the process was killed stays recognisable. Messages are recorded of the networks given to [`Recording::network`].
///
/// Announcing waits for no disk: lines are written by a thread. Past 8 MiB that wait to be written they are lost, and their number is recorded.
///
/// ```
/// use delay_core::api::{
///     monitor::announce,
///     record::{self, Vocabulary},
/// };
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, Debug)]
/// enum Said {
///     Asked,
///     Answered,
/// }
///
/// /// Also for who checks the recording.
/// fn vocabulary() -> Vocabulary {
///     Vocabulary::new().event::<Said>("said")
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("alpha.jsonl");
/// let recording = record::start(&path, "alpha", vocabulary())?;
/// announce(Said::Asked);
/// announce(Said::Answered);
/// assert_eq!(recording.finish()?.lines, 4, "with the first line and the last");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If the file cannot be written, another process records into it, or this one records already.
///
/// # Panics
/// Inside a test, where nothing is recorded.
pub fn start(path: impl AsRef<Path>, process: &str, vocabulary: Vocabulary) -> Result<Recording, Unrecorded> {
    let path = path.as_ref();
    let unrecorded = |error| Unrecorded { path: path.to_owned(), error };
    assert!(
        !backend::is_controlled(),
        "nothing is recorded inside a test, whose traces hold what happened: start a recording in main"
    );
    let mut active = active_mut();
    if active.is_some() {
        return Err(unrecorded(io::Error::other("this process records already: finish that recording first")));
    }
    let writer = Writer::start(path, process).map_err(unrecorded)?;
    let new = Arc::new(Active { writer, vocabulary, has_met_nameless: AtomicBool::new(false) });
    *active = Some(Arc::clone(&new));
    monitor::listens(RECORDED);
    Ok(Recording { path: path.to_owned(), active: Some(new) })
}

/// The recording of this process.
static ACTIVE: RwLock<Option<Arc<Active>>> = RwLock::new(None);

struct Active {
    writer: Writer,
    vocabulary: Vocabulary,
    /// Whether it was said that something without a name is not recorded.
    has_met_nameless: AtomicBool,
}

fn active() -> Option<Arc<Active>> {
    ACTIVE.read().unwrap_or_else(PoisonError::into_inner).clone()
}

fn active_mut() -> std::sync::RwLockWriteGuard<'static, Option<Arc<Active>>> {
    ACTIVE.write().unwrap_or_else(PoisonError::into_inner)
}

/// What this process records, until this is dropped or [finished](Self::finish).
#[must_use = "the recording ends when this is dropped"]
pub struct Recording {
    path: PathBuf,
    /// None once it is over.
    active: Option<Arc<Active>>,
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording").field("path", &self.path).finish_non_exhaustive()
    }
}

/// What a recording holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recorded {
    /// Lines written since it was started, the first and the last included.
    pub lines: u64,
    /// Events and messages that found no room while the disk was slow.
    pub lost: u64,
}

impl Recording {
    /// Records the messages of a network too: when they are sent, and when they are received.
    ///
    /// # Panics
    /// If the vocabulary has no name for them.
    #[track_caller]
    pub fn network<M: Serialize + DeserializeOwned + 'static>(&self, network: &Network<M>) {
        let Some(active) = &self.active else { return };
        let Some(name) = active.vocabulary.name_of_messages(TypeId::of::<M>()) else {
            let message = short_type_name::<M>();
            panic!("messages of type {message} have no name: call .messages::<{message}>(\"..\") of the vocabulary");
        };
        network.record_as(Wording { name, write: |message| written(message) });
    }

    /// Ends the recording: waits until all of it is on disk.
    ///
    /// # Errors
    /// If some of it could not be written, by the first error.
    pub fn finish(mut self) -> Result<Recorded, Unrecorded> {
        self.end()
    }

    fn end(&mut self) -> Result<Recorded, Unrecorded> {
        let Some(active) = self.active.take() else { return Ok(Recorded { lines: 0, lost: 0 }) };
        monitor::listens_no_more(RECORDED);
        *active_mut() = None;
        active.writer.end().map_err(|error| Unrecorded { path: self.path.clone(), error })
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::error!("{error}");
        }
    }
}

/// A recording could not be started or written.
#[derive(Debug)]
pub struct Unrecorded {
    path: PathBuf,
    error: io::Error,
}

impl fmt::Display for Unrecorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, error } = self;
        write!(f, "cannot record into {}: {error}", path.display())
    }
}

impl std::error::Error for Unrecorded {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// An event on its way into the recording.
pub(super) struct Prepared {
    active: Arc<Active>,
    name: &'static str,
    data: serde_json::Result<Box<RawValue>>,
}

/// Makes text of an event, if it is to be recorded.
pub(super) fn prepare(event: &dyn Told) -> Option<Prepared> {
    if !monitor::is_heard(RECORDED) {
        return None;
    }
    let active = active()?;
    let any: &dyn Any = event;
    if let Some((name, data)) = active.vocabulary.write(any) {
        return Some(Prepared { active, name, data });
    }
    if !active.has_met_nameless.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            ?event,
            "an event without a name in the vocabulary is not recorded, nor are others of such types"
        );
    }
    None
}

/// Records it.
pub(super) fn put(prepared: Option<Prepared>) {
    if let Some(Prepared { active, name, data }) = prepared {
        active.put(name, data.as_deref(), |name, data| Line::Event { name, data });
    }
}

impl Active {
    fn put<'a>(
        &self,
        name: &'static str,
        data: Result<&'a RawValue, &serde_json::Error>,
        line: impl FnOnce(Cow<'static, str>, &'a RawValue) -> Line<'a>,
    ) {
        let name = Cow::Borrowed(name);
        match data {
            // Text that was passed on as it stood may hold what JSON allows between its parts.
            Ok(data) if data.get().contains('\n') => {
                self.writer.put(Line::Unwritable { name, why: "its text has more than one line".into() });
            }
            Ok(data) => self.writer.put(line(name, data)),
            Err(error) => self.writer.put(Line::Unwritable { name, why: error.to_string().into() }),
        }
    }
}

/// How the messages of a network are recorded.
pub(super) struct Wording<M> {
    name: &'static str,
    write: fn(&M) -> serde_json::Result<Box<RawValue>>,
}

impl<M> Clone for Wording<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Wording<M> {}

/// What happens to a message.
#[derive(Debug, Clone, Copy)]
pub(super) enum Travel {
    Sent,
    Received,
}

/// Records a message, if there is a recording and its network is part of it.
#[inline]
pub(super) fn message<M>(travel: Travel, wording: Option<Wording<M>>, from: Address, to: Address, message: &M) {
    if let Some(wording) = wording
        && monitor::is_heard(RECORDED)
    {
        record_message(travel, wording, from, to, message);
    }
}

#[cold]
fn record_message<M>(travel: Travel, wording: Wording<M>, from: Address, to: Address, message: &M) {
    let Some(active) = active() else { return };
    let data = (wording.write)(message);
    let (from, to) = (Cow::Borrowed(from.name()), Cow::Borrowed(to.name()));
    active.put(wording.name, data.as_deref(), |name, data| Line::Message { travel, name, from, to, data });
}

//! Checkpoints: a long search is saved to a file now and then, and a later run goes on from it.
//!
//! Invariants:
//! - A file holds all of a checkpoint or all of the one before it; a search that was stopped or killed leaves one of the two.
//! - A checkpoint is gone on from only by the search that it is of: the same test of the same binary, the same settings but for how far to
//!   search, the same shard. Nothing else is guessed, and no file that is not understood is overwritten.
//! - The program is compared twice: by its binary before anything runs, and by the states its paths come to.

mod format;
#[cfg(test)]
mod tests;

use crate::{
    coverage::Coverage,
    protocol::Shard,
    search::{Reduction, saved::Saved},
    trace::{TestName, pin},
    world::premises::Premises,
};
pub(super) use format::{FormatError, Head};
use std::{
    collections::BTreeMap,
    env, fmt, io,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// Settings that may be others when a search goes on: how far, and for how long.
const FREE: [&str; 4] = ["budget", "max_cache", "max_delays", "max_states"];

/// Where searches are to be saved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// A file a test lies below it.
    pub(super) directory: PathBuf,
    /// How often.
    pub(super) every: Duration,
    /// What to do with what lies there.
    pub(super) found: Found,
}

/// What to do with a checkpoint that lies where one is to be saved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// It is gone on from; without one, the search begins.
    Resumed,
    /// It is an error: a search that took long is not to be lost by a mistake.
    Refused,
}

/// What a checkpoint must be of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Subject {
    pub(super) test: TestName,
    pub(super) settings: BTreeMap<String, String>,
    pub(super) shard: Shard,
}

/// The checkpoint of a search.
#[derive(Debug)]
pub(super) struct Checkpoint {
    pub(super) path: PathBuf,
    pub(super) every: Duration,
    head: Head,
    /// What lay there, until a search goes on from it.
    found: Mutex<Option<(Premises, Saved)>>,
    /// Why it could not be saved the last time.
    problem: Mutex<Option<io::Error>>,
}

impl Checkpoint {
    /// Looks at what lies there, and makes sure that something can be saved.
    ///
    /// # Errors
    /// It cannot be gone on from, or nothing can be saved there.
    pub(super) fn open(place: &Place, subject: &Subject) -> Result<Self, CheckpointError> {
        let path = place.directory.join(&subject.test.package).join(file_name(subject));
        let at = |kind| CheckpointError { path: path.clone(), kind };
        let found = match (place.found, path.exists()) {
            (Found::Refused, true) => return Err(at(Kind::Exists)),
            (Found::Refused | Found::Resumed, false) => None,
            (Found::Resumed, true) => Some(format::load(&path).map_err(|error| at(Kind::Format(error)))?),
        };
        let binary = format::Binary::own().map_err(|error| at(Kind::Binary(error)))?;
        let head = Head::of(subject, binary);
        if let Some((then, _, _)) = &found {
            is_of(then, &head).map_err(at)?;
        }
        let found = found.map(|(_, premises, saved)| (premises, saved));
        // Made for the sake of its directory, and gone at once.
        pin::beside(&path).map_err(|error| at(Kind::Write(error)))?;
        let (found, problem) = (Mutex::new(found), Mutex::new(None));
        Ok(Self { path, every: place.every, head, found, problem })
    }

    /// What a person has to know before the search.
    pub(super) fn greeting(&self, place: &Place) -> Option<String> {
        let path = self.path.display();
        match (place.found, self.is_resumed()) {
            (Found::Resumed, true) => Some(format!("goes on from the checkpoint {path}")),
            (Found::Resumed, false) => Some(format!("begins: there is no checkpoint {path} yet")),
            (Found::Refused, _) => None,
        }
    }

    /// Whether there is something to go on from.
    pub(super) fn is_resumed(&self) -> bool {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// What to go on from, once.
    pub(super) fn take(&self) -> Option<(Premises, Saved)> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Saves a search.
    pub(super) fn save(&self, premises: Premises, saved: &Saved) {
        let problem = format::save(&self.path, &self.head, premises, saved).err();
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }

    /// What a person has to know after the search.
    pub(super) fn warning(&self, coverage: &Coverage) -> Option<String> {
        let path = self.path.display();
        let why = match (&coverage.lassos, coverage.reduction) {
            (Some(_), _) => Some("a monitor can be hot, and what was looked at for loops is not saved"),
            (None, Reduction::Dpor) => Some("what a search with a reduction has visited is not saved"),
            (None, Reduction::None) => None,
        };
        if let Some(why) = why {
            return Some(format!("no checkpoint was saved: {why}"));
        }
        let problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        problem.as_ref().map(|error| format!("the last checkpoint could not be saved to {path}: {error}"))
    }
}

/// `crate__test.checkpoint`, or `crate__test.2-of-4.checkpoint`.
fn file_name(subject: &Subject) -> String {
    let shard = match subject.shard {
        Shard::WHOLE => String::new(),
        shard => format!(".{}-of-{}", shard.number(), shard.of()),
    };
    format!("{}{shard}.checkpoint", pin::file_stem(&subject.test))
}

/// Whether a checkpoint is of this search.
fn is_of(then: &Head, now: &Head) -> Result<(), Kind> {
    let other = |what: &str, then: String, now: String| Err(Kind::Other { what: what.to_owned(), then, now });
    if then.test != now.test {
        return other("the test", then.test.join("::"), now.test.join("::"));
    }
    if then.shard != now.shard {
        return other("the shard", then.shard.to_string(), now.shard.to_string());
    }
    let names = then.settings.keys().chain(now.settings.keys()).filter(|name| !FREE.contains(&name.as_str()));
    let value = |head: &Head, name: &String| head.settings.get(name).map_or("not set", String::as_str).to_owned();
    for name in names {
        let (was, is) = (value(then, name), value(now, name));
        if was != is {
            return other(&format!("the setting {name}"), was, is);
        }
    }
    if then.binary == now.binary { Ok(()) } else { Err(Kind::OtherProgram) }
}

/// A checkpoint that cannot be used.
#[derive(Debug)]
pub(super) struct CheckpointError {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// There is one, and nobody said to go on from it.
    Exists,
    /// It cannot be read.
    Format(FormatError),
    /// None can be written.
    Write(io::Error),
    /// The test binary cannot be read.
    Binary(io::Error),
    /// It is of another search.
    Other { what: String, then: String, now: String },
    /// It is of another binary.
    OtherProgram,
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.kind {
            Kind::Exists => write!(
                f,
                "there is a checkpoint of this test already: {path}\n  --resume (DELAY_RESUME=1) goes on from it; to begin anew, remove it"
            ),
            Kind::Format(error) => write!(f, "cannot go on from the checkpoint {path}: {error}"),
            Kind::Write(error) => write!(f, "cannot save a checkpoint to {path}: {error}"),
            Kind::Binary(error) => {
                write!(f, "cannot save a checkpoint to {path}: the test binary cannot be read: {error}")
            }
            Kind::Other { what, then, now } => write!(
                f,
                "the checkpoint {path} is of another search: {what} was {then}, now it is {now}\n  search with what it was, or remove the file to begin anew"
            ),
            Kind::OtherProgram => write!(
                f,
                "the test binary is another one than when the checkpoint {path} was saved: what was visited then says nothing of it\n  go on with that binary, or remove the file to begin anew"
            ),
        }
    }
}

impl std::error::Error for CheckpointError {}

/// The directory of a place that was given as text; a relative one is below the present directory.
pub(super) fn directory(text: &str) -> PathBuf {
    env::current_dir().map_or_else(|_| PathBuf::from(text), |here| here.join(text))
}

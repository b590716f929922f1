//! Why a task has no result.

use super::handle::Id;
use std::{
    any::Any,
    fmt,
    sync::{Mutex, PoisonError},
};

enum Kind {
    Cancelled,
    /// In a mutex only because the payload is not `Sync`, and the error has to be.
    Panicked(Mutex<Box<dyn Any + Send + 'static>>),
}

/// Why a task has no result, as tokio's.
pub struct JoinError {
    kind: Kind,
    id: Id,
}

impl JoinError {
    pub(super) fn cancelled(id: Id) -> Self {
        Self { kind: Kind::Cancelled, id }
    }

    pub(super) fn from_tokio(error: tokio::task::JoinError) -> Self {
        let id = Id::of_tokio(error.id());
        let kind = error.try_into_panic().map_or(Kind::Cancelled, |payload| Kind::Panicked(Mutex::new(payload)));
        Self { kind, id }
    }

    /// Whether the task was aborted.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.kind, Kind::Cancelled)
    }

    /// Whether the task panicked. Never within a controlled execution: there a panic is the violation.
    pub fn is_panic(&self) -> bool {
        matches!(self.kind, Kind::Panicked(_))
    }

    /// The panic's payload.
    ///
    /// # Panics
    /// If the task did not panic.
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        self.try_into_panic().expect("`JoinError` reason is not a panic.")
    }

    /// The panic's payload.
    ///
    /// # Errors
    /// This error, if the task did not panic.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send + 'static>, Self> {
        match self.kind {
            Kind::Panicked(payload) => Ok(payload.into_inner().unwrap_or_else(PoisonError::into_inner)),
            Kind::Cancelled => Err(self),
        }
    }

    /// Which task it was.
    pub fn id(&self) -> Id {
        self.id.seen()
    }
}

impl JoinError {
    /// What a panic said, if it was a text.
    fn message(&self) -> Option<String> {
        let Kind::Panicked(payload) = &self.kind else { return None };
        let payload = payload.lock().unwrap_or_else(PoisonError::into_inner);
        let text = payload.downcast_ref::<&str>().map(ToString::to_string);
        text.or_else(|| payload.downcast_ref::<String>().cloned())
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.kind, self.message()) {
            (Kind::Cancelled, _) => write!(f, "JoinError::Cancelled({:?})", self.id),
            (Kind::Panicked(_), Some(message)) => write!(f, "JoinError::Panic({:?}, {message:?}, ...)", self.id),
            (Kind::Panicked(_), None) => write!(f, "JoinError::Panic({:?}, ...)", self.id),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.kind, self.message()) {
            (Kind::Cancelled, _) => write!(f, "task {} was cancelled", self.id),
            (Kind::Panicked(_), Some(message)) => write!(f, "task {} panicked with message {message:?}", self.id),
            (Kind::Panicked(_), None) => write!(f, "task {} panicked", self.id),
        }
    }
}

impl std::error::Error for JoinError {}

impl From<JoinError> for std::io::Error {
    fn from(error: JoinError) -> Self {
        Self::other(match error.kind {
            Kind::Cancelled => "task was cancelled",
            Kind::Panicked(_) => "task panicked",
        })
    }
}

//! A value that is set once and waited for. Mirrors `tokio::sync::SetOnce`.
//!
//! Made of a watched flag whose version says who has set the value. Waiting is an awaited op; everything else is
//! immediate.
//!
//! Not there: `const_new`.

use super::watch;
use crate::api::{
    backend::{self, Side},
    payload::Payload,
};
use std::{fmt, future::Future, panic::Location, sync::OnceLock};
use tokio::sync as theirs;
pub use tokio::sync::SetOnceError;

/// A value that is set once and waited for.
///
/// ```
/// # use delay_core::api::sync::SetOnce;
/// async fn body() {
///     let once = SetOnce::new();
///     once.set(1).expect("it was not set before");
///     assert_eq!(*once.wait().await, 1);
/// }
/// ```
pub struct SetOnce<T> {
    inner: Side<Cell<T>, theirs::SetOnce<T>>,
}

/// A cell of a controlled execution.
struct Cell<T> {
    value: OnceLock<T>,
    /// Opaque: its version tells apart who has set the value, after having seen what.
    is_set: watch::Sender<bool>,
    /// Never looks, so that its clones see whether the value was set.
    unseen: watch::Receiver<bool>,
}

impl<T> Cell<T> {
    #[track_caller]
    fn get(&self) -> Option<&T> {
        let is_set = *self.is_set.borrow();
        if is_set { self.value.get() } else { None }
    }

    #[track_caller]
    fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        if *self.is_set.borrow() {
            return Err(SetOnceError(value));
        }
        if self.value.set(value).is_err() {
            crate::bug!("a value is set twice");
        }
        self.is_set.send_modify(|is_set| *is_set = true);
        Ok(())
    }
}

impl<T> SetOnce<T> {
    /// Nothing is set yet.
    #[track_caller]
    pub fn new() -> Self {
        let inner = if backend::is_controlled() {
            let is_set = watch::Sender::part_of(false, Payload::opaque(), "setonce");
            let unseen = is_set.subscribe().part_of();
            Side::Controlled(Cell { value: OnceLock::new(), is_set, unseen })
        } else {
            Side::Tokio(theirs::SetOnce::new())
        };
        Self { inner }
    }

    /// With a value, if there is one.
    #[track_caller]
    pub fn new_with(value: Option<T>) -> Self {
        let once = Self::new();
        if let Some(value) = value
            && once.set(value).is_err()
        {
            crate::bug!("a new one has a value");
        }
        once
    }

    /// Whether there is a value. An observation.
    #[track_caller]
    pub fn initialized(&self) -> bool {
        match &self.inner {
            Side::Controlled(cell) => *cell.is_set.borrow(),
            Side::Tokio(once) => once.initialized(),
        }
    }

    /// The value, if there is one. An observation.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        match &self.inner {
            Side::Controlled(cell) => cell.get(),
            Side::Tokio(once) => once.get(),
        }
    }

    /// Sets the value: immediate.
    ///
    /// # Errors
    /// The value, if there is one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        match &self.inner {
            Side::Controlled(cell) => cell.set(value),
            Side::Tokio(once) => once.set(value),
        }
    }

    /// Waits for the value. A scheduling point.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = &T> + use<'_, T> {
        let site = Location::caller();
        async move {
            match &self.inner {
                Side::Controlled(cell) => {
                    if cell.unseen.clone().into_change(site).await.is_err() {
                        crate::bug!("a cell is gone while somebody waits for it");
                    }
                    cell.get().unwrap_or_else(|| crate::bug!("it was set"))
                }
                Side::Tokio(once) => once.wait().await,
            }
        }
    }

    /// The value, if there is one.
    pub fn into_inner(self) -> Option<T> {
        match self.inner {
            Side::Controlled(cell) => cell.value.into_inner(),
            Side::Tokio(once) => once.into_inner(),
        }
    }
}

impl<T> Default for SetOnce<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone> Clone for SetOnce<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for SetOnce<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for SetOnce<T> {}

impl<T> From<T> for SetOnce<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new_with(Some(value))
    }
}

impl<T: fmt::Debug> fmt::Debug for SetOnce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetOnce").field("value", &self.get()).finish()
    }
}

//! A value that is computed once. Mirrors `tokio::sync::OnceCell`.
//!
//! Made of a semaphore with one permit, for whoever computes the value, and a watched flag whose version says who has.
//! Waiting for somebody else's computation is an awaited op; everything else is immediate.
//!
//! Not there: `const_new`.

use super::{Semaphore, TryAcquireError, watch};
use crate::api::{
    backend::{self, Side},
    payload::Payload,
};
use std::{convert::Infallible, fmt, future::Future, sync::OnceLock};
use tokio::sync as theirs;
pub use tokio::sync::SetError;

/// A value that is computed once, by the first task that asks for it.
///
/// ```
/// # use delay_core::api::sync::OnceCell;
/// async fn body() {
///     let cell = OnceCell::new();
///     assert_eq!(*cell.get_or_init(|| async { 1 }).await, 1);
///     assert_eq!(*cell.get_or_init(|| async { 2 }).await, 1);
/// }
/// ```
pub struct OnceCell<T> {
    inner: Side<Cell<T>, theirs::OnceCell<T>>,
}

/// A cell of a controlled execution.
struct Cell<T> {
    value: OnceLock<T>,
    /// Opaque: its version tells apart who has set the value, after having seen what.
    is_set: watch::Sender<bool>,
    /// Closed once the value is set.
    turn: Semaphore,
}

impl<T> Cell<T> {
    fn new(value: Option<T>) -> Self {
        let is_set = watch::Sender::part_of(value.is_some(), Payload::opaque(), "oncecell");
        let turn = Semaphore::new(1);
        if value.is_some() {
            turn.close();
        }
        let cell = Self { value: OnceLock::new(), is_set, turn };
        if let Some(value) = value {
            cell.fill(value);
        }
        cell
    }

    #[track_caller]
    fn get(&self) -> Option<&T> {
        let is_set = *self.is_set.borrow();
        if is_set { self.value.get() } else { None }
    }

    fn fill(&self, value: T) {
        if self.value.set(value).is_err() {
            crate::bug!("a cell is set twice");
        }
    }

    /// Sets the value on behalf of whoever has the permit.
    #[track_caller]
    fn complete(&self, value: T) -> &T {
        self.fill(value);
        self.is_set.send_modify(|is_set| *is_set = true);
        self.turn.close();
        self.value.get().unwrap_or_else(|| crate::bug!("it was just set"))
    }

    #[track_caller]
    fn set(&self, value: T) -> Result<(), SetError<T>> {
        if *self.is_set.borrow() {
            return Err(SetError::AlreadyInitializedError(value));
        }
        match self.turn.try_acquire() {
            Ok(_permit) => {
                self.complete(value);
                Ok(())
            }
            Err(TryAcquireError::NoPermits) => Err(SetError::InitializingError(value)),
            Err(TryAcquireError::Closed) => Err(SetError::AlreadyInitializedError(value)),
        }
    }

    async fn get_or_try_init<E, F, Fut>(&self, init: F) -> Result<&T, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        if let Some(value) = self.get() {
            return Ok(value);
        }
        match self.turn.acquire().await {
            // Dropped before it is over, or in error, it lets the next one in.
            Ok(_permit) => Ok(self.complete(init().await?)),
            Err(_) => Ok(self.get().unwrap_or_else(|| crate::bug!("a cell is closed before it is set"))),
        }
    }
}

impl<T> OnceCell<T> {
    /// An empty cell.
    #[track_caller]
    pub fn new() -> Self {
        Self::new_with(None)
    }

    /// A cell with a value, if there is one.
    #[track_caller]
    pub fn new_with(value: Option<T>) -> Self {
        let inner = if backend::is_controlled() {
            Side::Controlled(Cell::new(value))
        } else {
            Side::Tokio(theirs::OnceCell::new_with(value))
        };
        Self { inner }
    }

    /// Whether there is a value. An observation.
    #[track_caller]
    pub fn initialized(&self) -> bool {
        match &self.inner {
            Side::Controlled(cell) => *cell.is_set.borrow(),
            Side::Tokio(cell) => cell.initialized(),
        }
    }

    /// The value, if there is one. An observation.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        match &self.inner {
            Side::Controlled(cell) => cell.get(),
            Side::Tokio(cell) => cell.get(),
        }
    }

    /// The value, of a cell that nobody else has.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        match &mut self.inner {
            Side::Controlled(cell) => cell.value.get_mut(),
            Side::Tokio(cell) => cell.get_mut(),
        }
    }

    /// Sets the value: immediate.
    ///
    /// # Errors
    /// The value, if there is one already, or somebody is computing it.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        match &self.inner {
            Side::Controlled(cell) => cell.set(value),
            Side::Tokio(cell) => cell.set(value),
        }
    }

    /// The value, computed first if there is none. A scheduling point if there is none.
    pub async fn get_or_init<F, Fut>(&self, init: F) -> &T
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = T>,
    {
        match &self.inner {
            Side::Controlled(cell) => match cell.get_or_try_init(async || Ok::<T, Infallible>(init().await)).await {
                Ok(value) => value,
                Err(never) => match never {},
            },
            Side::Tokio(cell) => cell.get_or_init(init).await,
        }
    }

    /// The value, computed first if there is none. A scheduling point if there is none.
    ///
    /// # Errors
    /// If it cannot be computed; then the next one may try.
    pub async fn get_or_try_init<E, F, Fut>(&self, init: F) -> Result<&T, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        match &self.inner {
            Side::Controlled(cell) => cell.get_or_try_init(init).await,
            Side::Tokio(cell) => cell.get_or_try_init(init).await,
        }
    }

    /// The value, if there is one.
    pub fn into_inner(self) -> Option<T> {
        match self.inner {
            Side::Controlled(cell) => cell.value.into_inner(),
            Side::Tokio(cell) => cell.into_inner(),
        }
    }

    /// Takes the value out: the cell is empty again.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }
}

impl<T> Default for OnceCell<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone> Clone for OnceCell<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for OnceCell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceCell<T> {}

impl<T> From<T> for OnceCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new_with(Some(value))
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceCell").field("value", &self.get()).finish()
    }
}

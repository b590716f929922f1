//! A lock for one task at a time. Mirrors `tokio::sync::Mutex`.
//!
//! Locking is an awaited op, served in order; trying, and dropping a guard, are immediate. What a task sees behind the
//! lock is told apart by who wrote it after having seen what, or by content where a [`Payload`] gives it.
//!
//! Not there: `const_new`, values without a size, and the way from a guard back to its lock.

use super::{
    guard::{Access, Control, Grant, Guarded, granted, guard_maps, guard_type, guard_writes, lock_type, refused},
    permits::Held,
};
use crate::{
    api::{
        backend::{self, Side},
        payload::Payload,
    },
    world::op::Site,
};
use std::{
    fmt,
    ops::{Deref, DerefMut},
    panic::Location,
    sync::Arc,
};
use tokio::sync as theirs;
pub use tokio::sync::TryLockError;

/// A value for one task at a time.
///
/// ```
/// # use delay_core::api::sync::Mutex;
/// async fn body() {
///     let mutex = Mutex::new(1);
///     *mutex.lock().await += 1;
///     assert_eq!(mutex.into_inner(), 2);
/// }
/// ```
pub struct Mutex<T> {
    control: Control<T>,
    value: Arc<theirs::Mutex<T>>,
}

guard_type! {
    /// The value of a locked [`Mutex`]. Unlocks when dropped.
    ['a, T: ?Sized] ['a, T: ?Sized] ['a, T] MutexGuard, T, theirs::MutexGuard<'a, T>
}
guard_writes!(['a, T: ?Sized] ['a, T] MutexGuard);
guard_maps! {
    ['a, T: ?Sized] ['a, T] MutexGuard, T, [mut],
    U [U: ?Sized, F] => MappedMutexGuard<'a, U>, MappedMutexGuard, theirs::MutexGuard<'a, T>
}
guard_type! {
    /// The value of a locked [`Mutex`], which it keeps. Unlocks when dropped.
    [T: ?Sized] [T: ?Sized] [T] OwnedMutexGuard, T, theirs::OwnedMutexGuard<T>
}
guard_writes!([T: ?Sized] [T] OwnedMutexGuard);
guard_maps! {
    [T: ?Sized] [T] OwnedMutexGuard, T, [mut],
    U [U: ?Sized, F] => OwnedMappedMutexGuard<T, U>, OwnedMappedMutexGuard, theirs::OwnedMutexGuard<T>
}
guard_type! {
    /// A part of the value of a locked [`Mutex`]. Unlocks when dropped.
    ['a, T: ?Sized] ['a, T: ?Sized] ['a, T] MappedMutexGuard, T, theirs::MappedMutexGuard<'a, T>
}
guard_writes!(['a, T: ?Sized] ['a, T] MappedMutexGuard);
guard_maps! {
    ['a, T: ?Sized] ['a, T] MappedMutexGuard, T, [mut],
    U [U, F] => MappedMutexGuard<'a, U>, MappedMutexGuard, theirs::MappedMutexGuard<'a, T>
}
guard_type! {
    /// A part of the value of a locked [`Mutex`], which it keeps. Unlocks when dropped.
    [T: ?Sized, U: ?Sized = T] [T: ?Sized, U: ?Sized] [T, U]
    OwnedMappedMutexGuard, U, theirs::OwnedMappedMutexGuard<T, U>
}
guard_writes!([T: ?Sized, U: ?Sized] [T, U] OwnedMappedMutexGuard);
guard_maps! {
    [T: ?Sized, U: ?Sized] [T, U] OwnedMappedMutexGuard, U, [mut],
    V [V, F] => OwnedMappedMutexGuard<T, V>, OwnedMappedMutexGuard, theirs::OwnedMappedMutexGuard<T, U>
}

lock_type!(Mutex, theirs::Mutex<T>);

impl<T> Mutex<T> {
    /// A mutex of a value that is opaque to the engine.
    pub fn new(value: T) -> Self {
        Self::with_payload(value, Payload::opaque())
    }

    pub(super) fn with_payload(value: T, payload: Payload<T>) -> Self {
        let control = Control::new(&value, 1, payload, "mutex");
        Self { control, value: Arc::new(theirs::Mutex::new(value)) }
    }

    /// Waits for the lock. A scheduling point.
    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> + use<'_, T> {
        let site = Location::caller();
        async move {
            match &self.control.side {
                Side::Controlled(permits) => {
                    let held = permits.acquire(1, site).await;
                    self.guard(granted(self.value.try_lock()), held)
                }
                Side::Tokio(()) => self.guard(self.value.lock().await, None),
            }
        }
    }

    fn guard<'a>(&'a self, guard: theirs::MutexGuard<'a, T>, held: Grant) -> MutexGuard<'a, T> {
        MutexGuard { inner: Guarded::new(guard, held, self.control.payload(), Access::Write) }
    }

    /// Locks without waiting.
    ///
    /// # Errors
    /// If it is locked, or handed to somebody who waits.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let held = self.try_hold(Location::caller())?;
        Ok(self.guard(self.value.try_lock()?, held))
    }

    #[track_caller]
    fn try_hold(&self, site: Site) -> Result<Option<Held>, TryLockError> {
        match &self.control.side {
            Side::Controlled(permits) => permits.try_acquire(1, site).map(Some).map_err(|_| refused()),
            Side::Tokio(()) => Ok(None),
        }
    }

    /// As [`Mutex::lock`], for a guard that keeps the mutex.
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        let site = Location::caller();
        async move {
            let value = Arc::clone(&self.value);
            let (guard, held) = match &self.control.side {
                Side::Controlled(permits) => {
                    let held = permits.acquire(1, site).await;
                    (granted(value.try_lock_owned()), held)
                }
                Side::Tokio(()) => (value.lock_owned().await, None),
            };
            OwnedMutexGuard { inner: Guarded::new(guard, held, self.control.payload(), Access::Write) }
        }
    }

    /// As [`Mutex::try_lock`], for a guard that keeps the mutex.
    ///
    /// # Errors
    /// If it is locked, or handed to somebody who waits.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        let held = self.try_hold(Location::caller())?;
        let guard = Arc::clone(&self.value).try_lock_owned()?;
        Ok(OwnedMutexGuard { inner: Guarded::new(guard, held, self.control.payload(), Access::Write) })
    }

    /// Locks in code that is not async, blocking the thread.
    ///
    /// # Panics
    /// In a controlled execution, and on a thread of a tokio runtime.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        backend::refuse_blocking("blocking_lock", "lock().await");
        match &self.control.side {
            Side::Controlled(_) => backend::misplaced(),
            Side::Tokio(()) => self.guard(self.value.blocking_lock(), None),
        }
    }

    /// As [`Mutex::blocking_lock`], for a guard that keeps the mutex.
    ///
    /// # Panics
    /// In a controlled execution, and on a thread of a tokio runtime.
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        backend::refuse_blocking("blocking_lock_owned", "lock_owned().await");
        match &self.control.side {
            Side::Controlled(_) => backend::misplaced(),
            Side::Tokio(()) => {
                let guard = Arc::clone(&self.value).blocking_lock_owned();
                OwnedMutexGuard { inner: Guarded::new(guard, None, self.control.payload(), Access::Write) }
            }
        }
    }
}

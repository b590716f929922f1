//! A lock for many readers or one writer. Mirrors `tokio::sync::RwLock`.
//!
//! As in tokio a reader takes one permit and a writer all of them, served in order, so that a writer that waits keeps
//! later readers out. Only writers change what is told apart; a value that changes under a read guard is shared memory.
//!
//! Not there: `const_new`, values without a size, and the way from a guard back to its lock.

use super::{
    guard::{Access, Control, Guarded, granted, guard_maps, guard_type, guard_writes, lock_type, refused},
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
use tokio::sync::{self as theirs, TryLockError};

/// Most readers at once, as in tokio.
const READERS_MAX: u32 = u32::MAX >> 3;

/// A value for many readers or one writer.
///
/// ```
/// # use delay_core::api::sync::RwLock;
/// async fn body() {
///     let lock = RwLock::new(1);
///     *lock.write().await += 1;
///     let (one, other) = (lock.read().await, lock.read().await);
///     assert_eq!((*one, *other), (2, 2));
/// }
/// ```
pub struct RwLock<T> {
    control: Control<T>,
    most: u32,
    value: Arc<theirs::RwLock<T>>,
}

guard_type! {
    /// Reads the value of a [`RwLock`], or a part of it. Unlocks when dropped.
    ['a, T: ?Sized] ['a, T: ?Sized] ['a, T] RwLockReadGuard, T, theirs::RwLockReadGuard<'a, T>
}
guard_maps! {
    ['a, T: ?Sized] ['a, T] RwLockReadGuard, T, [],
    U [F, U: ?Sized] => RwLockReadGuard<'a, U>, RwLockReadGuard, theirs::RwLockReadGuard<'a, T>
}
guard_type! {
    /// Reads the value of a [`RwLock`], which it keeps, or a part of it. Unlocks when dropped.
    [T: ?Sized, U: ?Sized = T] [T: ?Sized, U: ?Sized] [T, U]
    OwnedRwLockReadGuard, U, theirs::OwnedRwLockReadGuard<T, U>
}
guard_maps! {
    [T: ?Sized, U: ?Sized] [T, U] OwnedRwLockReadGuard, U, [],
    V [F, V: ?Sized] => OwnedRwLockReadGuard<T, V>, OwnedRwLockReadGuard, theirs::OwnedRwLockReadGuard<T, U>
}
guard_type! {
    /// Writes the value of a [`RwLock`]. Unlocks when dropped.
    ['a, T: ?Sized] ['a, T: ?Sized] ['a, T] RwLockWriteGuard, T, theirs::RwLockWriteGuard<'a, T>
}
guard_writes!(['a, T: ?Sized] ['a, T] RwLockWriteGuard);
guard_maps! {
    ['a, T: ?Sized] ['a, T] RwLockWriteGuard, T, [mut],
    U [F, U: ?Sized] => RwLockMappedWriteGuard<'a, U>, RwLockMappedWriteGuard, theirs::RwLockWriteGuard<'a, T>
}
guard_type! {
    /// Writes the value of a [`RwLock`], which it keeps. Unlocks when dropped.
    [T: ?Sized] [T: ?Sized] [T] OwnedRwLockWriteGuard, T, theirs::OwnedRwLockWriteGuard<T>
}
guard_writes!([T: ?Sized] [T] OwnedRwLockWriteGuard);
guard_maps! {
    [T: ?Sized] [T] OwnedRwLockWriteGuard, T, [mut],
    U [F, U: ?Sized] => OwnedRwLockMappedWriteGuard<T, U>, OwnedRwLockMappedWriteGuard, theirs::OwnedRwLockWriteGuard<T>
}
guard_type! {
    /// Writes a part of the value of a [`RwLock`]. Unlocks when dropped.
    ['a, T: ?Sized] ['a, T: ?Sized] ['a, T] RwLockMappedWriteGuard, T, theirs::RwLockMappedWriteGuard<'a, T>
}
guard_writes!(['a, T: ?Sized] ['a, T] RwLockMappedWriteGuard);
guard_maps! {
    ['a, T: ?Sized] ['a, T] RwLockMappedWriteGuard, T, [mut],
    U [F, U: ?Sized] => RwLockMappedWriteGuard<'a, U>, RwLockMappedWriteGuard, theirs::RwLockMappedWriteGuard<'a, T>
}
guard_type! {
    /// Writes a part of the value of a [`RwLock`], which it keeps. Unlocks when dropped.
    [T: ?Sized, U: ?Sized = T] [T: ?Sized, U: ?Sized] [T, U]
    OwnedRwLockMappedWriteGuard, U, theirs::OwnedRwLockMappedWriteGuard<T, U>
}
guard_writes!([T: ?Sized, U: ?Sized] [T, U] OwnedRwLockMappedWriteGuard);
guard_maps! {
    [T: ?Sized, U: ?Sized] [T, U] OwnedRwLockMappedWriteGuard, U, [mut],
    V [F, V: ?Sized] => OwnedRwLockMappedWriteGuard<T, V>, OwnedRwLockMappedWriteGuard, theirs::OwnedRwLockMappedWriteGuard<T, U>
}

macro_rules! downgrades {
    (
        [$($bounded:tt)*] [$($named:tt)*] $name:ident, $theirs:path,
        $whole:ty, $reads:ident, $part:ident => $mapped:ty, $write:ident, $written:ty
    ) => {
        impl<$($bounded)*> $name<$($named)*> {
            /// Goes on as a reader, without letting a writer in between.
            pub fn downgrade(self) -> $whole {
                $reads { inner: self.inner.downgrade(<$theirs>::downgrade) }
            }

            /// Goes on as a reader of a part of the value, without letting a writer in between.
            pub fn downgrade_map<F, $part: ?Sized>(this: Self, f: F) -> $mapped
            where
                F: FnOnce(&T) -> &$part,
            {
                $reads { inner: this.inner.downgrade(|guard| <$theirs>::downgrade_map(guard, f)) }
            }

            /// Goes on as a reader of a part of the value, if there is one.
            ///
            /// # Errors
            /// This guard, if there is none.
            pub fn try_downgrade_map<F, $part: ?Sized>(this: Self, f: F) -> Result<$mapped, Self>
            where
                F: FnOnce(&T) -> Option<&$part>,
            {
                match this.inner.try_downgrade(|guard| <$theirs>::try_downgrade_map(guard, f)) {
                    Ok(inner) => Ok($reads { inner }),
                    Err(inner) => Err(Self { inner }),
                }
            }

            /// A guard of all of the value, of the type that guards of its parts have.
            pub fn into_mapped(this: Self) -> $written {
                $write { inner: this.inner.map(<$theirs>::into_mapped) }
            }
        }
    };
}

downgrades! {
    ['a, T: ?Sized] ['a, T] RwLockWriteGuard, theirs::RwLockWriteGuard<'a, T>,
    RwLockReadGuard<'a, T>, RwLockReadGuard, U => RwLockReadGuard<'a, U>, RwLockMappedWriteGuard,
    RwLockMappedWriteGuard<'a, T>
}
downgrades! {
    [T: ?Sized] [T] OwnedRwLockWriteGuard, theirs::OwnedRwLockWriteGuard<T>,
    OwnedRwLockReadGuard<T>, OwnedRwLockReadGuard, U => OwnedRwLockReadGuard<T, U>, OwnedRwLockMappedWriteGuard,
    OwnedRwLockMappedWriteGuard<T>
}

lock_type!(RwLock, theirs::RwLock<T>);

impl<T> RwLock<T> {
    /// A lock of a value that is opaque to the engine.
    pub fn new(value: T) -> Self {
        Self::with_payload(value, Payload::opaque())
    }

    pub(super) fn with_payload(value: T, payload: Payload<T>) -> Self {
        Self::make(value, READERS_MAX, payload)
    }

    /// A lock with at most so many readers at once.
    ///
    /// # Panics
    /// If there are more than `u32::MAX >> 3`.
    pub fn with_max_readers(value: T, max_reads: u32) -> Self {
        assert!(max_reads <= READERS_MAX, "a RwLock may not be created with more than {READERS_MAX} readers");
        Self::make(value, max_reads, Payload::opaque())
    }

    fn make(value: T, most: u32, payload: Payload<T>) -> Self {
        let control = Control::new(&value, most, payload, "rwlock");
        Self { control, most, value: Arc::new(theirs::RwLock::with_max_readers(value, most)) }
    }

    #[track_caller]
    fn try_hold(&self, permits: u32, site: Site) -> Result<Option<Held>, TryLockError> {
        match &self.control.side {
            Side::Controlled(of) => of.try_acquire(permits, site).map(Some).map_err(|_| refused()),
            Side::Tokio(()) => Ok(None),
        }
    }

    /// Waits for the lock, to read. A scheduling point.
    #[track_caller]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> + use<'_, T> {
        let site = Location::caller();
        async move {
            let (guard, held) = match &self.control.side {
                Side::Controlled(permits) => {
                    let held = permits.acquire(1, site).await;
                    (granted(self.value.try_read()), held)
                }
                Side::Tokio(()) => (self.value.read().await, None),
            };
            RwLockReadGuard { inner: Guarded::new(guard, held, self.control.payload(), Access::Read) }
        }
    }

    /// Locks without waiting, to read.
    ///
    /// # Errors
    /// If somebody else's lock, or place in the queue, forbids it.
    #[track_caller]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        let held = self.try_hold(1, Location::caller())?;
        let guard = self.value.try_read()?;
        Ok(RwLockReadGuard { inner: Guarded::new(guard, held, self.control.payload(), Access::Read) })
    }

    /// As [`RwLock::read`], for a guard that keeps the lock.
    #[track_caller]
    pub fn read_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockReadGuard<T>> {
        let site = Location::caller();
        async move {
            let value = Arc::clone(&self.value);
            let (guard, held) = match &self.control.side {
                Side::Controlled(permits) => {
                    let held = permits.acquire(1, site).await;
                    (granted(value.try_read_owned()), held)
                }
                Side::Tokio(()) => (value.read_owned().await, None),
            };
            OwnedRwLockReadGuard { inner: Guarded::new(guard, held, self.control.payload(), Access::Read) }
        }
    }

    /// As [`RwLock::try_read`], for a guard that keeps the lock.
    ///
    /// # Errors
    /// If somebody else's lock, or place in the queue, forbids it.
    #[track_caller]
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T>, TryLockError> {
        let held = self.try_hold(1, Location::caller())?;
        let guard = Arc::clone(&self.value).try_read_owned()?;
        Ok(OwnedRwLockReadGuard { inner: Guarded::new(guard, held, self.control.payload(), Access::Read) })
    }

    /// Locks to read in code that is not async, blocking the thread.
    ///
    /// # Panics
    /// In a controlled execution, and on a thread of a tokio runtime.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        backend::refuse_blocking("blocking_read", "read().await");
        match &self.control.side {
            Side::Controlled(_) => backend::misplaced(),
            Side::Tokio(()) => {
                let guard = self.value.blocking_read();
                RwLockReadGuard { inner: Guarded::new(guard, None, self.control.payload(), Access::Read) }
            }
        }
    }

    /// Waits for the lock, to write. A scheduling point.
    #[track_caller]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> + use<'_, T> {
        let site = Location::caller();
        async move {
            let (guard, held) = match &self.control.side {
                Side::Controlled(permits) => {
                    let held = permits.acquire(self.most, site).await;
                    (granted(self.value.try_write()), held)
                }
                Side::Tokio(()) => (self.value.write().await, None),
            };
            RwLockWriteGuard { inner: Guarded::new(guard, held, self.control.payload(), Access::Write) }
        }
    }

    /// Locks without waiting, to write.
    ///
    /// # Errors
    /// If somebody else's lock, or place in the queue, forbids it.
    #[track_caller]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        let held = self.try_hold(self.most, Location::caller())?;
        let guard = self.value.try_write()?;
        Ok(RwLockWriteGuard { inner: Guarded::new(guard, held, self.control.payload(), Access::Write) })
    }

    /// As [`RwLock::write`], for a guard that keeps the lock.
    #[track_caller]
    pub fn write_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockWriteGuard<T>> {
        let site = Location::caller();
        async move {
            let value = Arc::clone(&self.value);
            let (guard, held) = match &self.control.side {
                Side::Controlled(permits) => {
                    let held = permits.acquire(self.most, site).await;
                    (granted(value.try_write_owned()), held)
                }
                Side::Tokio(()) => (value.write_owned().await, None),
            };
            OwnedRwLockWriteGuard { inner: Guarded::new(guard, held, self.control.payload(), Access::Write) }
        }
    }

    /// As [`RwLock::try_write`], for a guard that keeps the lock.
    ///
    /// # Errors
    /// If somebody else's lock, or place in the queue, forbids it.
    #[track_caller]
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError> {
        let held = self.try_hold(self.most, Location::caller())?;
        let guard = Arc::clone(&self.value).try_write_owned()?;
        Ok(OwnedRwLockWriteGuard { inner: Guarded::new(guard, held, self.control.payload(), Access::Write) })
    }

    /// Locks to write in code that is not async, blocking the thread.
    ///
    /// # Panics
    /// In a controlled execution, and on a thread of a tokio runtime.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        backend::refuse_blocking("blocking_write", "write().await");
        match &self.control.side {
            Side::Controlled(_) => backend::misplaced(),
            Side::Tokio(()) => {
                let guard = self.value.blocking_write();
                RwLockWriteGuard { inner: Guarded::new(guard, None, self.control.payload(), Access::Write) }
            }
        }
    }
}

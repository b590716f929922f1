//! A lock with its value, and the guards over it.
//!
//! The value stands in tokio's own lock on both sides. Inside a controlled execution the World says who has it, so that
//! tokio's is free whenever it is asked. Invariant: tokio's guard is held exactly as long as the World's permits are.

use super::permits::{Held, Permits};
use crate::{
    api::{
        backend::{self, Side},
        payload::Payload,
    },
    world::shared::Change,
};
use std::ops::{Deref, DerefMut};
use tokio::sync::TryLockError;

/// What the engine knows of a lock.
pub(super) struct Control<T> {
    pub(super) side: Side<Permits, ()>,
    payload: Payload<T>,
}

impl<T> Control<T> {
    pub(super) fn new(value: &T, permits: u32, payload: Payload<T>, word: &'static str) -> Self {
        // The value's `Hash` is the user's code, which runs outside.
        let change = payload.change(value);
        let controlled = |context: &mut crate::live::context::Context| {
            let object = context.world.create_lock(u64::from(permits), change);
            Permits::new(context, object, word)
        };
        Self { side: backend::choose(controlled, || ()), payload }
    }

    /// The value is reached by whoever owns the lock alone.
    pub(super) fn reach(&self) {
        if let Side::Controlled(permits) = &self.side {
            permits.reach();
        }
    }

    pub(super) fn payload(&self) -> Payload<T> {
        self.payload
    }
}

/// What was granted: permits inside, nothing outside.
pub(super) type Grant = Option<Held>;

/// Whether a guard may have changed the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Access {
    Read,
    Write,
}

/// Tokio's guard and the permits that go with it.
pub(super) struct Guarded<G: Deref<Target: Sized>> {
    /// Invariant: none only while the guard is turned into another.
    guard: Option<G>,
    held: Grant,
    payload: Payload<G::Target>,
    access: Access,
}

impl<G: Deref<Target: Sized>> Guarded<G> {
    pub(super) fn new(guard: G, held: Grant, payload: Payload<G::Target>, access: Access) -> Self {
        Self { guard: Some(guard), held, payload, access }
    }

    /// From a guard that writes to one that only reads: all permits but one go back.
    pub(super) fn downgrade<R: Deref<Target = G::Target>>(mut self, turn: impl FnOnce(G) -> R) -> Guarded<R> {
        if let Some(held) = &mut self.held {
            let (guard, payload) = (self.guard.as_deref(), self.payload);
            held.release(held.count - 1, || guard.map_or(Change::Opaque, |value| payload.change(value)));
        }
        let (held, payload) = (self.held.take(), self.payload);
        match self.guard.take() {
            Some(guard) => Guarded::new(turn(guard), held, payload, Access::Read),
            None => crate::bug!("a guard is turned twice"),
        }
    }
}

impl<G: Deref<Target: Sized>> Drop for Guarded<G> {
    fn drop(&mut self) {
        if let Some(held) = &mut self.held {
            let (guard, payload, access) = (self.guard.as_deref(), self.payload, self.access);
            held.release(held.count, || match (access, guard) {
                (Access::Read, _) => Change::None,
                (Access::Write, Some(value)) => payload.change(value),
                (Access::Write, None) => Change::Opaque,
            });
        }
    }
}

impl<G: Deref<Target: Sized>> Deref for Guarded<G> {
    type Target = G::Target;

    fn deref(&self) -> &G::Target {
        self.guard.as_deref().unwrap_or_else(|| crate::bug!("a guard is used after its end"))
    }
}

impl<G: DerefMut<Target: Sized>> DerefMut for Guarded<G> {
    fn deref_mut(&mut self) -> &mut G::Target {
        self.guard.as_deref_mut().unwrap_or_else(|| crate::bug!("a guard is used after its end"))
    }
}

/// A guard type of a lock.
macro_rules! guard_type {
    ($(#[$meta:meta])* [$($life:tt)*] $name:ident, $theirs:ty) => {
        $(#[$meta])*
        #[must_use = "if unused the lock is released at once"]
        pub struct $name<$($life)* T> {
            inner: Guarded<$theirs>,
        }

        impl<$($life)* T> Deref for $name<$($life)* T> {
            type Target = T;

            fn deref(&self) -> &T {
                &self.inner
            }
        }

        impl<$($life)* T: fmt::Debug> fmt::Debug for $name<$($life)* T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&**self, f)
            }
        }

        impl<$($life)* T: fmt::Display> fmt::Display for $name<$($life)* T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&**self, f)
            }
        }
    };
}
pub(super) use guard_type;

/// A guard type that lets its holder write.
macro_rules! guard_writes {
    ([$($life:tt)*] $name:ident) => {
        impl<$($life)* T> DerefMut for $name<$($life)* T> {
            fn deref_mut(&mut self) -> &mut T {
                &mut self.inner
            }
        }
    };
}
pub(super) use guard_writes;

/// What a lock is apart from locking.
macro_rules! lock_type {
    ($name:ident, $theirs:ty) => {
        impl<T> $name<T> {
            /// The value, of a lock that nobody else has.
            pub fn get_mut(&mut self) -> &mut T {
                self.control.reach();
                Arc::get_mut(&mut self.value)
                    .map_or_else(|| crate::bug!("a guard outlives its lock"), <$theirs>::get_mut)
            }

            /// The value.
            pub fn into_inner(self) -> T {
                self.control.reach();
                Arc::into_inner(self.value)
                    .map_or_else(|| crate::bug!("a guard outlives its lock"), <$theirs>::into_inner)
            }
        }

        impl<T: Default> Default for $name<T> {
            fn default() -> Self {
                Self::new(T::default())
            }
        }

        impl<T> From<T> for $name<T> {
            fn from(value: T) -> Self {
                Self::new(value)
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}
pub(super) use lock_type;

/// Tokio's lock is free: the World has just granted it.
pub(super) fn granted<G>(guard: Result<G, TryLockError>) -> G {
    guard.unwrap_or_else(|_| crate::bug!("a lock that was granted is held"))
}

/// Tokio's own refusal, which nobody else can make.
pub(super) fn refused() -> TryLockError {
    let lock = tokio::sync::Mutex::new(());
    let _held = lock.try_lock();
    match lock.try_lock() {
        Err(error) => error,
        Ok(_) => crate::bug!("a lock is held twice"),
    }
}

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
    hash::Print,
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
pub(super) struct Guarded<G: Deref> {
    /// Invariant: none only while the guard is turned into another.
    guard: Option<G>,
    held: Grant,
    /// The value's print, if it is not opaque. A part of a value is: what it is a part of cannot be seen through it.
    print: Option<fn(&G::Target) -> Print>,
    access: Access,
}

impl<G: Deref> Guarded<G> {
    pub(super) fn new(guard: G, held: Grant, payload: Payload<G::Target>, access: Access) -> Self
    where
        G::Target: Sized,
    {
        Self { guard: Some(guard), held, print: payload.print(), access }
    }

    /// What becomes of the value's version.
    fn change(guard: Option<&G::Target>, print: Option<fn(&G::Target) -> Print>, access: Access) -> Change {
        match (access, guard, print) {
            (Access::Read, _, _) => Change::None,
            (Access::Write, Some(value), Some(print)) => Change::Content(print(value)),
            (Access::Write, _, _) => Change::Opaque,
        }
    }

    fn take(&mut self) -> G {
        self.guard.take().unwrap_or_else(|| crate::bug!("a guard is turned twice"))
    }

    /// A guard of a part of the value.
    pub(super) fn map<R: Deref>(mut self, turn: impl FnOnce(G) -> R) -> Guarded<R> {
        let guard = turn(self.take());
        Guarded { guard: Some(guard), held: self.held.take(), print: None, access: self.access }
    }

    /// A guard of a part of the value, or the same as before.
    pub(super) fn try_map<R: Deref>(mut self, turn: impl FnOnce(G) -> Result<R, G>) -> Result<Guarded<R>, Self> {
        match turn(self.take()) {
            Ok(guard) => Ok(Guarded { guard: Some(guard), held: self.held.take(), print: None, access: self.access }),
            Err(guard) => {
                self.guard = Some(guard);
                Err(self)
            }
        }
    }

    /// From a guard that writes to one that only reads: all permits but one go back.
    pub(super) fn downgrade<R: Deref>(self, turn: impl FnOnce(G) -> R) -> Guarded<R> {
        self.try_downgrade(|guard| Ok(turn(guard))).unwrap_or_else(|_| crate::bug!("it was turned"))
    }

    /// As [`Guarded::downgrade`], or the same as before.
    pub(super) fn try_downgrade<R: Deref>(mut self, turn: impl FnOnce(G) -> Result<R, G>) -> Result<Guarded<R>, Self> {
        // Looked at before it is turned: a part of it would not do.
        let change = match self.held {
            Some(_) => Self::change(self.guard.as_deref(), self.print, self.access),
            None => Change::None,
        };
        match turn(self.take()) {
            Ok(guard) => {
                let mut held = self.held.take();
                if let Some(held) = &mut held {
                    held.release(held.count - 1, || change);
                }
                Ok(Guarded { guard: Some(guard), held, print: None, access: Access::Read })
            }
            Err(guard) => {
                self.guard = Some(guard);
                Err(self)
            }
        }
    }
}

impl<G: Deref> Drop for Guarded<G> {
    fn drop(&mut self) {
        if let Some(held) = &mut self.held {
            let (guard, print, access) = (self.guard.as_deref(), self.print, self.access);
            held.release(held.count, || Self::change(guard, print, access));
        }
    }
}

impl<G: Deref> Deref for Guarded<G> {
    type Target = G::Target;

    fn deref(&self) -> &G::Target {
        self.guard.as_deref().unwrap_or_else(|| crate::bug!("a guard is used after its end"))
    }
}

impl<G: DerefMut> DerefMut for Guarded<G> {
    fn deref_mut(&mut self) -> &mut G::Target {
        self.guard.as_deref_mut().unwrap_or_else(|| crate::bug!("a guard is used after its end"))
    }
}

/// A guard type of a lock: its parameters as they are declared, bounded and named; what it gives; what it is made of.
macro_rules! guard_type {
    ($(#[$meta:meta])* [$($declared:tt)*] [$($bounded:tt)*] [$($named:tt)*] $name:ident, $target:ty, $theirs:ty) => {
        $(#[$meta])*
        #[must_use = "if unused the lock is released at once"]
        pub struct $name<$($declared)*> {
            inner: Guarded<$theirs>,
        }

        impl<$($bounded)*> Deref for $name<$($named)*> {
            type Target = $target;

            fn deref(&self) -> &$target {
                &self.inner
            }
        }

        impl<$($bounded)*> fmt::Debug for $name<$($named)*>
        where
            $target: fmt::Debug,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&**self, f)
            }
        }

        impl<$($bounded)*> fmt::Display for $name<$($named)*>
        where
            $target: fmt::Display,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&**self, f)
            }
        }
    };
}
pub(super) use guard_type;

/// A guard type that lets its holder write.
macro_rules! guard_writes {
    ([$($bounded:tt)*] [$($named:tt)*] $name:ident) => {
        impl<$($bounded)*> DerefMut for $name<$($named)*> {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.inner
            }
        }
    };
}
pub(super) use guard_writes;

/// `map` and `try_map` of a guard type, by those of tokio's.
macro_rules! guard_maps {
    (
        [$($bounded:tt)*] [$($named:tt)*] $name:ident, $target:ty, [$($mut:tt)*],
        $part:ident [$($generics:tt)*] => $mapped:ty, $mapped_name:ident, $theirs:path
    ) => {
        impl<$($bounded)*> $name<$($named)*> {
            /// A guard of a part of the value. The part is opaque to the engine, even if the value is not.
            pub fn map<$($generics)*>(this: Self, f: F) -> $mapped
            where
                F: FnOnce(&$($mut)* $target) -> &$($mut)* $part,
            {
                $mapped_name { inner: this.inner.map(|guard| <$theirs>::map(guard, f)) }
            }

            /// A guard of a part of the value, if there is one.
            ///
            /// # Errors
            /// This guard, if there is none.
            pub fn try_map<$($generics)*>(this: Self, f: F) -> Result<$mapped, Self>
            where
                F: FnOnce(&$($mut)* $target) -> Option<&$($mut)* $part>,
            {
                match this.inner.try_map(|guard| <$theirs>::try_map(guard, f)) {
                    Ok(inner) => Ok($mapped_name { inner }),
                    Err(inner) => Err(Self { inner }),
                }
            }
        }
    };
}
pub(super) use guard_maps;

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

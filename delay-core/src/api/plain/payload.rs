//! What an engine may know of a channel's values: nothing is kept of it where there is no engine.

use std::{fmt, hash::Hash, marker::PhantomData};

/// How a channel's values are shown and told apart in tests.
pub struct Payload<T> {
    copies: bool,
    values: PhantomData<fn(&T) -> T>,
}

impl<T> Clone for Payload<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Payload<T> {}

impl<T> fmt::Debug for Payload<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payload").field("clone", &self.copies).finish_non_exhaustive()
    }
}

impl<T> Default for Payload<T> {
    fn default() -> Self {
        Self::opaque()
    }
}

impl<T> Payload<T> {
    /// Nothing is known of the values.
    #[must_use]
    pub const fn opaque() -> Self {
        Self { copies: false, values: PhantomData }
    }

    /// Values are shown by `Debug`.
    #[must_use]
    pub const fn debug() -> Self
    where
        T: fmt::Debug,
    {
        Self::opaque()
    }

    /// Values are told apart by `Hash`.
    #[must_use]
    pub const fn hash() -> Self
    where
        T: Hash,
    {
        Self::opaque()
    }

    /// Both [`Payload::debug`] and [`Payload::hash`].
    #[must_use]
    pub const fn visible() -> Self
    where
        T: fmt::Debug + Hash,
    {
        Self::opaque()
    }

    /// Values can be copied, so that a network may duplicate them.
    #[must_use]
    pub const fn cloned(self) -> Self
    where
        T: Clone,
    {
        Self { copies: true, ..self }
    }

    pub(crate) const fn copies(self) -> bool {
        self.copies
    }
}

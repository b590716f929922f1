//! What the engine may know of a channel's values.

use crate::{
    hash::{Domain, Print},
    world::shared::Change,
};
use std::{fmt, hash::Hash};

/// How a channel's values are shown and told apart.
///
/// By default a value is opaque: traces show its type's name, and for state caching it is named by its origin (its
/// sender's history), which is sound for any type. With `T: Debug` traces show values; with `T: Hash` equal values
/// from different origins lead to the same state, so that far more states merge.
///
/// ```
/// use delay_core::api::payload::Payload;
/// let _ = Payload::<std::rc::Rc<u8>>::opaque();
/// let _ = Payload::<u64>::visible();
/// ```
pub struct Payload<T> {
    show: Option<fn(&T) -> String>,
    print: Option<fn(&T) -> Print>,
    copy: Option<fn(&T) -> T>,
}

impl<T> Clone for Payload<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Payload<T> {}

impl<T> fmt::Debug for Payload<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { show, print, copy } = self;
        let mut f = f.debug_struct("Payload");
        f.field("debug", &show.is_some()).field("hash", &print.is_some()).field("clone", &copy.is_some()).finish()
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
        Self { show: None, print: None, copy: None }
    }

    /// Values are shown by `Debug`.
    #[must_use]
    pub const fn debug() -> Self
    where
        T: fmt::Debug,
    {
        Self { show: Some(show::<T>), print: None, copy: None }
    }

    /// Values are told apart by `Hash`.
    #[must_use]
    pub const fn hash() -> Self
    where
        T: Hash,
    {
        Self { show: None, print: Some(print::<T>), copy: None }
    }

    /// Both [`Payload::debug`] and [`Payload::hash`].
    #[must_use]
    pub const fn visible() -> Self
    where
        T: fmt::Debug + Hash,
    {
        Self { show: Some(show::<T>), print: Some(print::<T>), copy: None }
    }

    pub(crate) const fn copies(&self) -> bool {
        self.copy.is_some()
    }

    /// How values are told apart, if they are not opaque.
    pub(crate) const fn print(&self) -> Option<fn(&T) -> Print> {
        self.print
    }

    /// What becomes of the version of a shared value that is this one now.
    pub(crate) fn change(&self, value: &T) -> Change {
        self.content(value).map_or(Change::Opaque, Change::Content)
    }

    /// Values can be copied, so that a network may duplicate them.
    #[must_use]
    pub const fn cloned(self) -> Self
    where
        T: Clone,
    {
        Self { copy: Some(T::clone), ..self }
    }
}

/// How the engine sees the values of a mailbox. A message with a wrapper of ours around the user's value has its own.
pub(crate) trait View<T> {
    /// The value's fingerprint, if it is not opaque.
    fn content(&self, value: &T) -> Option<Print>;
    /// The value for people.
    fn text(&self, value: &T) -> String;
    /// Copies the value, if it can be.
    fn copy(&self, _value: &T) -> Option<T> {
        None
    }
    /// Whether values can be copied.
    fn copies(&self) -> bool {
        false
    }
    /// Who sent it, where the value itself says so.
    fn source(&self, _value: &T) -> Option<&'static str> {
        None
    }
}

impl<T> View<T> for Payload<T> {
    #[inline]
    fn content(&self, value: &T) -> Option<Print> {
        self.print.map(|print| print(value))
    }

    fn copy(&self, value: &T) -> Option<T> {
        self.copy.map(|copy| copy(value))
    }

    fn copies(&self) -> bool {
        self.copy.is_some()
    }

    fn text(&self, value: &T) -> String {
        self.show.map_or_else(|| crate::api::monitor::ear::short_type_name::<T>(), |show| show(value))
    }
}

fn show<T: fmt::Debug>(value: &T) -> String {
    format!("{value:?}")
}

fn print<T: Hash>(value: &T) -> Print {
    Print::of_value(Domain::Content, value)
}

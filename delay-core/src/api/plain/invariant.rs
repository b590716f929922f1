//! Invariants over the states of several processes: nothing here, as only a test has invariants.

use std::{borrow::Cow, convert::Infallible, fmt, hash::Hash};

/// The last value observed under each name. There is none: only a test calls an invariant.
#[derive(Debug)]
pub struct Observed(Infallible);

impl Observed {
    /// The last value observed under this name, if there is one yet.
    pub fn get<T: 'static>(&self, _name: &str) -> Option<&T> {
        match self.0 {}
    }

    /// All values of a type, by name.
    pub fn all<T: 'static>(&self) -> impl Iterator<Item = (&str, &T)> {
        std::iter::empty()
    }

    /// The values under names that begin with `prefix`, by name.
    pub fn under<'a, T: 'static>(&'a self, _prefix: &str) -> impl Iterator<Item = (&'a str, &'a T)> {
        std::iter::empty()
    }
}

/// Registers an invariant in a test; does nothing here.
pub fn invariant(_name: impl Into<Cow<'static, str>>, _holds: impl Fn(&Observed) -> Result<(), String> + 'static) {}

/// Shows a part of a process's state to a test's invariants; does nothing here.
#[inline]
pub fn observe<T: fmt::Debug + Hash + 'static>(_name: impl Into<Cow<'static, str>>, _value: T) {}

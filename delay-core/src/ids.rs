//! Small typed ids.
//!
//! Invariant: a [`Process`] and an [`Object`] are canonical. The same id always stands for the same name (creator,
//! k-th creation) within one search, whatever the interleaving; [`crate::name::Names`] hands them out.

use std::fmt;

/// A process of the program under test: its test body or a spawned task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Process(u32);

impl Process {
    /// The test body.
    pub const BODY: Self = Self(0);
    /// The environment process whose choices are the timers that may fire. Ranked after every process.
    pub const CLOCK: Self = Self(u32::MAX);

    /// The environment process whose choices are what may go wrong. Ranked after the clock.
    pub const FAULTS: Self = Self(u32::MAX - 1);

    /// The id with this index.
    #[must_use]
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// Whether it stands for the environment and is no task.
    #[inline]
    #[must_use]
    pub const fn is_environment(self) -> bool {
        self.0 >= Self::FAULTS.0
    }

    /// Index into tables kept per process.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The number behind the id.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::CLOCK => f.write_str("P(clock)"),
            Self::FAULTS => f.write_str("P(faults)"),
            Self(number) => write!(f, "P{number}"),
        }
    }
}

/// A controlled object: the mailbox of a channel or of a network endpoint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Object(u32);

impl Object {
    /// The id with this index.
    #[must_use]
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// Index into tables kept per object.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A message within one execution, numbered as sent. Not canonical: it only ties a queued message to the user's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message(pub u32);

/// Where a process keeps one of the ops it waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot(pub u32);

impl Slot {
    /// Index into the op table of its process.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

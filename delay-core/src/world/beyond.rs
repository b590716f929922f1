//! What learned execution does not cover: a program that does such a thing is executed live, and its statement says why.
//!
//! Invariant: what is told is a function of the steps that were made, not of who made them, so that it is the same for any number of threads:
//! whoever has found one reason goes on noting the others.

use super::World;

/// Something that has to be executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beyond {
    /// Waiting for a timer, looking at the clock, or holding a point in time.
    Time,
    /// A lock.
    Locks,
    /// Permits.
    Semaphores,
    /// Notifications without a value.
    Notifications,
    /// A watched value.
    Watches,
    /// A broadcast.
    Broadcasts,
    /// Whatever has to do with nodes.
    Nodes,
    /// Durable storage.
    Storage,
    /// A budget for faults.
    Faults,
    /// A value that invariants see.
    Observed,
    /// Looking at a channel without changing it.
    Looks,
    /// An endpoint that joins its network in a step.
    Endpoints,
    /// A monitor that is registered in a step.
    Monitors,
    /// Dropping a future that another process waits for.
    Drops,
    /// Wakes by code that the engine does not control.
    Wakes,
    /// A process did something else than one that had seen the same.
    Differences,
}

impl Beyond {
    /// All, in the order in which they are told.
    pub const ALL: [Self; 16] = [
        Self::Time,
        Self::Locks,
        Self::Semaphores,
        Self::Notifications,
        Self::Watches,
        Self::Broadcasts,
        Self::Nodes,
        Self::Storage,
        Self::Faults,
        Self::Observed,
        Self::Looks,
        Self::Endpoints,
        Self::Monitors,
        Self::Drops,
        Self::Wakes,
        Self::Differences,
    ];

    /// Its bit among several.
    pub const fn bit(self) -> u32 {
        1 << self as u32
    }

    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time (timers, clocks)",
            Self::Locks => "locks",
            Self::Semaphores => "semaphores",
            Self::Notifications => "notifications",
            Self::Watches => "watch channels",
            Self::Broadcasts => "broadcast channels",
            Self::Nodes => "nodes",
            Self::Storage => "storage",
            Self::Faults => "faults",
            Self::Observed => "observed values",
            Self::Looks => "looking at a channel (`len`, `is_closed`, ..)",
            Self::Endpoints => "endpoints made in the middle of an execution",
            Self::Monitors => "monitors registered in the middle of an execution",
            Self::Drops => "dropping what another task waits for",
            Self::Wakes => "wakes by code delay does not control",
            Self::Differences => "tasks that share what delay does not see",
        }
    }
}

impl World {
    /// The program does what cannot be done again without processes, or taken back.
    #[inline]
    pub(crate) fn beyond_journal(&mut self, what: Beyond) {
        self.journal.cannot |= what.bit();
    }

    /// An act that cannot be done again without its process, but is nothing to the steps after it.
    #[inline]
    pub(super) fn beyond_step(&mut self, what: Beyond) {
        if self.journal.is_open() {
            self.beyond_journal(what);
        } else if self.choices > 0 && !self.journal.is_over {
            // Nothing is written down any more, for another reason.
            self.journal.also |= what.bit();
        }
    }

    /// The execution is torn down: what destructors do is nobody's step.
    pub fn tear_down(&mut self) {
        self.journal.is_over = true;
    }

    /// Whether the program does what cannot be done again without processes, or may meet faults.
    pub fn is_beyond_learning(&self) -> bool {
        self.journal.cannot != 0 || self.may_harm()
    }

    /// What of it the program does, a bit each.
    pub fn beyond_learning(&self) -> u32 {
        let faults = if self.may_harm() { Beyond::Faults.bit() } else { 0 };
        self.journal.cannot | self.journal.also | faults
    }
}

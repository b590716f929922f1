//! What learned execution does not cover: a program that does such a thing is executed live, and its statement says why.
//!
//! Invariant: what is told is a function of the steps that were made, not of who made them, so that it is the same for any number of threads:
//! whoever has found one reason goes on noting the others.

use super::World;

/// Something that has to be executed. The numbers stand in saved reports: those of what is learnt by now (1 to 5, 10) are not used again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beyond {
    /// Looking at the clock, or waiting until a point in time. Waiting for some time to pass is learnt.
    Time = 0,
    /// Whatever has to do with nodes.
    Nodes = 6,
    /// Durable storage.
    Storage,
    /// A budget for faults that is set in a step.
    Faults,
    /// Dropping a lost message that holds a handle.
    Lost,
    /// Looking at how many weak handles there are.
    Looks = 11,
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
    /// Using a handle that an object tells apart, and that a process has from another, where some process forgets what it has seen.
    Handles,
    /// An invariant that is registered in a step.
    Invariants,
}

impl Beyond {
    /// All, in the order in which they are told.
    pub const ALL: [Self; 13] = [
        Self::Time,
        Self::Nodes,
        Self::Storage,
        Self::Faults,
        Self::Lost,
        Self::Looks,
        Self::Endpoints,
        Self::Monitors,
        Self::Invariants,
        Self::Handles,
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
            Self::Time => "points in time (`Instant`, `sleep_until`)",
            Self::Nodes => "nodes",
            Self::Storage => "storage",
            Self::Faults => "budgets of faults set in the middle of an execution",
            Self::Lost => "lost messages that hold handles",
            Self::Looks => "counting weak handles",
            Self::Endpoints => "endpoints made in the middle of an execution",
            Self::Monitors => "monitors registered in the middle of an execution",
            Self::Invariants => "invariants registered in the middle of an execution",
            Self::Handles => "receivers handed from task to task beside checkpoints",
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

    /// The actor drops messages that were lost, of which nothing tells that they were, and has done something since so many acts.
    pub(crate) fn dropped_lost(&mut self, acts: usize) {
        if self.journal.acts() > acts {
            self.beyond_step(Beyond::Lost);
        }
    }

    /// Whether the program does what cannot be done again without processes.
    pub fn is_beyond_learning(&self) -> bool {
        self.journal.cannot != 0
    }

    /// What of it the program does, a bit each.
    pub fn beyond_learning(&self) -> u32 {
        self.journal.cannot | self.journal.also
    }
}

//! What a process has seen, and what is counted for it: all that its behaviour is a function of.
//!
//! Apart from the rest of its state ([`super::process`]), which others look at and change: whether they wake it does not depend on
//! what it has seen, and steps are known by what they look at (`parts.rs`).

use super::tracked::Assign;
use crate::hash::{Domain, Print};

/// The history of one process.
#[derive(Clone, Copy, Debug, Default)]
pub struct History {
    /// Hash of everything observed since the start, or of the last checkpoint and everything since.
    pub(super) local: Print,
    pub(super) spawned: u32,
    pub(super) created: u32,
    pub(super) drawn: u32,
    /// Cached part of the state's fingerprint, and whether the process's parts of it must be computed anew.
    pub(super) print: Print,
    pub(super) stale: bool,
}

impl Assign for History {
    fn assign(&mut self, other: &Self) {
        *self = *other;
    }
}

impl History {
    /// Nothing was seen yet.
    pub(super) fn begin(local: Print) -> Self {
        Self { local, ..Self::default() }
    }

    /// All of it, of one with this name.
    pub fn of(&self, name: Print) -> Print {
        name.and(self.local).with(self.counted()).with(u64::from(self.drawn))
    }

    /// What it spawned and made so far.
    #[inline]
    pub(super) fn counted(&self) -> u64 {
        u64::from(self.spawned) << 32 | u64::from(self.created)
    }

    /// What the future of the process with this name depends on.
    pub(super) fn fingerprint(&self, name: Print) -> Print {
        let Self { local, spawned: _, created: _, drawn, print: _, stale: _ } = self;
        // Pitfall B.8: a checkpoint replaces `local`, and leaves what is counted here.
        Print::of(Domain::History).and(name).and(*local).with(u64::from(*drawn)).with(self.counted())
    }
}

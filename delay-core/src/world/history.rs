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
    /// Handles it made that their object tells apart.
    pub(super) handed: u32,
    /// In which order those were made that were made in steps, and what it had seen then: it forgets that at no checkpoint, since it may have them still.
    /// Begins with that of its spawner, whose handles it may have.
    pub(super) made: Print,
    /// How many handles its spawner had made by then.
    pub(super) inherited: u32,
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

    /// The same of one that was spawned by another with this history.
    pub(super) fn inherit(&mut self, from: &Self) {
        self.inherited = from.handed;
        if from.made != Print::default() {
            self.made = from.made.and(self.local);
        }
    }

    /// It made a handle that an object tells apart; its number. Those of the set-up are the same in each execution.
    pub(super) fn hand_out(&mut self, in_step: bool) -> u32 {
        let number = self.handed;
        self.handed += 1;
        if in_step {
            self.made = self.made.and(self.local).with(self.counted()).with(u64::from(self.drawn));
        }
        number
    }

    /// Something was observed: by the short print of the name of what it is about, the kind of op and outcome, and what was seen if anything was.
    #[inline]
    pub(super) fn observe(&mut self, about: u64, kind: u64, seen: Option<Print>) {
        self.local = Self::after(self.local, about, kind, seen);
    }

    /// What was seen after that, where this was before.
    #[inline]
    pub(super) const fn after(before: Print, about: u64, kind: u64, seen: Option<Print>) -> Print {
        // What it is about is a hash, and so is what was seen: what the op was and what came of it can be added to them.
        let word = about.wrapping_add((Domain::Observation as u64) << 56 | kind);
        match seen {
            Some(seen) => before.with_added(seen, word),
            None => before.with(word),
        }
    }

    /// What tells a value from others: what its owner, by the short print of its name, had observed, and where it goes.
    #[inline]
    pub(super) fn origin(&self, owner: u64, to: u64) -> Print {
        const ODD: [u64; 2] = [0xE703_7ED1_A0B4_28DB, 0xA076_1D64_78BD_642F];
        let counts = self.counted().wrapping_add(u64::from(self.drawn).wrapping_mul(ODD[0])).wrapping_mul(ODD[1]);
        self.local.with((owner.rotate_left(1) ^ to ^ Domain::Message as u64).wrapping_add(counts))
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
        // A handle is named by its rank among those that are left: how many there were tells nothing.
        let Self { local, spawned: _, created: _, drawn, handed: _, made: _, inherited: _, print: _, stale: _ } = self;
        // Pitfall B.8: a checkpoint replaces `local`, and leaves what is counted here.
        Print::of(Domain::History).and(name).and(*local).with(u64::from(*drawn)).with(self.counted())
    }
}

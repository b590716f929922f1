//! The state of one process: its history, what it waits for, and how far it has come.

use super::{
    op::{Grant, Op, Pending, Site},
    tracked::Assign,
};
use crate::{
    hash::{Domain, Print},
    ids::{Process, Slot},
};
use std::mem::take;

/// How far a process has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Not spawned in this execution.
    Absent,
    /// Has not ended.
    Live,
    /// Returned.
    Finished,
    /// Was aborted and dropped.
    Cancelled,
}

impl Status {
    /// Whether the process has ended, however.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Cancelled)
    }
}

/// The state of one process.
#[derive(Clone, Debug)]
pub struct ProcessState {
    pub(super) status: Status,
    /// Hash of everything observed since the start, or of the last checkpoint and everything since.
    pub(super) local: Print,
    pub(super) pending: Vec<Pending>,
    /// How many of the slots are in use.
    pub(super) in_use: u32,
    /// How many of these were granted and not looked at.
    pub(super) unseen: u32,
    /// How many alternatives it has; enabled if any, as last told to the explorer. Kept by `World::refresh`: current
    /// between steps, for every process but the actor within one too.
    pub(super) alternatives: u32,
    pub(super) cancelled: bool,
    /// The node it belongs to, by the node's first process.
    pub(super) node: Option<Process>,
    /// Handles through which it can be aborted. A function of the states of those who hold them.
    pub(super) handles: u32,
    /// Processes that wait for this one to end, once per join.
    pub(super) joiners: Vec<Process>,
    pub(super) spawned: u32,
    pub(super) created: u32,
    pub(super) drawn: u32,
    pub(super) print: Print,
    pub(super) stale: bool,
}

impl Assign for ProcessState {
    fn assign(&mut self, other: &Self) {
        self.pending.clone_from(&other.pending);
        self.joiners.clone_from(&other.joiners);
        let (pending, joiners) = (take(&mut self.pending), take(&mut self.joiners));
        *self = Self { pending, joiners, ..*other };
    }
}

impl ProcessState {
    pub(super) fn new() -> Self {
        Self {
            status: Status::Absent,
            local: Print::default(),
            pending: Vec::new(),
            in_use: 0,
            unseen: 0,
            alternatives: 0,
            cancelled: false,
            node: None,
            handles: 0,
            joiners: Vec::new(),
            spawned: 0,
            created: 0,
            drawn: 0,
            print: Print::default(),
            stale: false,
        }
    }

    pub(super) fn begin(&mut self, local: Print) {
        self.pending.clear();
        self.joiners.clear();
        let Self {
            status,
            local: l,
            pending: _,
            in_use,
            unseen,
            alternatives,
            cancelled,
            node,
            handles,
            joiners: _,
            spawned,
            created,
            drawn,
            print,
            stale,
        } = self;
        (*status, *l, *in_use, *unseen, *alternatives, *cancelled) = (Status::Live, local, 0, 0, 0, false);
        (*handles, *node) = (0, None);
        (*spawned, *created, *drawn, *print, *stale) = (0, 0, 0, Print::default(), false);
    }

    /// Starts again, with nothing left but its name, and what counts what it made: names are given once.
    pub(super) fn begin_again(&mut self, local: Print) {
        (self.status, self.local, self.cancelled) = (Status::Live, local, false);
    }

    /// Whether it has been spawned and has not ended.
    #[inline]
    pub fn is_live(&self) -> bool {
        self.status == Status::Live
    }

    /// How far it has come.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The ops it waits for and was not granted.
    pub fn waiting(&self) -> impl Iterator<Item = &Pending> {
        self.pending.iter().filter(|pending| pending.state == Grant::Waiting)
    }

    /// The only op in use, if there is just one.
    #[inline]
    pub(super) fn sole(&self) -> Option<Slot> {
        if self.in_use != 1 {
            return None;
        }
        self.pending.iter().position(|pending| pending.state != Grant::Free).map(|index| Slot(index as u32))
    }

    #[inline]
    pub(super) fn insert(&mut self, op: Op, site: Site) -> Slot {
        self.in_use += 1;
        if self.in_use as usize <= self.pending.len()
            && let Some(free) = self.pending.iter().position(|pending| pending.state == Grant::Free)
        {
            let place = &mut self.pending[free];
            (place.op, place.site, place.state, place.taken) = (op, site, Grant::Waiting, None);
            return Slot(free as u32);
        }
        self.pending.push(Pending { op, site, state: Grant::Waiting, taken: None });
        Slot(self.pending.len() as u32 - 1)
    }

    /// Who it is, all it has seen, and what is counted for it: what its behaviour is a function of.
    pub fn history(&self, name: Print) -> Print {
        name.and(self.local).with(self.counted()).with(u64::from(self.drawn))
    }

    /// What it spawned and made so far.
    #[inline]
    pub(super) fn counted(&self) -> u64 {
        u64::from(self.spawned) << 32 | u64::from(self.created)
    }

    /// What one who joins it observes: how it ended, and what its result is a function of.
    pub(super) fn result(&self) -> Print {
        self.history(Print::default()).with(self.status as u64)
    }

    /// What the future of this process depends on. The ops it waits for are a function of its local id; when its
    /// timers run out is not, and stands in the clock's part of the fingerprint.
    pub(super) fn fingerprint(&self, name: Print) -> Print {
        let Self {
            status,
            local,
            pending: _,
            in_use: _,
            unseen: _,
            alternatives: _,
            cancelled,
            // The nearest ancestor, by name, that is the root of a node: those stand in the environment's part.
            node: _,
            handles: _,
            joiners: _,
            spawned,
            created,
            drawn,
            print: _,
            stale: _,
        } = self;
        // Pitfall B.8: a checkpoint replaces `local`, and leaves what is counted here.
        let counters = u64::from(*spawned) << 32 | u64::from(*created);
        Print::of(Domain::Process)
            .and(name)
            .and(*local)
            .with(*status as u64 | u64::from(*cancelled) << 8 | u64::from(*drawn) << 16)
            .with(counters)
    }
}

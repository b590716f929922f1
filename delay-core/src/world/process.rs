//! The state of one process but for its history: what it waits for, and how far it has come.

use super::{
    op::{Grant, Op, Pending, Site},
    tracked::Assign,
};
use crate::{
    hash::{Domain, Print},
    ids::{Object, Process, Slot},
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
    pub(super) pending: Vec<Pending>,
    /// How many of the slots are in use.
    pub(super) in_use: u32,
    /// How many of these were granted and not looked at.
    pub(super) unseen: u32,
    /// The mailbox it waits to receive from, if that is all it waits for, by its first slot, and the lane leads there: found out when it began
    /// to wait, and forgotten with the next thing that is done to any of its slots. A function of the rest.
    pub(super) lane: Option<Object>,
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
    /// Cached part of the state's fingerprint.
    pub(super) print: Print,
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
            pending: Vec::new(),
            in_use: 0,
            unseen: 0,
            lane: None,
            alternatives: 0,
            cancelled: false,
            node: None,
            handles: 0,
            joiners: Vec::new(),
            print: Print::default(),
        }
    }

    pub(super) fn begin(&mut self) {
        self.pending.clear();
        self.joiners.clear();
        let Self {
            status,
            pending: _,
            in_use,
            unseen,
            lane,
            alternatives,
            cancelled,
            node,
            handles,
            joiners: _,
            print,
        } = self;
        (*status, *in_use, *unseen, *alternatives, *cancelled) = (Status::Live, 0, 0, 0, false);
        (*handles, *node, *print, *lane) = (0, None, Print::default(), None);
    }

    /// Starts again.
    pub(super) fn begin_again(&mut self) {
        (self.status, self.cancelled) = (Status::Live, false);
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

    /// An op was inserted that receives from a mailbox where the lane leads: whether it is all the process waits for.
    #[inline]
    pub(super) fn enter_lane(&mut self, from: Object) {
        if self.in_use == 1 {
            self.lane = Some(from);
        }
    }

    /// Whether what is said of its lane is so.
    pub(super) fn waits_in_lane(&self, from: Object) -> bool {
        let waits =
            self.pending.first().is_some_and(|only| only.op == Op::Receive(from) && only.state == Grant::Waiting);
        waits && self.in_use == 1 && self.unseen == 0 && self.is_live() && !self.cancelled
    }

    #[inline]
    pub(super) fn insert(&mut self, op: Op, site: Site) -> Slot {
        self.in_use += 1;
        self.lane = None;
        let is_free = |pending: &Pending| pending.state == Grant::Free;
        let free = if self.in_use == 1 { Some(0) } else { self.pending.iter().position(is_free) };
        if let Some(free) = free
            && let Some(place) = self.pending.get_mut(free)
        {
            (place.op, place.site, place.state, place.taken) = (op, site, Grant::Waiting, None);
            return Slot(free as u32);
        }
        self.pending.push(Pending { op, site, state: Grant::Waiting, taken: None });
        Slot(self.pending.len() as u32 - 1)
    }

    /// What the future depends on. The ops it waits for are a function of its history; when its
    /// timers run out is not, and stands in the clock's part of the fingerprint.
    pub(super) fn fingerprint(&self, name: Print) -> Print {
        let Self {
            status,
            pending: _,
            in_use: _,
            unseen: _,
            lane: _,
            alternatives: _,
            cancelled,
            // The nearest ancestor, by name, that is the root of a node: those stand in the environment's part.
            node: _,
            handles: _,
            joiners: _,
            print: _,
        } = self;
        Print::of(Domain::Process).and(name).with(*status as u64 | u64::from(*cancelled) << 8)
    }
}

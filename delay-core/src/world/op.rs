//! What a process can wait for, and what it is told when it is granted.

use super::{
    fault::Rule,
    mailbox::Queued,
    shared::Ask,
    store::{Access, Store},
};
use crate::{
    hash::Print,
    ids::{Message, Object, Process},
};
use std::panic::Location;

/// Where in the user's code an op was asked for. Data for people; and it tells equal ops of one process apart, which the
/// order of asking may not: `tokio::select!` polls its branches in random order.
pub type Site = &'static Location<'static>;

/// An awaited op: a scheduling point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Op {
    /// The start of a process that is a step of its own.
    Start,
    /// `yield_now`.
    Yield,
    /// Sending to a mailbox; `content` is the value's fingerprint if the user gave one.
    Send {
        /// The mailbox.
        to: Object,
        /// Fingerprint of the value, or none for an opaque one, which is named by its origin.
        content: Option<Print>,
        /// Which budget its faults are taken from.
        rule: Rule,
    },
    /// Waiting for room in a bounded mailbox without sending yet.
    Reserve(Object),
    /// Receiving from a mailbox.
    Receive(Object),
    /// Waiting until a mailbox's receiver is gone.
    Closed(Object),
    /// Waiting for a process to end.
    Join(Process),
    /// Waiting for a timer; virtual nanoseconds.
    Sleep(u64),
    /// Crashing a node.
    Crash(Process),
    /// Starting a node again.
    Restart(Process),
    /// Using durable storage.
    Store(Store, Access),
    /// Waiting until a node is down.
    Down(Process),
    /// An explicit choice.
    Choose(Outcomes),
    /// Woken by code the engine does not control.
    Woken,
    /// Aborted: the cancellation is a step of the target.
    Cancel,
    /// Waiting on an object that is no mailbox.
    Shared {
        /// The object.
        object: Object,
        /// What for.
        ask: Ask,
    },
}

impl Op {
    /// Whether it carries a value, which is named by what its process has seen if nobody looks into it.
    #[inline]
    pub(super) fn has_value(&self) -> bool {
        matches!(self, Self::Send { .. } | Self::Store(..))
    }
}

/// What an explicit choice is among.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Outcomes {
    /// How many outcomes there are.
    pub count: u32,
    /// Whoever chooses again and again takes each outcome at last.
    pub is_fair: bool,
}

/// The result of a granted op, as the process observes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observation {
    /// Done; there is nothing to tell.
    Done,
    /// The send took effect.
    Sent(Message),
    /// The send took effect, and the message is lost. The sender cannot tell.
    Lost(Message),
    /// A message was taken.
    Received(Message),
    /// The other side is gone.
    Closed,
    /// The chosen outcome.
    Outcome(u32),
}

/// An op a process waits for.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// What it waits for.
    pub op: Op,
    /// Where the user asked for it.
    pub site: Site,
    pub(super) state: Grant,
    /// The message a granted receive took, until the process has looked: a leaf dropped unpolled gives it back.
    pub(super) taken: Option<Queued>,
}

impl Pending {
    #[inline]
    pub(super) fn is_in_use(&self) -> bool {
        self.state != Grant::Free
    }

    /// How far it has come, as far as its process can tell.
    #[inline]
    pub(super) fn stage(&self) -> u64 {
        match self.state {
            Grant::Free => 0,
            Grant::Waiting => 1,
            Grant::Granted(_) => 2,
            Grant::Dormant => 3,
            Grant::Held => 4,
        }
    }
}

/// Where a pending op stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grant {
    /// The slot is free.
    Free,
    /// Not granted yet.
    Waiting,
    /// Granted; the process has not looked yet.
    Granted(Observation),
    /// A receive that was granted while its process did not poll it: the message went back, and the op counts again once
    /// it is polled. A send too, where its fate is decided with it.
    Dormant,
    /// A send that was granted while its process did not poll it: it holds room, and takes effect once it is polled.
    Held,
}

/// The result of an op that does not wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Immediate {
    /// It took effect on this message.
    Done(Message),
    /// A receive found nothing.
    Empty,
    /// A send found no room.
    Full,
    /// The other side is gone.
    Closed,
}

//! Test hooks: a network as other checkers model it, so that published counts of states can be compared.
//!
//! Only under the feature `test-hooks`, which no user's build has. The network holds the messages under way:
//! - A message that changes nothing stays under way: its receiver's local id is afterwards what it was before, and the
//!   step held no other op on a shared object. So the successor is the same state.
//! - Where asked for, a received message stays under way. Such a network is a set there; here equal messages would be two, so
//!   it serves for programs that send no message twice.
//! - Where asked for, every message can be lost, without a budget: each is one more alternative of the receive it waits
//!   for, after those that receive.
//! - The set-up goes on to the body's first receive, so that what it sends is under way in the initial state.
//!
//! A message can be received again, so a copy of its value stays behind: see `Payload::cloned`. Mailboxes are
//! [`super::words::Delivery::Unordered`].

use super::{World, mailbox::Queued, op::Op, step::Next};
use crate::{
    hash::Print,
    ids::{Object, Process, Slot},
};

/// What a network does to the messages under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Wire {
    /// Each is received once.
    Exact,
    /// Each can be received again and again.
    Duplicating,
    /// As [`Wire::Duplicating`], and any can be lost.
    LossyDuplicating,
}

/// How the World carries messages, and the receive of the present step.
#[derive(Debug, Default)]
pub(super) struct AsSet {
    wire: Option<Wire>,
    received: Option<Received>,
}

/// A message that was received in the present step.
#[derive(Debug)]
struct Received {
    from: Object,
    /// Where it stood.
    place: u32,
    message: Queued,
    /// The receiver's local id before it.
    before: Print,
}

impl World {
    /// Carries messages as another checker's network does.
    pub fn carry(&mut self, wire: Option<Wire>) {
        self.as_set = AsSet { wire, received: None };
    }

    /// Whether it does.
    #[inline]
    pub(super) fn is_carried(&self) -> bool {
        self.as_set.wire.is_some()
    }

    /// The next op of the set-up.
    pub fn set_up_goes_on(&mut self) -> Option<Next> {
        self.as_set.wire.and_then(|_| self.inline())
    }

    /// How many messages of a mailbox can be lost.
    #[inline]
    pub(super) fn losses(&self, from: Object) -> u32 {
        if self.is_carried() { self.losses_carried(from) } else { 0 }
    }

    fn losses_carried(&self, from: Object) -> u32 {
        let is_lossy = self.as_set.wire == Some(Wire::LossyDuplicating);
        if is_lossy { self.mailboxes[from.index()].queued() } else { 0 }
    }

    /// Loses the message if this is such an alternative; else remembers what is about to be received.
    pub(super) fn lose(&mut self, process: Process, slot: Slot, alternative: u32) -> Option<Next> {
        let state = &self.processes[process.index()];
        let Op::Receive(from) = state.pending[slot.index()].op else { return None };
        let queue = &self.mailboxes[from.index()].queue;
        if let Some(message) = queue.get(alternative as usize).copied() {
            let before = self.local_of(process);
            self.as_set.received = Some(Received { from, place: alternative, message, before });
            return None;
        }
        let lost = alternative.checked_sub(queue.len() as u32)?;
        self.steps += 1;
        self.take(from, lost, |_| ()).map(|_| Next::Stay(process))
    }

    /// The step is over: what changed nothing, or can be received again, is under way once more.
    #[inline]
    pub(super) fn return_received(&mut self, process: Process) {
        if self.is_carried() {
            self.return_carried(process);
        }
    }

    fn return_carried(&mut self, process: Process) {
        let Some(Received { from, place, message, before }) = self.as_set.received.take() else { return };
        let changed = self.local_of(process) != before || self.notes.ops_in_step > 1;
        let mailbox = &mut self.mailboxes[from.index()];
        if !changed {
            mailbox.queue.take_back(place, message);
        } else if self.as_set.wire != Some(Wire::Exact) {
            mailbox.put_back(message);
        } else {
            return;
        }
        self.touch_mailbox_print(from);
    }
}

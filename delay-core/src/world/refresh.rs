//! Who can run: the alternatives of each process, counted anew whenever something they depend on has changed, and told to the explorer
//! where that lets a process run or keeps it from running.

use super::{
    World,
    mailbox::Mailbox,
    op::{Grant, Op},
    process::ProcessState,
    waiters::Waiters,
    words::Delivery,
};
use crate::{
    explorer::Event,
    ids::{Object, Process},
};

impl World {
    /// Recomputes what a process can do and tells the explorer if it can run now, or no longer.
    pub(super) fn refresh(&mut self, process: Process) {
        let now = if self.looked.is_open() { self.count_looking(process) } else { self.count(process) };
        let before = self.processes[process.index()].alternatives;
        if now != before {
            self.tell(process, before, now);
        }
    }

    /// Counts a process's alternatives anew, with no look at how many messages there are where that is how many it has.
    #[cold]
    fn count_looking(&self, process: Process) -> u32 {
        match self.counted_by(&self.processes[process.index()]) {
            Some(object) => self.mailboxes[object.index()].queue.len_looking_whether_any(),
            None => self.count(process),
        }
    }

    /// The mailbox whose messages are the alternatives of a process, one each.
    pub(super) fn counted_by(&self, state: &ProcessState) -> Option<Object> {
        let only = state.pending.first().filter(|_| state.in_use == 1 && state.is_live() && !state.cancelled)?;
        let Op::Receive(from) = only.op else { return None };
        let mailbox = &self.mailboxes[from.index()];
        #[cfg(feature = "test-hooks")]
        if self.losses(from) > 0 {
            return None;
        }
        let is_counted = mailbox.delivery == Delivery::Unordered && !mailbox.closed && !mailbox.abandoned;
        (is_counted && only.state == Grant::Waiting && !self.is_hostile()).then_some(from)
    }

    #[inline]
    fn tell(&mut self, process: Process, before: u32, now: u32) {
        self.processes[process.index()].alternatives = now;
        self.changed(process, before, now);
    }

    /// A process has other alternatives than before, which stands in its state already.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "two counts and an event, where it is known which way")]
    pub(super) fn changed(&mut self, process: Process, before: u32, now: u32) {
        self.alternatives = self.alternatives + now - before;
        if before == 0 {
            self.enabled += 1;
            self.events.push(Event::Enabled { process, by: self.actor });
        } else if now == 0 {
            self.enabled -= 1;
            self.events.push(Event::Blocked(process));
        }
    }

    /// Refreshes every process but the actor whose alternatives depend on what is queued in a mailbox. The actor is refreshed
    /// when its step settles.
    #[inline]
    pub(super) fn refresh_readers(&mut self, object: Object) {
        self.refresh_all(object, |mailbox| &mailbox.readers);
        if self.decides_at_send(object) {
            // Where a message lands depends on those that are there.
            self.refresh_writers(object);
        }
    }

    /// Refreshes every process but the actor for which a message that has arrived makes a difference.
    #[inline]
    pub(super) fn refresh_after_arrival(&mut self, object: Object) {
        let mailbox = &self.mailboxes[object.index()];
        let is_full = !mailbox.has_room();
        // Who can receive the first of a queue cannot do more because of another.
        let waits_in_line = mailbox.delivery == Delivery::Fifo && self.is_beyond_network(mailbox);
        if !waits_in_line || mailbox.queue.may_have_been_empty() {
            self.refresh_readers(object);
        }
        if is_full {
            self.refresh_writers(object);
        }
    }

    /// Refreshes every process but the actor that waits for room in a mailbox, or for its end.
    #[inline]
    pub(super) fn refresh_writers(&mut self, object: Object) {
        self.refresh_all(object, |mailbox| &mailbox.writers);
    }

    #[inline]
    fn refresh_all(&mut self, object: Object, waiting: impl Fn(&Mailbox) -> &Waiters) {
        let mut at = 0;
        while let Some(process) = waiting(&self.mailboxes[object.index()]).all().get(at).copied() {
            if process != self.actor {
                self.refresh(process);
            }
            at += 1;
        }
    }

    /// Refreshes every process of a list but the actor.
    #[inline]
    pub(super) fn refresh_each(&mut self, waiting: &[Process]) {
        for process in waiting {
            if *process != self.actor {
                self.refresh(*process);
            }
        }
    }

    /// Refreshes every process but the actor that waits on a mailbox.
    pub(super) fn refresh_waiting(&mut self, object: Object) {
        self.refresh_all(object, |mailbox| &mailbox.readers);
        self.refresh_writers(object);
    }
}

//! Granting one choice: its effects on the state, and who can run afterwards.
//!
//! A step is: [`World::grant`], then the process is polled (its immediate ops arrive through `act.rs`), then
//! [`World::inline`] as long as the granularity lets the step go on, then [`World::settle`].

use super::{
    Choice, Granularity, World,
    mailbox::Delivery,
    op::{Grant, Observation, Op},
    process::Status,
};
use crate::{
    explorer::Event,
    hash::{Domain, Print},
    ids::{Object, Process, Slot},
};

/// What a granted choice asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Poll the process; the op in this slot was granted.
    Poll(Process, Slot),
    /// Drop the process: it was aborted.
    Drop(Process),
}

impl World {
    /// Grants a choice of the current state.
    ///
    /// Returns none if the state has no such choice: then the program did not do what it did before.
    #[inline]
    pub fn grant(&mut self, choice: Choice) -> Option<Next> {
        self.events.clear();
        self.notes.ops_in_step = 0;
        if let Some((process, slot, outcomes)) = self.choosing.first().copied() {
            if process != choice.process || choice.alternative >= outcomes {
                return None;
            }
            self.choosing.remove(0);
            self.begin_step(process);
            self.steps += 1;
            let seen = Print::default().with(u64::from(choice.alternative));
            self.conclude(process, slot, Observation::Outcome(choice.alternative), seen);
            return Some(Next::Poll(process, slot));
        }
        let (process, slot, alternative) = self.locate(choice)?;
        self.begin_step(process);
        Some(self.perform(process, slot, alternative))
    }

    #[inline]
    fn begin_step(&mut self, process: Process) {
        self.actor = process;
        self.processes[process.index()].steps += 1;
    }

    #[inline]
    fn perform(&mut self, process: Process, slot: Slot, alternative: u32) -> Next {
        self.steps += 1;
        let op = self.processes[process.index()].pending[slot.index()].op;
        let (observation, seen) = match op {
            Op::Start | Op::Yield | Op::Woken => (Observation::Done, Print::default()),
            Op::Cancel => {
                self.end(process, Status::Cancelled);
                return Next::Drop(process);
            }
            Op::Send { to, content } => self.perform_send(process, to, content),
            Op::Reserve(to) => self.perform_reserve(to),
            Op::Receive(from) => self.perform_receive(process, slot, from, alternative),
            Op::Closed(of) => {
                self.forget(process, of);
                (Observation::Closed, Print::default())
            }
            Op::Join(child) => {
                let child = &self.processes[child.index()];
                (Observation::Done, child.local.with(child.status as u64))
            }
            Op::Sleep(deadline) => {
                self.now = self.now.max(deadline);
                self.sleepers.retain(|sleeper| *sleeper != (process, slot));
                (Observation::Done, Print::default())
            }
            Op::Choose(_) => crate::bug!("an explicit choice is resolved before anything else"),
        };
        if !matches!(op, Op::Yield | Op::Start | Op::Woken) {
            self.notes.ops_in_step += 1;
        }
        self.conclude(process, slot, observation, seen);
        if matches!(op, Op::Start | Op::Woken) {
            // No future stands for these.
            self.look_at(process, slot);
        }
        Next::Poll(process, slot)
    }

    /// Marks the op granted and folds what is observed into the process's history.
    #[inline]
    fn conclude(&mut self, process: Process, slot: Slot, observation: Observation, seen: Print) {
        let pending = &mut self.processes[process.index()].pending[slot.index()];
        pending.state = Grant::Granted(observation);
        let op = pending.op;
        self.observe(process, op, observation, seen);
    }

    /// local := H(local, op, object, what was seen). The tag keeps "Empty", "Closed" and a message apart.
    #[inline]
    pub(super) fn observe(&mut self, process: Process, op: Op, observation: Observation, seen: Print) {
        let (tag, about) = match op {
            Op::Start => (1, Print::default()),
            Op::Yield => (2, Print::default()),
            Op::Send { to, .. } => (3, self.names.object_print(to)),
            Op::Reserve(to) => (4, self.names.object_print(to)),
            Op::Receive(from) => (5, self.names.object_print(from)),
            Op::Closed(of) => (6, self.names.object_print(of)),
            Op::Join(child) => (7, self.names.process_print(child)),
            Op::Sleep(_) => (8, Print::default()),
            Op::Choose(_) => (9, Print::default()),
            Op::Woken => (10, Print::default()),
            Op::Cancel => (11, Print::default()),
        };
        let kind = match observation {
            Observation::Done => 1,
            Observation::Sent(_) => 2,
            Observation::Received(_) => 3,
            Observation::Closed => 4,
            Observation::Outcome(_) => 5,
        };
        self.observe_print(process, Print::of(Domain::Observation).with(tag << 8 | kind).and(about).and(seen));
    }

    #[inline]
    pub(super) fn observe_print(&mut self, process: Process, what: Print) {
        let state = &mut self.processes[process.index()];
        state.local = state.local.and(what);
        self.touch_print(process);
    }

    fn perform_send(&mut self, process: Process, to: Object, content: Option<Print>) -> (Observation, Print) {
        self.forget(process, to);
        if self.mailboxes[to.index()].closed {
            return (Observation::Closed, Print::default());
        }
        let message = self.enqueue(process, to, content);
        (Observation::Sent(message), Print::default())
    }

    fn perform_reserve(&mut self, to: Object) -> (Observation, Print) {
        let actor = self.actor;
        self.forget(actor, to);
        let mailbox = &mut self.mailboxes[to.index()];
        if mailbox.closed {
            return (Observation::Closed, Print::default());
        }
        mailbox.reserved += 1;
        self.touch_mailbox_print(to);
        self.refresh_waiting(to);
        (Observation::Done, Print::default())
    }

    fn perform_receive(&mut self, process: Process, slot: Slot, from: Object, alternative: u32) -> (Observation, Print) {
        self.forget(process, from);
        let mailbox = &mut self.mailboxes[from.index()];
        let Some(queued) = mailbox.take(alternative) else {
            return (Observation::Closed, Print::default());
        };
        self.processes[process.index()].pending[slot.index()].taken = Some(queued);
        self.touch_mailbox_print(from);
        self.refresh_waiting(from);
        (Observation::Received(queued.message), queued.id)
    }

    /// Goes on within the step if the granularity says so: grants the actor's only op without a scheduling point.
    #[inline]
    pub fn inline(&mut self) -> Option<Next> {
        let process = self.actor;
        let state = &self.processes[process.index()];
        if self.granularity == Granularity::Op || !state.is_live() || self.names.is_abortable(process) {
            return None;
        }
        let slot = state.sole()?;
        let pending = &state.pending[slot.index()];
        let goes_on = match (self.granularity, pending.op) {
            (Granularity::Send, Op::Receive(from)) => {
                let mailbox = &self.mailboxes[from.index()];
                mailbox.delivery == Delivery::Fifo && mailbox.capacity == u32::MAX && !mailbox.queue.is_empty()
            }
            (Granularity::Macro, Op::Send { .. } | Op::Yield | Op::Reserve(_)) => true,
            _ => false,
        };
        if !goes_on || self.ready(state.cancelled, pending.op, pending.state) == 0 {
            return None;
        }
        Some(self.perform(process, slot, 0))
    }

    /// Ends the step for a process that was polled: tells the explorer whether it can go on.
    #[inline]
    pub fn settle(&mut self, process: Process) {
        self.refresh(process);
    }

    /// Recomputes whether a process can run and tells the explorer if that changed.
    #[inline]
    pub(super) fn refresh(&mut self, process: Process) {
        let enabled = self.processes[process.index()].is_live() && self.alternatives(process) > 0;
        let state = &mut self.processes[process.index()];
        if state.enabled == enabled {
            return;
        }
        state.enabled = enabled;
        if enabled {
            self.enabled += 1;
            self.events.push(Event::Enabled { process, by: self.actor });
        } else {
            self.enabled -= 1;
            self.events.push(Event::Blocked(process));
        }
    }

    /// Refreshes every process but the actor that waits on a mailbox. The actor is refreshed when its step settles.
    #[inline]
    pub(super) fn refresh_waiting(&mut self, object: Object) {
        let waiting = std::mem::take(&mut self.mailboxes[object.index()].waiting);
        for process in &waiting {
            if *process != self.actor {
                self.refresh(*process);
            }
        }
        self.mailboxes[object.index()].waiting = waiting;
    }

    /// A process does not wait on a mailbox any more, by one op.
    pub(super) fn forget(&mut self, process: Process, object: Object) {
        let waiting = &mut self.mailboxes[object.index()].waiting;
        if let Some(at) = waiting.iter().position(|other| *other == process) {
            waiting.swap_remove(at);
        }
    }
}

//! What a process does while it is polled: immediate ops, and the ops it starts and stops waiting for.
//!
//! The actor is never refreshed here: whether it can go on is settled at the end of its step.

use super::{
    Granularity, World,
    mailbox::{Delivery, Mailbox, Queued},
    op::{Grant, Immediate, Observation, Op, Site},
    process::Status,
};
use crate::{
    explorer::Event,
    hash::{Domain, Print},
    ids::{Message, Object, Process, Slot},
};

/// A process that was just spawned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spawned {
    /// It is polled to its first op right after its spawner.
    Poll(Process),
    /// Its start is a step of its own.
    Waits(Process),
}

impl Spawned {
    /// The process.
    pub fn process(self) -> Process {
        match self {
            Self::Poll(process) | Self::Waits(process) => process,
        }
    }
}

impl World {
    /// Spawns a process from the actor.
    pub fn spawn(&mut self, site: Site) -> Spawned {
        let parent = self.actor;
        let state = &mut self.processes[parent.index()];
        let k = state.spawned;
        state.spawned += 1;
        let local = Print::of(Domain::Process).and(state.local).with(u64::from(k));
        self.touch_print(parent);
        let child = self.names.child(parent, k);
        self.begin(child, local);
        if self.names.starts_alone(local) {
            self.processes[child.index()].insert(Op::Start, site);
            self.refresh(child);
            return Spawned::Waits(child);
        }
        Spawned::Poll(child)
    }

    /// A freshly spawned process is about to be polled within its spawner's step.
    pub fn begin_first_poll(&mut self, child: Process) {
        self.actor = child;
        self.first_poll = child != Process::BODY;
    }

    /// Its first poll is over.
    pub fn end_first_poll(&mut self, child: Process, spawner: Process) {
        self.first_poll = false;
        // Whoever could not run before can now because of the spawner's step.
        self.actor = spawner;
        if self.processes[child.index()].is_live() {
            self.refresh(child);
        }
    }

    /// The actor has returned.
    pub fn finish(&mut self, process: Process) {
        self.end(process, Status::Finished);
    }

    pub(super) fn end(&mut self, process: Process, status: Status) {
        let mut pending = std::mem::take(&mut self.processes[process.index()].pending);
        for (index, op) in pending.iter().enumerate() {
            if op.state == Grant::Waiting {
                self.stop_waiting(process, Slot(index as u32), op.op);
            }
        }
        pending.clear();
        let state = &mut self.processes[process.index()];
        (state.pending, state.in_use, state.status) = (pending, 0, status);
        self.touch_print(process);
        self.refresh(process);
        self.events.push(Event::Finish(process));
        let joiners = std::mem::take(&mut self.processes[process.index()].joiners);
        for joiner in &joiners {
            self.refresh(*joiner);
        }
        self.processes[process.index()].joiners = joiners;
    }

    /// Aborts a process: from now on its only step is to be dropped.
    pub fn abort(&mut self, target: Process, site: Site) {
        if self.names.remember_abort(target) && self.granularity != Granularity::Op {
            self.notes.new_abort = true;
        }
        self.shared_op();
        let state = &mut self.processes[target.index()];
        if !state.is_live() || state.cancelled {
            return;
        }
        state.cancelled = true;
        state.insert(Op::Cancel, site);
        self.touch_print(target);
        if target != self.actor {
            self.refresh(target);
        }
    }

    /// Creates a mailbox on behalf of the actor.
    pub fn create(&mut self, delivery: Delivery, capacity: u32, one_message: bool) -> Object {
        let creator = self.actor;
        let state = &mut self.processes[creator.index()];
        let k = state.created;
        state.created += 1;
        self.touch_print(creator);
        if self.granularity == Granularity::Macro && delivery == Delivery::Fifo && !one_message {
            self.notes.fifo_in_macro = true;
        }
        let object = self.names.object(creator, k);
        while self.mailboxes.len() <= object.index() {
            self.mailboxes.push(Mailbox::new());
        }
        self.mailboxes[object.index()].reset(delivery, capacity);
        self.present_mailboxes.push(object);
        self.touch_mailbox_print(object);
        object
    }

    /// An immediate op touched something other processes can see.
    #[inline]
    fn shared_op(&mut self) {
        self.notes.ops_in_step += 1;
        if self.notes.ops_in_step > 1 {
            self.notes.merged_ops = true;
        }
        if self.first_poll && self.notes.early.is_none() {
            self.notes.early = Some(self.processes[self.actor.index()].local);
        }
    }

    /// An object its creator is still alone with is not shared.
    #[inline]
    fn shared_op_on(&mut self, object: Object) {
        if !(self.first_poll && self.names.of_object(object).0 == self.actor) {
            self.shared_op();
        }
    }

    pub(super) fn enqueue(&mut self, from: Process, to: Object, content: Option<Print>) -> Message {
        let message = Message(self.messages);
        self.messages += 1;
        // An opaque value is named by its origin: what its sender had observed, and where it sent it.
        let id = content.unwrap_or_else(|| {
            let sender = Print::of(Domain::Message).and(self.names.process_print(from));
            sender.and(self.processes[from.index()].local).and(self.names.object_print(to))
        });
        let mailbox = &mut self.mailboxes[to.index()];
        mailbox.queue.push_back(Queued { message, sender: from, id });
        let reader = mailbox.reader;
        self.touch_mailbox_print(to);
        self.refresh_waiting(to);
        if let Some(reader) = reader {
            self.events.push(Event::Sent { from, to: reader });
        }
        message
    }

    /// Sends without waiting.
    pub fn send_now(&mut self, to: Object, content: Option<Print>) -> Immediate {
        self.shared_op_on(to);
        let actor = self.actor;
        let mailbox = &self.mailboxes[to.index()];
        let result = if mailbox.closed {
            Immediate::Closed
        } else if !mailbox.has_room() {
            Immediate::Full
        } else {
            Immediate::Done(self.enqueue(actor, to, content))
        };
        let op = Op::Send { to, content };
        self.observe_immediate(op, result, Print::default());
        result
    }

    /// Takes a permit without waiting.
    ///
    /// # Errors
    /// Why there is none.
    pub fn reserve_now(&mut self, to: Object) -> Result<(), Immediate> {
        self.shared_op_on(to);
        let actor = self.actor;
        let mailbox = &mut self.mailboxes[to.index()];
        let refused = match (mailbox.closed, mailbox.has_room()) {
            (true, _) => Immediate::Closed,
            (false, false) => Immediate::Full,
            (false, true) => {
                mailbox.reserved += 1;
                self.touch_mailbox_print(to);
                self.refresh_waiting(to);
                self.observe(actor, Op::Reserve(to), Observation::Done, Print::default());
                return Ok(());
            }
        };
        self.observe_immediate(Op::Reserve(to), refused, Print::default());
        Err(refused)
    }

    /// Sends through a permit granted before.
    pub fn send_reserved(&mut self, to: Object, content: Option<Print>) -> Immediate {
        self.mailboxes[to.index()].reserved -= 1;
        self.shared_op_on(to);
        let actor = self.actor;
        let result = Immediate::Done(self.enqueue(actor, to, content));
        self.observe_immediate(Op::Send { to, content }, result, Print::default());
        result
    }

    /// Gives a permit back unused.
    pub fn release(&mut self, object: Object) {
        self.mailboxes[object.index()].reserved -= 1;
        self.touch_mailbox_print(object);
        self.refresh_waiting(object);
    }

    /// Receives the oldest message without waiting.
    pub fn receive_now(&mut self, from: Object) -> Immediate {
        self.shared_op_on(from);
        let mailbox = &mut self.mailboxes[from.index()];
        let (result, seen) = match mailbox.take(0) {
            Some(queued) => (Immediate::Done(queued.message), queued.id),
            None if mailbox.is_over() => (Immediate::Closed, Print::default()),
            None => (Immediate::Empty, Print::default()),
        };
        if let Immediate::Done(_) = result {
            self.touch_mailbox_print(from);
            self.refresh_waiting(from);
        }
        // Finding nothing is an observation too (pitfall B.10).
        self.observe_immediate(Op::Receive(from), result, seen);
        result
    }

    fn observe_immediate(&mut self, op: Op, result: Immediate, seen: Print) {
        let (observation, extra) = match result {
            Immediate::Done(message) => match op {
                Op::Receive(_) => (Observation::Received(message), 0),
                _ => (Observation::Sent(message), 0),
            },
            Immediate::Closed => (Observation::Closed, 0),
            Immediate::Empty => (Observation::Done, 1),
            Immediate::Full => (Observation::Done, 2),
        };
        let actor = self.actor;
        self.observe(actor, op, observation, seen.with(extra));
    }

    /// Looks at a mailbox without changing it; what is seen is an observation.
    pub fn look(&mut self, object: Object, see: impl FnOnce(&Mailbox) -> u64) -> u64 {
        self.shared_op_on(object);
        let seen = see(&self.mailboxes[object.index()]);
        let about = self.names.object_print(object);
        let actor = self.actor;
        self.observe_print(actor, Print::of(Domain::Observation).and(about).with(seen));
        seen
    }

    /// Looks at how far a process has come: an observation.
    pub fn look_at_process(&mut self, process: Process) -> Status {
        self.shared_op();
        let (actor, status) = (self.actor, self.processes[process.index()].status);
        let about = self.names.process_print(process);
        self.observe_print(actor, Print::of(Domain::Observation).and(about).with(status as u64));
        status
    }

    /// The receiver was closed explicitly: sends fail from now on.
    pub fn close(&mut self, object: Object) {
        self.shared_op_on(object);
        self.receiver_gone(object, false);
    }

    /// The receiver is closed or dropped. `discard` drops what is queued. Dropping a handle is not an op of its own:
    /// a waiting process sees the end whenever it is scheduled.
    pub fn receiver_gone(&mut self, object: Object, discard: bool) {
        let mailbox = &mut self.mailboxes[object.index()];
        mailbox.closed = true;
        if discard {
            mailbox.queue.clear();
        }
        self.touch_mailbox_print(object);
        self.refresh_waiting(object);
    }

    /// The last sender is gone: a receive on an empty mailbox sees the end.
    pub fn abandon(&mut self, object: Object) {
        self.mailboxes[object.index()].abandoned = true;
        self.touch_mailbox_print(object);
        self.refresh_waiting(object);
    }

    /// The actor starts waiting for an op.
    #[inline]
    pub fn wait(&mut self, op: Op, site: Site) -> Slot {
        let process = self.actor;
        let slot = self.processes[process.index()].insert(op, site);
        match op {
            Op::Send { to, .. } | Op::Reserve(to) => self.mailboxes[to.index()].waiting.push(process),
            Op::Closed(object) => self.mailboxes[object.index()].waiting.push(process),
            Op::Receive(from) => {
                let mailbox = &mut self.mailboxes[from.index()];
                mailbox.waiting.push(process);
                mailbox.reader = Some(process);
            }
            Op::Join(child) => self.processes[child.index()].joiners.push(process),
            Op::Sleep(_) => self.sleepers.push((process, slot)),
            Op::Choose(outcomes) => self.choosing.push((process, slot, outcomes)),
            Op::Start | Op::Yield | Op::Woken | Op::Cancel => {}
        }
        slot
    }

    /// A process woken by uncontrolled code can run.
    pub fn wake(&mut self, process: Process, site: Site) {
        let state = &mut self.processes[process.index()];
        let known = state.pending.iter().any(|pending| pending.op == Op::Woken && pending.state == Grant::Waiting);
        if state.is_live() && !known {
            state.insert(Op::Woken, site);
            self.refresh(process);
        }
    }

    /// What the op in a slot was granted, if it was; then the slot is free again.
    #[inline]
    pub fn look_at(&mut self, process: Process, slot: Slot) -> Option<Observation> {
        let state = &mut self.processes[process.index()];
        let pending = &mut state.pending[slot.index()];
        let Grant::Granted(observation) = pending.state else {
            return None;
        };
        (pending.state, pending.taken) = (Grant::Free, None);
        state.in_use -= 1;
        Some(observation)
    }

    /// Whether a granted op has not been looked at.
    pub fn has_unseen(&self, process: Process) -> bool {
        let state = &self.processes[process.index()];
        state.in_use > 0 && state.pending.iter().any(|pending| matches!(pending.state, Grant::Granted(_)))
    }

    /// The future of an op was dropped: nobody waits for it any more, and what it was granted goes back.
    pub fn cancel(&mut self, process: Process, slot: Slot) {
        let state = &mut self.processes[process.index()];
        let Some(pending) = state.pending.get_mut(slot.index()) else {
            return;
        };
        let (op, was, taken) = (pending.op, pending.state, pending.taken.take());
        if was == Grant::Free {
            return;
        }
        pending.state = Grant::Free;
        state.in_use -= 1;
        match (was, op) {
            (Grant::Waiting, _) => self.stop_waiting(process, slot, op),
            (Grant::Granted(Observation::Received(_)), Op::Receive(from)) => {
                if let Some(queued) = taken {
                    self.mailboxes[from.index()].put_back(queued);
                }
                self.touch_mailbox_print(from);
            }
            (Grant::Granted(Observation::Sent(message)), Op::Send { to, .. }) => {
                self.mailboxes[to.index()].queue.retain(|queued| queued.message != message);
                self.touch_mailbox_print(to);
                self.refresh_waiting(to);
            }
            (Grant::Granted(Observation::Done), Op::Reserve(to)) => self.release(to),
            _ => {}
        }
        if process != self.actor && self.processes[process.index()].is_live() {
            self.refresh(process);
        }
    }

    fn stop_waiting(&mut self, process: Process, slot: Slot, op: Op) {
        match op {
            Op::Send { to, .. } | Op::Reserve(to) => self.forget(process, to),
            Op::Receive(object) | Op::Closed(object) => self.forget(process, object),
            Op::Join(child) => {
                let joiners = &mut self.processes[child.index()].joiners;
                if let Some(at) = joiners.iter().position(|joiner| *joiner == process) {
                    joiners.swap_remove(at);
                }
            }
            Op::Sleep(_) => self.sleepers.retain(|sleeper| *sleeper != (process, slot)),
            Op::Choose(_) => self.choosing.retain(|(p, s, _)| (*p, *s) != (process, slot)),
            Op::Start | Op::Yield | Op::Woken | Op::Cancel => {}
        }
    }

    /// Registers a monitor in this state; the number it goes by.
    pub fn add_monitor(&mut self, state: Print) -> usize {
        self.shared_op();
        self.monitors.push(state);
        self.monitors.len() - 1
    }

    /// A monitor is in this state now.
    pub fn set_monitor(&mut self, monitor: usize, state: Print) {
        self.monitors[monitor] = state;
    }

    /// The actor announced an event that a monitor sees.
    pub fn announce(&mut self) {
        self.shared_op();
    }

    /// The future of the actor depends only on `state`: its history is forgotten.
    ///
    /// Returns false, and changes nothing, if another op of the process is pending: that op is part of its state too.
    pub fn checkpoint(&mut self, state: Print) -> bool {
        let process = &mut self.processes[self.actor.index()];
        if process.in_use > 0 {
            return false;
        }
        process.local = state;
        let actor = self.actor;
        self.touch_print(actor);
        true
    }

    /// The seed of the actor's next random draw: a function of its name and how often it drew, not a choice.
    pub fn draw(&mut self, seed: u64) -> u64 {
        let actor = self.actor;
        let state = &mut self.processes[actor.index()];
        let number = state.drawn;
        state.drawn += 1;
        self.touch_print(actor);
        let name = self.names.process_print(actor);
        Print::of(Domain::Draw).and(name).with(seed).with(u64::from(number)).short()
    }

    /// The actor looked at the clock.
    pub fn look_at_clock(&mut self) -> u64 {
        let (actor, now) = (self.actor, self.now);
        self.observe_print(actor, Print::of(Domain::Clock).with(now));
        now
    }

    /// Tells the explorer what the program said.
    pub fn call(&mut self, process: Process, value: u32) {
        self.events.push(Event::Call { process, value });
    }
}

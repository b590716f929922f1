//! The ops a process starts and stops waiting for, and how it looks at what it was granted.
//!
//! Invariant: a slot is in use from [`World::wait`] until its op was looked at or cancelled; a granted op whose future is
//! dropped, or kept and not polled, gives back what it took.

use super::{
    World,
    access::Kind,
    beyond::Beyond,
    fault::Rule,
    journal::Act,
    network::Fate,
    op::{Grant, Observation, Op, Pending, Site},
    store::Access,
    waiters::leave,
};
use crate::{
    hash::Print,
    ids::{Object, Process, Slot},
};

impl World {
    /// The actor starts waiting for an op.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "which op it is, is known where it is called")]
    pub fn wait(&mut self, op: Op, site: Site) -> Slot {
        // What tasks wait for most, apart: an op that goes through memory, written in parts and read as a whole, costs more than
        // all the rest.
        match op {
            Op::Receive(from) => match self.wait_unnoted(from, site) {
                Some(slot) => slot,
                None => self.wait_to_receive(from, site),
            },
            Op::Send { to, content, rule } => self.wait_to_send(to, content, rule, site),
            op => self.wait_for(op, site),
        }
    }

    #[inline(never)]
    fn wait_to_receive(&mut self, from: Object, site: Site) -> Slot {
        let process = self.actor;
        self.journal.note(|| Act::Wait(Op::Receive(from), site));
        let state = &mut self.processes[process.index()];
        let slot = state.insert(Op::Receive(from), site);
        let mailbox = &mut self.mailboxes[from.index()];
        mailbox.readers.push(process);
        mailbox.reader = Some(process);
        if mailbox.is_straight {
            state.enter_lane(from);
        }
        slot
    }

    #[inline]
    fn wait_to_send(&mut self, to: Object, content: Option<Print>, rule: Rule, site: Site) -> Slot {
        let process = self.actor;
        self.journal.note(|| Act::Wait(Op::Send { to, content, rule }, site));
        let slot = self.processes[process.index()].insert(Op::Send { to, content, rule }, site);
        self.mailboxes[to.index()].writers.push(process);
        slot
    }

    fn wait_for(&mut self, op: Op, site: Site) -> Slot {
        let process = self.actor;
        match op {
            Op::Sleep(deadline) => {
                let span = deadline.saturating_sub(self.actors_now());
                self.journal.note(|| Act::Sleep(span, site));
                self.cannot_reduce("timers (sleep, timeout, interval)");
            }
            Op::Crash(_) | Op::Restart(_) | Op::Down(_) => self.beyond_journal(Beyond::Nodes),
            Op::Store(..) => self.beyond_journal(Beyond::Storage),
            op => {
                if let Op::Shared { ask, .. } = op
                    && ask.ticket().is_some_and(|ticket| self.is_of_forgotten_origin(ticket))
                {
                    self.beyond_step(Beyond::Handles);
                }
                self.journal.note(|| Act::Wait(op, site));
            }
        }
        let op = match op {
            // Asked for by the clock of its node.
            Op::Sleep(deadline) => Op::Sleep(deadline.saturating_sub(self.ahead(process))),
            op => op,
        };
        let slot = self.processes[process.index()].insert(op, site);
        match op {
            Op::Reserve(object) | Op::Closed(object) => self.mailboxes[object.index()].writers.push(process),
            Op::Join(child) => self.processes[child.index()].joiners.push(process),
            Op::Sleep(_) => {
                self.sleepers.push((process, slot));
                self.meets_time();
            }
            Op::Shared { object, .. } => self.wait_shared(process, object),
            Op::Choose(outcomes) => {
                if self.choosing.iter().any(|(other, ..)| *other == process) {
                    (self.notes.two_choices, self.notes.is_remarkable) = (true, true);
                }
                self.choosing.push((process, slot, outcomes));
            }
            Op::Down(root) => self.node_mut(root).watchers.push(process),
            // Receives and sends stand above.
            Op::Receive(_)
            | Op::Send { .. }
            | Op::Start
            | Op::Yield
            | Op::Woken
            | Op::Cancel
            | Op::Crash(_)
            | Op::Restart(_)
            | Op::Store(..) => {}
        }
        slot
    }

    /// A process woken by uncontrolled code can run.
    pub fn wake(&mut self, process: Process, site: Site) {
        self.cannot_reduce("wakes by code that delay does not control");
        let state = &mut self.processes[process.index()];
        let known = state.pending.iter().any(|pending| pending.op == Op::Woken && pending.state == Grant::Waiting);
        if state.is_live() && !known {
            state.insert(Op::Woken, site);
            self.refresh(process);
        }
    }

    /// What the op in a slot was granted, if it was; then the slot is free again.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "most leaves are looked at twice, and the answer is a word or two")]
    pub fn look_at(&mut self, process: Process, slot: Slot) -> Option<Observation> {
        self.journal.note(|| Act::LookAtWait(slot));
        let state = &mut self.processes[process.index()];
        let pending = &mut state.pending[slot.index()];
        let Grant::Granted(observation) = pending.state else {
            return self.look_again(process, slot);
        };
        (pending.state, pending.taken) = (Grant::Free, None);
        state.in_use -= 1;
        state.unseen -= 1;
        Some(observation)
    }

    /// Looks at an op that is not granted: one that was set aside goes on where it was.
    fn look_again(&mut self, process: Process, slot: Slot) -> Option<Observation> {
        let state = &mut self.processes[process.index()];
        let pending = &mut state.pending[slot.index()];
        match (pending.state, pending.op) {
            (Grant::Dormant, Op::Receive(from)) => {
                pending.state = Grant::Waiting;
                self.mailboxes[from.index()].readers.push(process);
                None
            }
            (Grant::Dormant, Op::Send { to, .. }) => {
                pending.state = Grant::Waiting;
                self.mailboxes[to.index()].writers.push(process);
                None
            }
            (Grant::Dormant, Op::Shared { object, .. }) => {
                pending.state = Grant::Waiting;
                self.wait_shared(process, object);
                None
            }
            (Grant::Held, Op::Send { to, content, rule }) => {
                pending.state = Grant::Free;
                state.in_use -= 1;
                self.shared_op_on(to);
                self.mailboxes[to.index()].reserved -= 1;
                Some(self.enqueue(process, to, content, rule, Fate::AheadOf(0)))
            }
            _ => None,
        }
    }

    /// A process was polled and did not look at what it was granted: the op's future is kept somewhere, and something
    /// else is being polled. As in tokio, such a future has been woken and holds its place: a message stays in its
    /// mailbox, a send has its room.
    #[inline]
    pub fn set_aside(&mut self, process: Process) {
        if self.processes[process.index()].unseen > 0 {
            self.set_aside_unseen(process);
        }
    }

    #[cold]
    fn set_aside_unseen(&mut self, process: Process) {
        for index in 0..self.processes[process.index()].pending.len() {
            let was = self.processes[process.index()].pending[index];
            let decides_at_send = matches!(was.op, Op::Send { to, .. } if self.decides_at_send(to));
            let pending = &mut self.processes[process.index()].pending[index];
            match (was.state, was.op) {
                (Grant::Granted(Observation::Received(_)), Op::Receive(_)) => {
                    (pending.state, pending.taken) = (Grant::Dormant, None);
                    self.processes[process.index()].unseen -= 1;
                    self.withdraw(process, Slot(index as u32), was);
                }
                (Grant::Granted(_), Op::Shared { ask, .. }) if Self::takes_nothing(ask) => {
                    pending.state = Grant::Dormant;
                    self.processes[process.index()].unseen -= 1;
                }
                (Grant::Granted(_), Op::Send { .. }) if decides_at_send => {
                    // Its fate is decided when it is really sent.
                    pending.state = Grant::Dormant;
                    self.processes[process.index()].unseen -= 1;
                    self.withdraw(process, Slot(index as u32), was);
                }
                (Grant::Granted(Observation::Sent(_)), Op::Send { to, .. }) => {
                    pending.state = Grant::Held;
                    self.processes[process.index()].unseen -= 1;
                    self.mailboxes[to.index()].reserved += 1;
                    self.withdraw(process, Slot(index as u32), was);
                }
                _ => {}
            }
        }
    }

    /// The future of an op was dropped: nobody waits for it any more, and what it was granted goes back.
    pub fn cancel(&mut self, process: Process, slot: Slot) {
        if process == self.actor {
            self.journal.note(|| Act::Cancel(slot));
        } else {
            self.beyond_step(Beyond::Drops);
            self.touch_process(process, Kind::Abort);
        }
        let state = &mut self.processes[process.index()];
        let Some(pending) = state.pending.get_mut(slot.index()) else {
            return;
        };
        let was = *pending;
        if was.state == Grant::Free {
            return;
        }
        (pending.state, pending.taken) = (Grant::Free, None);
        (state.lane, state.in_use) = (None, state.in_use - 1);
        state.unseen -= u32::from(matches!(was.state, Grant::Granted(_)));
        self.withdraw(process, slot, was);
        if process != self.actor && self.processes[process.index()].is_live() {
            self.refresh(process);
        }
    }

    /// Undoes what an op has done so far.
    pub(super) fn withdraw(&mut self, process: Process, slot: Slot, was: Pending) {
        match (was.state, was.op) {
            (_, Op::Shared { object, ask }) => self.withdraw_shared(process, slot, was, object, ask),
            (Grant::Waiting, op) => self.stop_waiting(process, slot, op),
            (Grant::Granted(Observation::Received(_)), Op::Receive(from)) => {
                self.touch_object(from, Kind::Write);
                if let Some(queued) = was.taken {
                    self.mailboxes[from.index()].put_back(queued);
                }
                self.touch_mailbox_print(from);
                self.refresh_waiting(from);
            }
            (Grant::Granted(Observation::Sent(message)), Op::Send { to, .. }) => {
                self.touch_object(to, Kind::Write);
                self.mailboxes[to.index()].queue.retain(|queued| queued.message != message);
                self.environment.late.retain(|(_, queued)| queued.message != message);
                self.touch_mailbox_print(to);
                self.refresh_waiting(to);
            }
            (Grant::Granted(Observation::Sent(message)), Op::Store(store, Access::Write(_))) => {
                self.unwrite(store, message);
            }
            (Grant::Granted(Observation::Done), Op::Reserve(to)) | (Grant::Held, Op::Send { to, .. }) => {
                self.give_back(to);
            }
            _ => {}
        }
    }

    pub(super) fn stop_waiting(&mut self, process: Process, slot: Slot, op: Op) {
        match op {
            Op::Send { to: object, .. } | Op::Reserve(object) | Op::Closed(object) => {
                self.mailboxes[object.index()].writers.forget(process);
            }
            Op::Receive(object) => self.mailboxes[object.index()].readers.forget(process),
            Op::Join(child) => {
                leave(&mut self.processes[child.index()].joiners, process);
            }
            Op::Sleep(_) => self.sleepers.retain(|sleeper| *sleeper != (process, slot)),
            Op::Choose(_) => self.choosing.retain(|(p, s, _)| (*p, *s) != (process, slot)),
            Op::Down(root) => {
                leave(&mut self.node_mut(root).watchers, process);
            }
            Op::Shared { object, ask } => self.stop_waiting_shared(process, slot, object, ask),
            Op::Start | Op::Yield | Op::Woken | Op::Cancel | Op::Crash(_) | Op::Restart(_) | Op::Store(..) => {}
        }
    }
}

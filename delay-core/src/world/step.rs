//! Granting one choice: its effects on the state, and who can run afterwards.
//!
//! A step is: [`World::grant`], then the process is polled (its immediate ops arrive through `act.rs`), then
//! [`World::inline`] as long as the granularity lets the step go on, then [`World::settle`].

use super::{
    Choice, Granularity, World,
    access::Kind,
    fault::Rule,
    history::History,
    lane::RECEIVED,
    mailbox::{Mailbox, Queued},
    network::Fate,
    note_stale,
    op::{Grant, Immediate, Observation, Op},
    process::Status,
    store::Access,
    waiters::leave,
    words::Delivery,
};
use crate::{
    hash::{Domain, Print},
    ids::{Object, Process, Slot},
    name::Point,
};

/// What a granted choice asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Poll the process; the op in this slot was granted.
    Poll(Process, Slot),
    /// Drop the process: it was aborted.
    Drop(Process),
    /// Nothing: nobody was told anything.
    Stay(Process),
    /// Drop all processes of a node; then poll the process that asked for it.
    Crash(Process, Option<(Process, Slot)>),
    /// Start a node again; then poll the process that asked for it.
    Restart(Process, Option<(Process, Slot)>),
}

/// The op that a step goes on with, by its slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Further {
    /// A receive from this mailbox: of the message that is first.
    Receive(Slot, Object),
    /// Another.
    Other(Slot),
}

/// What tells ops apart in a history.
pub(super) const SEND: u64 = 3;
pub(super) const RESERVE: u64 = 4;
pub(super) const RECEIVE: u64 = 5;

/// What tells observations apart in a history.
#[inline]
pub(super) const fn kind(observation: Observation) -> u64 {
    match observation {
        Observation::Done => 1,
        Observation::Sent(_) | Observation::Lost(_) => 2,
        Observation::Received(_) => 3,
        Observation::Closed => 4,
        Observation::Outcome(_) => 5,
    }
}

/// What tells the results of immediate ops apart in a history. Past those of `kind`.
#[inline]
pub(super) const fn kind_now(result: Immediate) -> u64 {
    match result {
        Immediate::Done(_) => 6,
        Immediate::Closed => 7,
        Immediate::Empty => 8,
        Immediate::Full => 9,
    }
}

impl World {
    /// Grants a choice of the current state.
    ///
    /// Returns none if the state has no such choice: then the program did not do what it did before.
    #[inline]
    pub fn grant(&mut self, choice: Choice) -> Option<Next> {
        self.begin_grant();
        if !self.is_settled() || choice.process.is_environment() {
            return self.grant_apart(choice);
        }
        let (process, slot, alternative) = self.locate(choice)?;
        self.begin_step(process);
        #[cfg(feature = "test-hooks")]
        if self.is_carried()
            && let Some(next) = self.lose(process, slot, alternative)
        {
            return Some(next);
        }
        Some(self.perform(process, slot, alternative))
    }

    /// Nothing has happened yet.
    #[inline]
    pub(super) fn begin_grant(&mut self) {
        self.events.clear();
        self.happened.clear();
        self.taken.clear();
        self.notes.ops_in_step = 0;
        self.inside = None;
        self.accesses.begin();
    }

    /// Grants what is no op of a process that waits: a decision that comes before all else, or a move of the environment.
    fn grant_apart(&mut self, choice: Choice) -> Option<Next> {
        if self.deciding().is_some() {
            return (choice.process == Process::FAULTS).then(|| self.decide(choice.alternative)).flatten();
        }
        let Some((process, slot, outcomes)) = self.choosing.first().copied() else {
            return self.grant_environment(choice);
        };
        if process != choice.process || choice.alternative >= outcomes.count {
            return None;
        }
        self.choosing.remove(0);
        self.begin_step(process);
        self.steps += 1;
        let seen = Print::default().with(u64::from(choice.alternative));
        self.follow_value(seen);
        self.conclude(process, slot, Observation::Outcome(choice.alternative), Some(seen));
        Some(Next::Poll(process, slot))
    }

    #[inline]
    pub(super) fn begin_step(&mut self, process: Process) {
        self.actor = process;
        self.choices += 1;
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "what is performed is nearly always a receive, whose result then need not pass through memory"
    )]
    pub(super) fn perform(&mut self, process: Process, slot: Slot, alternative: u32) -> Next {
        self.steps += 1;
        self.touch_others(process, slot);
        match self.processes[process.index()].pending[slot.index()].op {
            Op::Receive(from) if !self.is_fault(from, alternative) => {
                self.perform_receive(process, slot, from, alternative);
                Next::Poll(process, slot)
            }
            _ => self.perform_other(process, slot, alternative),
        }
    }

    /// Performs what is no receive of a message.
    fn perform_other(&mut self, process: Process, slot: Slot, alternative: u32) -> Next {
        let op = self.processes[process.index()].pending[slot.index()].op;
        // First, so that its value is named by it: two that send at once send different values.
        if op.has_value() && self.names.keeps_histories() && self.processes[process.index()].in_use > 1 {
            self.observe_which(process, slot);
        }
        let (observation, seen) = match op {
            Op::Start | Op::Yield | Op::Woken => (Observation::Done, None),
            Op::Down(root) => {
                leave(&mut self.node_mut(root).watchers, process);
                (Observation::Done, None)
            }
            Op::Cancel => {
                self.end(process, Status::Cancelled);
                return Next::Drop(process);
            }
            Op::Crash(_) | Op::Restart(_) => return self.perform_on_node(process, slot, op),
            Op::Store(store, access) => self.perform_on_store(process, store, access),
            Op::Send { to, content, rule } => self.perform_send(process, to, content, rule, alternative),
            Op::Reserve(to) => self.perform_reserve(to),
            // That the network does something, since a message is received above.
            Op::Receive(from) => match self.perform_fault(from, alternative) {
                Some(queued) => {
                    self.mailboxes[from.index()].readers.forget(process);
                    self.processes[process.index()].pending[slot.index()].taken = Some(queued);
                    (Observation::Received(queued.message), Some(queued.id))
                }
                None => return Next::Stay(process),
            },
            Op::Closed(of) => {
                self.touch_object(of, Kind::SeeClosed);
                self.mailboxes[of.index()].writers.forget(process);
                (Observation::Closed, None)
            }
            Op::Join(child) => {
                self.touch_process(child, Kind::Join);
                (Observation::Done, Some(self.result_of(child)))
            }
            Op::Sleep(deadline) => {
                self.now = self.now.max(deadline);
                self.sleepers.retain(|sleeper| *sleeper != (process, slot));
                (Observation::Done, None)
            }
            Op::Choose(_) => crate::bug!("an explicit choice is resolved before anything else"),
            Op::Shared { object, ask } => {
                let Some(performed) = self.perform_shared(process, slot, object, ask) else {
                    self.notes.ops_in_step += 1;
                    return Next::Stay(process);
                };
                performed
            }
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
    pub(super) fn conclude(&mut self, process: Process, slot: Slot, observation: Observation, seen: Option<Print>) {
        let state = &mut self.processes[process.index()];
        (state.lane, state.unseen) = (None, state.unseen + 1);
        let pending = &mut state.pending[slot.index()];
        pending.state = Grant::Granted(observation);
        let op = pending.op;
        if state.in_use > 1 && !op.has_value() {
            self.observe_which(process, slot);
        }
        self.observe(process, op, observation, seen);
    }

    /// Which of several ops it was, decides what is left: two may look alike otherwise.
    #[cold]
    fn observe_which(&mut self, process: Process, slot: Slot) {
        let mark = self.op_mark(process, slot);
        let what = Print::of(Domain::Observation).with(mark);
        if self.looks.follow() {
            let pending = self.processes[process.index()].pending[slot.index()];
            self.follow_mark(what, mark, &pending);
        }
        self.observe_print(process, what);
    }

    /// What tells an op from the others of its process: its place, and its number among those of that place.
    pub(super) fn op_mark(&self, process: Process, slot: Slot) -> u64 {
        let pending = &self.processes[process.index()].pending;
        let site = pending[slot.index()].site;
        let before = pending[..slot.index()].iter().filter(|other| other.state != Grant::Free && other.site == site);
        u64::from(site.line()) << 32 ^ u64::from(site.column()) << 16 ^ before.count() as u64
    }

    /// local := H(local, op, object, what was seen). The tag keeps "Empty", "Closed" and a message apart.
    pub(super) fn observe(&mut self, process: Process, op: Op, observation: Observation, seen: Option<Print>) {
        if !self.names.keeps_histories() {
            return;
        }
        #[cfg(feature = "test-hooks")]
        if matches!(op, Op::Yield) && self.masks(super::masked::Part::Empty) {
            return;
        }
        let tag = match op {
            Op::Start => 1,
            Op::Yield => 2,
            Op::Send { .. } => SEND,
            Op::Reserve(_) => RESERVE,
            Op::Receive(_) => RECEIVE,
            Op::Closed(_) => 6,
            Op::Join(_) => 7,
            Op::Sleep(_) => 8,
            Op::Choose(_) => 9,
            Op::Woken => 10,
            Op::Cancel => 11,
            Op::Crash(_) => 12,
            Op::Restart(_) => 13,
            Op::Down(_) => 14,
            Op::Store(_, Access::Write(_)) => 15,
            Op::Store(_, Access::Sync) => 16,
            Op::Store(_, Access::Read) => 17,
            Op::Shared { .. } => 18,
        };
        let about = match op {
            Op::Send { to: object, .. } | Op::Reserve(object) | Op::Receive(object) | Op::Closed(object) => {
                self.names.object_short(object)
            }
            Op::Store(store, _) => self.store_print(store).short(),
            Op::Shared { object, ask } => self.names.object_print(object).with(self.ask_mark(object, ask)).short(),
            Op::Join(child) | Op::Crash(child) | Op::Restart(child) | Op::Down(child) => {
                self.names.process_print(child).short()
            }
            Op::Start | Op::Yield | Op::Sleep(_) | Op::Choose(_) | Op::Woken | Op::Cancel => 0,
        };
        self.observe_of_kind(process, about, tag << 8 | kind(observation), seen);
    }

    /// The same, of something by the short print of its name.
    #[inline]
    pub(super) fn observe_of_kind(&mut self, process: Process, about: u64, kind: u64, seen: Option<Print>) {
        if self.names.keeps_histories() {
            self.keep_observed(process, about, kind, seen);
        }
    }

    #[inline]
    fn keep_observed(&mut self, process: Process, about: u64, kind: u64, seen: Option<Print>) {
        let history = &mut self.histories[process.index()];
        let before = history.local;
        history.observe(about, kind, seen);
        let after = history.local;
        note_stale(&mut history.stale, &mut self.stale_processes, process);
        if self.looks.follow() {
            self.follow_seen(before, (about, kind), seen, after);
        }
    }

    #[inline]
    pub(super) fn observe_print(&mut self, process: Process, what: Print) {
        let history = &mut self.histories[process.index()];
        let before = history.local;
        history.local = before.and(what);
        self.touch_print(process);
        if self.looks.follow() {
            self.follow_and(before, what, before.and(what));
        }
    }

    /// What one who joins it observes: how it ended, and what its result is a function of.
    pub(super) fn result_of(&mut self, process: Process) -> Print {
        let seen = self.histories[process.index()].of(Print::default());
        let result = seen.with(self.processes[process.index()].status as u64);
        if self.looks.follow() {
            self.follow_result(process, result);
        }
        result
    }

    /// The actor sees something of a process or an object, by the print of its name.
    pub(super) fn observe_of(&mut self, about: Print, seen: Print) {
        let actor = self.actor;
        let what = Print::of(Domain::Observation).and(about).and(seen);
        if self.looks.follow() {
            self.follow_observed(what, about, seen);
        }
        self.observe_print(actor, what);
    }

    fn perform_send(
        &mut self,
        process: Process,
        to: Object,
        content: Option<Print>,
        rule: Rule,
        alternative: u32,
    ) -> (Observation, Option<Print>) {
        let mailbox = &mut self.mailboxes[to.index()];
        mailbox.writers.forget(process);
        if mailbox.closed {
            self.touch_object(to, Kind::SeeClosed);
            return (Observation::Closed, None);
        }
        let fate = if self.decides_at_send(to) {
            let fate = self.fates(process, to, rule).nth(alternative as usize);
            fate.unwrap_or_else(|| crate::bug!("a send has no alternative {alternative}"))
        } else {
            Fate::AheadOf(0)
        };
        (self.enqueue(process, to, content, rule, fate), None)
    }

    fn perform_reserve(&mut self, to: Object) -> (Observation, Option<Print>) {
        self.touch_object(to, Kind::Write);
        let actor = self.actor;
        let mailbox = &mut self.mailboxes[to.index()];
        mailbox.writers.forget(actor);
        if mailbox.closed {
            return (Observation::Closed, None);
        }
        mailbox.reserved += 1;
        self.touch_mailbox_print(to);
        self.refresh_writers(to);
        (Observation::Done, None)
    }

    /// Most steps are this.
    #[inline]
    fn perform_receive(&mut self, process: Process, slot: Slot, from: Object, alternative: u32) {
        let taken = self.take(from, alternative, |mailbox| mailbox.readers.forget(process));
        let (observation, seen) = if let Some(queued) = &taken {
            self.touch_taking(from, queued, true);
            (Observation::Received(queued.message), Some(queued.id))
        } else {
            self.touch_object(from, Kind::SeeOver);
            (Observation::Closed, None)
        };
        self.notes.ops_in_step += 1;
        let state = &mut self.processes[process.index()];
        (state.lane, state.unseen) = (None, state.unseen + 1);
        let pending = &mut state.pending[slot.index()];
        (pending.state, pending.taken) = (Grant::Granted(observation), taken);
        if state.in_use > 1 {
            self.observe_which(process, slot);
        }
        let about = self.names.object_short(from);
        self.observe_of_kind(process, about, RECEIVE << 8 | kind(observation), seen);
    }

    /// Goes on within the step if the granularity says so: grants the actor's only op without a scheduling point.
    #[inline]
    pub fn inline(&mut self) -> Option<Next> {
        let further = self.goes_on()?;
        self.go_on(further)
    }

    /// The actor's only op, if the granularity lets the step go on with it.
    #[inline]
    pub fn goes_on(&self) -> Option<Further> {
        let process = self.actor;
        if process.is_environment() || self.is_exposed(process) {
            return None;
        }
        let state = &self.processes[process.index()];
        if self.granularity == Granularity::Op || !state.is_live() || state.handles > 0 {
            return None;
        }
        let slot = state.sole()?;
        let pending = &state.pending[slot.index()];
        match (self.granularity, &pending.op) {
            (Granularity::Send, Op::Receive(from)) => {
                let mailbox = &self.mailboxes[from.index()];
                let is_fifo = mailbox.delivery == Delivery::Fifo && mailbox.capacity == u32::MAX;
                let goes_on = is_fifo && !mailbox.queue.is_empty() && pending.state == Grant::Waiting;
                // Where the network may do something, it is a choice.
                let is_still = || !self.may_be_overtaken(*from) && self.ready(process, pending) == 1;
                let goes_on = goes_on && !state.cancelled && (self.is_beyond_network(mailbox) || is_still());
                goes_on.then_some(Further::Receive(slot, *from))
            }
            (Granularity::Macro, Op::Send { to, .. }) if !self.commutes_with_others(*to) => None,
            (Granularity::Macro, Op::Send { .. } | Op::Yield) => {
                (self.ready(process, pending) == 1).then_some(Further::Other(slot))
            }
            _ => None,
        }
    }

    /// Grants that op, unless it was seen that it has to be a step of its own.
    #[inline]
    pub fn go_on(&mut self, further: Further) -> Option<Next> {
        let process = self.actor;
        let local = self.local_of(process);
        let point = match further {
            Further::Receive(_, from) => {
                let message = self.mailboxes[from.index()].queue[0].id;
                Point::Receive(History::after(local, self.names.object_short(from), RECEIVED, Some(message)))
            }
            Further::Other(_) => Point::Op(local),
        };
        if self.names.is_apart(point) {
            return None;
        }
        self.inside = Some(point);
        self.touch_process(process, Kind::Inside);
        match further {
            Further::Receive(slot, from) => {
                self.steps += 1;
                self.perform_receive(process, slot, from, 0);
                Some(Next::Poll(process, slot))
            }
            Further::Other(slot) => Some(self.perform(process, slot, 0)),
        }
    }

    /// Ends the step for a process that was polled: tells the explorer whether it can go on.
    #[inline]
    pub fn settle(&mut self, process: Process) {
        if !process.is_environment() {
            #[cfg(feature = "test-hooks")]
            self.return_received(process);
            self.touch_waits(process);
            self.refresh(process);
        }
    }

    /// Takes a message for the actor, after something else is done to the mailbox; whoever waits for room is refreshed if there was none.
    #[inline]
    pub(super) fn take(&mut self, from: Object, alternative: u32, before: impl FnOnce(&mut Mailbox)) -> Option<Queued> {
        let mailbox = &mut self.mailboxes[from.index()];
        before(mailbox);
        let had_room = mailbox.has_room();
        let queued = mailbox.take(alternative)?;
        note_stale(&mut mailbox.stale, &mut self.stale_mailboxes, from);
        self.taken.push((from, queued.id));
        if mailbox.is_waited_for() {
            self.refresh_readers(from);
            if !had_room {
                self.refresh_writers(from);
            }
        }
        Some(queued)
    }
}

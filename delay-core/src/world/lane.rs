//! The lane that most steps of most programs take: messages through channels without bounds, while nobody notes what is done.
//!
//! All that is done here is done by `act.rs`, `step.rs` and `refresh.rs` too, which also know networks, bounds and other deliveries, and tell those
//! who want to know what was looked at, touched and changed. Here questions that have but one answer are not asked, and the others once.
//!
//! Invariant: whoever has a mailbox as its lane (`ProcessState::lane`) waits for nothing but to receive from it, by its first slot.

use super::{
    Choice, Granularity, World,
    fault::Rule,
    history::History,
    mailbox::Queued,
    note_stale,
    op::{Grant, Immediate, Observation, Op, Pending, Site},
    step::{RECEIVE, SEND, kind, kind_now},
};
use crate::{
    explorer::Event,
    hash::Print,
    ids::{Message, Object, Process, Slot},
    name::Point,
};

/// By which slot a process waits in the lane.
pub const LANE: Slot = Slot(0);

/// That a message was received, in a history.
pub(super) const RECEIVED: u64 = RECEIVE << 8 | kind(Observation::Received(Message(0)));

/// How a step goes on after a poll, if that takes the lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After {
    /// The process took another message, and is to be polled again.
    Took,
    /// It waits for a message: the step is over, and settled.
    Settled,
    /// It does not take the lane.
    Outside,
}

impl World {
    /// Whether the lane is open: nobody notes what is looked at, touched or changed. Asked with every message, so it is found out when an execution
    /// begins, and [closed](Self::close_lane) by whoever begins to note something.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "asked with every message")]
    fn is_unwatched(&self) -> bool {
        debug_assert!(!self.is_lane_open || self.finds_nobody_watching(), "who begins to watch closes the lane");
        self.is_lane_open
    }

    /// From here on somebody may watch, until the execution is over.
    #[inline]
    pub(super) fn close_lane(&mut self) {
        self.is_lane_open = false;
    }

    /// An execution begins.
    #[inline]
    pub(super) fn open_lane(&mut self) {
        self.is_lane_open = self.finds_nobody_watching();
    }

    /// Whether nobody notes what is looked at, touched or changed, writes down what processes do, or follows prints.
    fn finds_nobody_watching(&self) -> bool {
        #[cfg(feature = "test-hooks")]
        if self.is_carried() || self.masks(super::masked::Part::Origin) {
            return false;
        }
        // The tables keep together, and note together.
        !(self.journal.is_open() | self.accesses.is_wanted | self.looks.follow()) && self.mailboxes.is_plain()
    }

    /// Grants a choice, if that is a receive that takes the lane.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "most steps are this")]
    pub fn grant_in_lane(&mut self, choice: Choice) -> bool {
        let Choice { process, alternative } = choice;
        if !self.is_settled() || process.is_environment() || !self.is_unwatched() {
            return false;
        }
        let Some(state) = self.processes.plain_get(process.index()) else { return false };
        // One that is of another execution has a lane still.
        if alternative >= state.alternatives || !state.is_live() {
            return false;
        }
        let Some(from) = state.lane else { return false };
        self.begin_grant();
        self.begin_step(process);
        self.receive_in_lane(process, from, false)
    }

    /// The actor starts to wait for a message and for nothing else, while nobody notes anything; in the lane, if that leads there. None if it is
    /// otherwise.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is most of a receive that is polled for the first time")]
    pub(super) fn wait_unnoted(&mut self, from: Object, site: Site) -> Option<Slot> {
        if !self.is_unwatched() {
            return None;
        }
        let (process, state) = (self.actor, self.processes.plain_mut(self.actor.index()));
        if state.in_use > 0 {
            return None;
        }
        let (op, waiting) = (Op::Receive(from), Grant::Waiting);
        match state.pending.first_mut() {
            Some(place) => (place.op, place.site, place.state, place.taken) = (op, site, waiting, None),
            None => state.pending.push(Pending { op, site, state: waiting, taken: None }),
        }
        let mailbox = self.mailboxes.plain_mut(from.index());
        (state.in_use, state.lane) = (1, mailbox.is_straight.then_some(from));
        mailbox.readers.push_unnoted(process);
        mailbox.reader = Some(process);
        Some(LANE)
    }

    /// Takes the first message, or sees the end. Inside a step that is only done if it need not be a step of its own: says whether it was.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in both of its places it is most of what is done")]
    fn receive_in_lane(&mut self, process: Process, from: Object, is_inside: bool) -> bool {
        let mailbox = self.mailboxes.plain_mut(from.index());
        let Some(first) = mailbox.queue.first_unnoted().copied() else {
            self.see_end_in_lane(process, from);
            return true;
        };
        let mut local = Print::default();
        if self.names.keeps_histories() {
            let history = self.histories.plain_mut(process.index());
            local = History::after(history.local, self.names.object_short(from), RECEIVED, Some(first.id));
            if is_inside && self.names.is_apart(Point::Receive(local)) {
                return false;
            }
            history.local = local;
            note_stale(&mut history.stale, &mut self.stale_processes, process);
        }
        if is_inside {
            self.inside = Some(Point::Receive(local));
        }
        self.steps += 1;
        self.notes.ops_in_step += 1;
        mailbox.readers.forget_unnoted(process);
        mailbox.queue.drop_first_unnoted();
        note_stale(&mut mailbox.stale, &mut self.stale_mailboxes, from);
        let state = self.processes.plain_mut(process.index());
        debug_assert!(state.waits_in_lane(from), "the lane is forgotten with what is done to a slot");
        (state.lane, state.unseen) = (None, 1);
        let pending = &mut state.pending[LANE.index()];
        (pending.state, pending.taken) = (Grant::Granted(Observation::Received(first.message)), Some(first));
        if self.names.compares_states() {
            self.taken.push((from, first.id));
        }
        if !mailbox.readers.unnoted().is_empty() {
            self.refresh_readers(from);
        }
        true
    }

    /// The same where nothing is queued: that nothing can come any more is what it sees.
    #[cold]
    fn see_end_in_lane(&mut self, process: Process, from: Object) {
        self.steps += 1;
        self.notes.ops_in_step += 1;
        self.mailboxes.plain_mut(from.index()).readers.forget_unnoted(process);
        self.conclude(process, LANE, Observation::Closed, None);
        self.refresh_readers(from);
    }

    /// What comes after the actor was polled.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "asked in every step")]
    pub fn after_poll(&mut self) -> After {
        if self.granularity != Granularity::Send || !self.is_unwatched() || !self.environment.nodes.is_empty() {
            return After::Outside;
        }
        let process = self.actor;
        let state = self.processes.plain(process.index());
        let Some(from) = state.lane else { return After::Outside };
        debug_assert!(state.waits_in_lane(from), "nothing was granted that it has not looked at");
        let mailbox = self.mailboxes.plain(from.index());
        let has_message = mailbox.queue.first_unnoted().is_some();
        let now = if has_message { 1 } else { u32::from(mailbox.is_over_once_empty()) };
        if has_message && state.handles == 0 && self.receive_in_lane(process, from, true) {
            return After::Took;
        }
        let before = self.processes.plain(process.index()).alternatives;
        if now != before {
            self.processes.plain_mut(process.index()).alternatives = now;
            self.changed(process, before, now);
        }
        After::Settled
    }

    /// Sends, if that takes the lane.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "most of what tasks do is this")]
    pub(super) fn send_in_lane(&mut self, to: Object, content: Option<&Print>) -> Option<Message> {
        if !self.is_unwatched() || self.is_hostile() || self.is_crashing() {
            return None;
        }
        let mailbox = self.mailboxes.plain(to.index());
        if !mailbox.is_straight || mailbox.closed {
            return None;
        }
        self.shared_op_on(to);
        let (from, message) = (self.actor, self.next_message());
        // Where no histories are kept nobody asks what it is.
        let id = if self.names.keeps_histories() { self.observe_send(from, to, content) } else { Print::default() };
        let mailbox = self.mailboxes.plain_mut(to.index());
        mailbox.queue.push_unnoted(Queued { message, arrival: message.0, sender: from, rule: Rule::TEST, id });
        note_stale(&mut mailbox.stale, &mut self.stale_mailboxes, to);
        // Who can receive the first of a queue cannot do more because of another.
        if mailbox.queue.len_unnoted() == 1 {
            match *mailbox.readers.unnoted() {
                [] => {}
                [waits] => self.arrives_for(waits, to),
                _ => self.refresh_readers(to),
            }
        }
        if self.tells_sent {
            self.tell_sent_to(to);
        }
        Some(message)
    }

    /// Tells the explorer that the actor has sent to a mailbox.
    #[inline(never)]
    fn tell_sent_to(&mut self, to: Object) {
        if let Some(reader) = self.mailboxes.plain(to.index()).reader {
            self.events.push(Event::Sent { from: self.actor, to: reader });
        }
    }

    /// What a message is called that its sender has sent, and sees sent.
    #[inline(never)]
    fn observe_send(&mut self, from: Process, to: Object, content: Option<&Print>) -> Print {
        let (about, owner) = (self.names.object_short(to), self.names.process_short(from));
        let history = self.histories.plain_mut(from.index());
        let id = content.copied().unwrap_or_else(|| history.origin(owner, about));
        history.observe(about, SEND << 8 | kind_now(Immediate::Done(Message(0))), None);
        note_stale(&mut history.stale, &mut self.stale_processes, from);
        id
    }

    /// The first message has come for one who waits for it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is most of a send that wakes somebody")]
    fn arrives_for(&mut self, waits: Process, to: Object) {
        let state = self.processes.plain_mut(waits.index());
        if state.lane.is_none() || state.alternatives > 0 || waits == self.actor {
            return self.refresh_readers(to);
        }
        state.alternatives = 1;
        self.changed(waits, 0, 1);
    }
}

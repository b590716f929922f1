//! The lane that most steps of most programs take: messages through channels without bounds, while nobody notes what is done.
//!
//! All that is done here is done by `act.rs`, `step.rs` and `refresh.rs` too, which also know networks, bounds and other deliveries, and tell those
//! who want to know what was looked at, touched and changed. Here questions that have but one answer are not asked, and the others once.
//!
//! Invariant: whoever has a mailbox as its lane (`ProcessState::lane`) waits for nothing but to receive from it, by its first slot.

use super::{
    Choice, Granularity, World,
    fault::Rule,
    mailbox::Queued,
    note_stale,
    op::{Grant, Immediate, Observation},
    step::{RECEIVE, SEND, kind, kind_now},
};
use crate::{
    explorer::Event,
    hash::Print,
    ids::{Message, Object, Process, Slot},
    name::Point,
};

/// By which slot a process waits in the lane.
const LANE: Slot = Slot(0);

/// How a step goes on after a poll, if that takes the lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After {
    /// The process took another message by the op in this slot, and is to be polled again.
    Took(Slot),
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
        if self.is_carried() {
            return false;
        }
        // The tables keep together, and note together.
        !(self.journal.is_open() | self.accesses.is_wanted | self.looks.follow()) && self.mailboxes.is_plain()
    }

    /// Grants a choice, if that is a receive that takes the lane.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "most steps are this")]
    pub fn grant_in_lane(&mut self, choice: Choice) -> Option<Slot> {
        let Choice { process, alternative } = choice;
        if !self.is_settled() || process.is_environment() || !self.is_unwatched() {
            return None;
        }
        let state = self.processes.plain_get(process.index())?;
        // One that is of another execution has a lane still.
        if alternative >= state.alternatives || !state.is_live() {
            return None;
        }
        let from = state.lane?;
        self.begin_grant();
        self.begin_step(process);
        Some(self.receive_in_lane(process, from))
    }

    /// Takes the first message, or sees the end.
    #[inline(never)]
    fn receive_in_lane(&mut self, process: Process, from: Object) -> Slot {
        self.steps += 1;
        self.notes.ops_in_step += 1;
        let mailbox = self.mailboxes.plain_mut(from.index());
        let state = self.processes.plain_mut(process.index());
        mailbox.readers.forget_unnoted(process);
        debug_assert!(state.waits_in_lane(from), "the lane is forgotten with what is done to a slot");
        (state.lane, state.unseen) = (None, 1);
        let pending = &mut state.pending[LANE.index()];
        pending.taken = mailbox.queue.pop_unnoted();
        let observation = match &pending.taken {
            Some(queued) => {
                note_stale(&mut mailbox.stale, &mut self.stale_mailboxes, from);
                if self.names.compares_states() {
                    self.taken.push((from, queued.id));
                }
                Observation::Received(queued.message)
            }
            None => Observation::Closed,
        };
        pending.state = Grant::Granted(observation);
        if self.names.keeps_histories() {
            let history = self.histories.plain_mut(process.index());
            let seen = pending.taken.as_ref().map(|queued| queued.id);
            history.observe(self.names.object_short(from), RECEIVE << 8 | kind(observation), seen);
            note_stale(&mut history.stale, &mut self.stale_processes, process);
        }
        if !mailbox.readers.unnoted().is_empty() {
            self.refresh_readers(from);
        }
        LANE
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
        let mailbox = self.mailboxes.plain(from.index());
        let first = mailbox.queue.first_unnoted();
        let now = if first.is_some() { 1 } else { u32::from(mailbox.is_over_once_empty()) };
        if let Some(first) = first
            && state.handles == 0
        {
            let id = first.id;
            if self.enters(process, id) {
                return After::Took(self.receive_in_lane(process, from));
            }
        }
        let before = self.processes.plain(process.index()).alternatives;
        if now != before {
            self.processes.plain_mut(process.index()).alternatives = now;
            self.changed(process, before, now);
        }
        After::Settled
    }

    /// Whether the actor takes a message inside the step.
    #[inline(never)]
    fn enters(&mut self, process: Process, message: Print) -> bool {
        let point = Point::Op(self.histories.plain(process.index()).local, message);
        let enters = !self.names.is_apart(point);
        if enters {
            self.inside = Some(point);
        }
        enters
    }

    /// Sends, if that takes the lane.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "most of what tasks do is this")]
    pub(super) fn send_in_lane(&mut self, to: Object, content: Option<Print>) -> Option<Message> {
        if !self.is_unwatched() || self.is_hostile() || self.is_crashing() {
            return None;
        }
        let mailbox = self.mailboxes.plain(to.index());
        if !mailbox.is_straight() || mailbox.closed {
            return None;
        }
        self.shared_op_on(to);
        let (from, message) = (self.actor, self.next_message());
        let id = if self.names.keeps_histories() {
            self.observe_send(from, to, content)
        } else {
            content.unwrap_or_default()
        };
        let mailbox = self.mailboxes.plain_mut(to.index());
        mailbox.queue.push_unnoted(Queued { message, arrival: message.0, sender: from, rule: Rule::TEST, id });
        note_stale(&mut mailbox.stale, &mut self.stale_mailboxes, to);
        let reader = mailbox.reader;
        // Who can receive the first of a queue cannot do more because of another.
        if mailbox.queue.len_unnoted() == 1 {
            match *mailbox.readers.unnoted() {
                [] => {}
                [waits] => self.arrives_for(waits, to),
                _ => self.refresh_readers(to),
            }
        }
        if self.tells_sent
            && let Some(reader) = reader
        {
            self.events.push(Event::Sent { from, to: reader });
        }
        Some(message)
    }

    /// What a message is called that its sender has sent, and sees sent.
    #[inline(never)]
    fn observe_send(&mut self, from: Process, to: Object, content: Option<Print>) -> Print {
        let about = self.names.object_short(to);
        let id = content.unwrap_or_else(|| self.origin_print(from, about));
        let history = self.histories.plain_mut(from.index());
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

//! What a process does while it is polled: its immediate ops.
//!
//! The actor is never refreshed here: whether it can go on is settled at the end of its step.

use super::{
    World,
    access::Kind,
    fault::Rule,
    journal::{Act, told},
    mailbox::{Mailbox, Queued},
    network::Fate,
    note_stale,
    op::{Immediate, Observation, Op, Site},
    process::Status,
    step::{RECEIVE, RESERVE, SEND, kind_now},
    words::Delivery,
};
use crate::{
    explorer::Event,
    hash::{Domain, Print},
    ids::{Message, Object, Process, Slot},
    name::Point,
};

impl World {
    /// Spawns a process from the actor. It is polled to its first op right after the actor, unless its start is a step of its
    /// own: then it waits for that.
    pub fn spawn(&mut self, site: Site) -> Process {
        self.journal.note(|| Act::Spawn(site));
        let parent = self.actor;
        let history = &mut self.histories[parent.index()];
        let k = history.spawned;
        history.spawned += 1;
        // With the counters: a child may hold what its parent drew or created.
        let local = Print::of(Domain::Process).and(history.of(Print::default())).with(u64::from(k));
        let history = *history;
        self.touch_print(parent);
        let child = self.names.child(parent, k);
        self.follow_start(child, history, k, local);
        self.touch_process(child, Kind::Spawn);
        self.begin(child, local);
        self.histories[child.index()].inherit(&history);
        let node = self.processes[parent.index()].node;
        self.processes[child.index()].node = node;
        if self.names.is_apart(Point::Start(local)) {
            self.processes[child.index()].insert(Op::Start, site);
            self.refresh(child);
        }
        child
    }

    /// A freshly spawned process is about to be polled within its spawner's step.
    pub fn begin_first_poll(&mut self, child: Process) {
        self.actor = child;
        self.first_poll = child != Process::BODY;
        self.inside = self.first_poll.then(|| Point::Start(self.local_of(child)));
    }

    /// Its first poll is over.
    pub fn end_first_poll(&mut self, child: Process, spawner: Process) {
        (self.first_poll, self.inside) = (false, None);
        // Whoever could not run before can now because of the spawner's step.
        self.actor = spawner;
        if self.processes[child.index()].is_live() {
            self.touch_waits(child);
            self.refresh(child);
        }
    }

    /// The actor has returned.
    pub fn finish(&mut self, process: Process) {
        if self.first_poll && self.processes[process.index()].handles > 0 {
            self.visible();
        }
        self.end(process, Status::Finished);
    }

    pub(super) fn end(&mut self, process: Process, status: Status) {
        self.touch_process(process, Kind::End);
        let mut pending = std::mem::take(&mut self.processes[process.index()].pending);
        for (index, op) in pending.iter().enumerate() {
            self.withdraw(process, Slot(index as u32), *op);
        }
        pending.clear();
        let state = &mut self.processes[process.index()];
        (state.pending, state.in_use, state.unseen, state.status) = (pending, 0, 0, status);
        state.lane = None;
        self.touch_print(process);
        self.refresh(process);
        self.events.push(Event::Finish(process));
        let joiners = std::mem::take(&mut self.processes[process.index()].joiners);
        for joiner in &joiners {
            self.refresh(*joiner);
        }
        self.processes[process.index()].joiners = joiners;
    }

    /// A handle that can abort the process exists: an abort can hit it between any two of its ops.
    pub fn add_handle(&mut self, process: Process) {
        self.journal.note(|| Act::AddHandle(process));
        self.processes[process.index()].handles += 1;
    }

    /// Such a handle is gone. Returns whether the process is over.
    pub fn release_handle(&mut self, process: Process) -> bool {
        self.journal.note(|| Act::ReleaseHandle(process));
        // Whoever ends last drops the result.
        self.touch_process(process, Kind::Read);
        let state = &mut self.processes[process.index()];
        // The process may belong to an execution that is being dropped after its state was reset.
        state.handles = state.handles.saturating_sub(1);
        let is_over = state.status.is_over();
        self.journal.note(|| Act::Answered(u64::from(is_over)));
        is_over
    }

    /// Aborts a process: from now on its only step is to be dropped.
    pub fn abort(&mut self, target: Process, site: Site) {
        self.journal.note(|| Act::Abort(target, site));
        self.touch_process(target, Kind::Abort);
        self.shared_op();
        let state = &mut self.processes[target.index()];
        if !state.is_live() || state.cancelled {
            return;
        }
        state.cancelled = true;
        state.insert(Op::Cancel, site);
        // It never runs on, whatever its timers do.
        self.sleepers.retain(|(process, _)| *process != target);
        self.choosing.retain(|(process, ..)| *process != target);
        self.touch_print(target);
        if target != self.actor {
            self.refresh(target);
        }
    }

    /// Creates a mailbox on behalf of the actor.
    pub fn create(&mut self, delivery: Delivery, capacity: u32, one_message: bool) -> Object {
        self.journal.note(|| Act::Create { delivery, capacity, one_message });
        if self.is_macro() && delivery == Delivery::Fifo && !one_message {
            (self.notes.fifo_in_macro, self.notes.is_remarkable) = (true, true);
        }
        let object = self.next_object();
        while self.mailboxes.len() <= object.index() {
            let next = Object::new(self.mailboxes.len() as u32);
            self.mailboxes.push(Mailbox::new(next, self.looked.clone()));
        }
        self.mailboxes[object.index()].reset(delivery, capacity);
        self.present_mailboxes.push(object);
        self.touch_mailbox_print(object);
        object
    }

    /// The name of the next object the actor creates.
    pub(super) fn next_object(&mut self) -> Object {
        let creator = self.actor;
        let history = &mut self.histories[creator.index()];
        let k = history.created;
        history.created += 1;
        self.touch_print(creator);
        self.names.object(creator, k)
    }

    /// An immediate op touched something other processes can see.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a few flags")]
    pub(super) fn shared_op(&mut self) {
        self.visible();
        self.notes.ops_in_step += 1;
    }

    /// Something happened that others can see, whether or not it is an op: the end of a channel, or of a process.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a few flags")]
    pub(super) fn visible(&mut self) {
        self.notes.merged_ops |= self.notes.ops_in_step > 0;
        self.apart_from_inside();
    }

    /// What happens now must not happen in the step that the start, or the op, before it was taken into.
    #[inline]
    pub(super) fn apart_from_inside(&mut self) {
        if self.inside.is_some() && self.notes.early.is_none() {
            self.notes.early = self.inside;
        }
    }

    #[inline]
    pub(super) fn visible_on(&mut self, object: Object) {
        if !self.is_private(object) {
            self.visible();
        }
    }

    /// Its creator is still alone with it.
    #[inline]
    pub(super) fn is_private(&self, object: Object) -> bool {
        self.first_poll && self.names.of_object(object).0 == self.actor
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a few flags")]
    pub(super) fn shared_op_on(&mut self, object: Object) {
        if !self.is_private(object) {
            self.shared_op();
        }
    }

    #[inline]
    pub(super) fn next_message(&mut self) -> Message {
        let message = Message(self.messages);
        self.messages += 1;
        message
    }

    /// What tells a value from others that goes to a mailbox or a store, by the short print of its name.
    #[inline]
    pub(super) fn value_print(&self, from: Process, to: impl FnOnce() -> u64, content: Option<Print>) -> Print {
        match content {
            Some(content) => content,
            None if self.names.keeps_histories() => self.origin_print(from, to()),
            None => Print::default(),
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "asked with every message of which nothing is known")]
    pub(super) fn origin_print(&self, from: Process, to: u64) -> Print {
        #[cfg(feature = "test-hooks")]
        if self.masks(super::masked::Part::Origin) {
            return self.names.process_print(from);
        }
        // Pitfall B.13: an opaque value is named by its origin, what its sender had observed and where it sent it.
        self.histories[from.index()].origin(self.names.process_short(from), to)
    }

    /// A message is sent.
    #[inline]
    pub(super) fn enqueue(
        &mut self,
        from: Process,
        to: Object,
        content: Option<Print>,
        rule: Rule,
        fate: Fate,
    ) -> Observation {
        let message = self.next_message();
        if self.is_lost(from, to) {
            return Observation::Lost(message);
        }
        let id = self.value_print(from, || self.names.object_short(to), content);
        self.follow_message(from, to, content, id);
        let queued = Queued { message, arrival: message.0, sender: from, rule, id };
        if fate == Fate::AheadOf(0) && !self.is_hostile() {
            self.arriving(to, from, message, |mailbox| mailbox.add(queued));
            return Observation::Sent(message);
        }
        self.enqueue_on_network(fate, to, queued)
    }

    fn enqueue_on_network(&mut self, fate: Fate, to: Object, queued: Queued) -> Observation {
        let message = queued.message;
        let is_lost = self.meet(fate, to, queued);
        if is_lost { Observation::Lost(message) } else { Observation::Sent(message) }
    }

    /// A message arrives at a mailbox.
    pub(super) fn arrive(&mut self, to: Object, queued: Queued, ahead_of: u32) {
        self.arriving(to, queued.sender, queued.message, |mailbox| mailbox.insert_ahead_of(queued, ahead_of));
    }

    #[inline]
    fn arriving(&mut self, to: Object, from: Process, message: Message, put: impl FnOnce(&mut Mailbox)) {
        self.touch_arrival(to, message);
        let mailbox = &mut self.mailboxes[to.index()];
        put(mailbox);
        let reader = mailbox.reader;
        note_stale(&mut mailbox.stale, &mut self.stale_mailboxes, to);
        if mailbox.is_waited_for() {
            self.refresh_after_arrival(to);
        }
        if self.tells_sent
            && let Some(reader) = reader
        {
            self.events.push(Event::Sent { from, to: reader });
        }
    }

    #[inline]
    fn enqueue_now(&mut self, to: Object, content: Option<Print>) -> Immediate {
        match self.enqueue(self.actor, to, content, Rule::TEST, Fate::AheadOf(0)) {
            Observation::Sent(message) => Immediate::Done(message),
            _ => crate::bug!("only messages of a network are lost"),
        }
    }

    /// Sends without waiting.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the lane, and else a call")]
    pub fn send_now(&mut self, to: Object, content: Option<Print>) -> Immediate {
        match self.send_in_lane(to, content.as_ref()) {
            Some(message) => Immediate::Done(message),
            None => self.send_outside(to, content),
        }
    }

    fn send_outside(&mut self, to: Object, content: Option<Print>) -> Immediate {
        self.journal.note(|| Act::SendNow(to, content));
        self.shared_op_on(to);
        self.touch_room(to);
        self.touch_room_now(to);
        let mailbox = &self.mailboxes[to.index()];
        // What a destructor says while its node crashes is not said.
        let result = if mailbox.closed || self.is_crashing() {
            Immediate::Closed
        } else if !mailbox.has_room() {
            Immediate::Full
        } else {
            self.enqueue_now(to, content)
        };
        self.observe_immediate(SEND, to, result, None);
        self.journal.note(|| Act::Answered(told(result)));
        result
    }

    /// Takes a permit without waiting.
    ///
    /// # Errors
    /// Why there is none.
    pub fn reserve_now(&mut self, to: Object) -> Result<(), Immediate> {
        self.journal.note(|| Act::ReserveNow(to));
        self.touch_object(to, Kind::Write);
        self.touch_room_now(to);
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
                self.observe(actor, Op::Reserve(to), Observation::Done, None);
                self.journal.note(|| Act::Answered(0));
                return Ok(());
            }
        };
        self.observe_immediate(RESERVE, to, refused, None);
        self.journal.note(|| Act::Answered(told(refused)));
        Err(refused)
    }

    /// Sends through a permit granted before.
    pub fn send_reserved(&mut self, to: Object, content: Option<Print>) -> Immediate {
        self.journal.note(|| Act::SendReserved(to, content));
        self.touch_object(to, Kind::Write);
        self.mailboxes[to.index()].reserved -= 1;
        self.shared_op_on(to);
        let result = self.enqueue_now(to, content);
        self.observe_immediate(SEND, to, result, None);
        result
    }

    /// Gives a permit back unused.
    pub fn release(&mut self, object: Object) {
        self.journal.note(|| Act::Release(object));
        self.give_back(object);
    }

    /// Room that was granted is free again.
    pub(super) fn give_back(&mut self, object: Object) {
        self.touch_object(object, Kind::Write);
        self.visible_on(object);
        let mailbox = &mut self.mailboxes[object.index()];
        // A permit may be dropped with its execution, while the World stands elsewhere.
        mailbox.reserved = mailbox.reserved.saturating_sub(1);
        self.touch_mailbox_print(object);
        self.refresh_waiting(object);
    }

    /// Receives the oldest message without waiting.
    pub fn receive_now(&mut self, from: Object) -> Immediate {
        self.journal.note(|| Act::ReceiveNow(from));
        self.shared_op_on(from);
        self.note_look(from);
        if self.mailboxes[from.index()].alternatives() > 1 {
            // The order of arrival decides, which the fingerprint leaves out where every message can be received.
            self.names.remember_arrival(from);
        }
        self.touch_order(from);
        let taken = self.take(from, 0, |_| ());
        match &taken {
            Some(queued) => self.touch_taking(from, queued, false),
            None => self.touch_object(from, Kind::Miss),
        }
        let (result, seen) = match taken {
            Some(queued) => (Immediate::Done(queued.message), queued.id),
            None if self.mailboxes[from.index()].is_over() => (Immediate::Closed, Print::default()),
            None => (Immediate::Empty, Print::default()),
        };
        #[cfg(feature = "test-hooks")]
        if result == Immediate::Empty && self.masks(super::masked::Part::Empty) {
            return result;
        }
        // Pitfall B.10: finding nothing is an observation too.
        self.observe_immediate(RECEIVE, from, result, Some(seen));
        let seen = self.local_of(self.actor);
        self.journal.note(|| Act::Answered(seen.short()));
        result
    }

    #[inline]
    fn observe_immediate(&mut self, op: u64, object: Object, result: Immediate, seen: Option<Print>) {
        if !self.names.keeps_histories() {
            return;
        }
        let about = self.names.object_short(object);
        self.observe_of_kind(self.actor, about, op << 8 | kind_now(result), seen);
    }

    /// Looks at how far a process has come: an observation.
    pub fn look_at_process(&mut self, process: Process) -> Status {
        self.journal.note(|| Act::LookAtProcess(process));
        self.touch_process(process, Kind::Read);
        self.shared_op();
        let status = self.processes[process.index()].status;
        self.follow_value(Print::default().with(status as u64));
        self.observe_of(self.names.process_print(process), Print::default().with(status as u64));
        self.journal.note(|| Act::Answered(status as u64));
        status
    }

    /// Joins a process without waiting; returns whether it has ended.
    pub fn join_now(&mut self, child: Process) -> bool {
        self.journal.note(|| Act::JoinNow(child));
        self.touch_process(child, Kind::Read);
        self.shared_op();
        let over = !self.processes[child.index()].is_live();
        let seen = if over { self.result_of(child) } else { Print::default() };
        let actor = self.actor;
        self.observe(actor, Op::Join(child), Observation::Done, Some(seen));
        let seen = self.local_of(actor);
        self.journal.note(|| Act::Answered(seen.short()));
        over
    }

    /// The future of the actor depends only on `state`: its history is forgotten.
    ///
    /// Returns false, and changes nothing, if another op of the process is pending: that op is part of its state too.
    pub fn checkpoint(&mut self, state: Print) -> bool {
        self.journal.note(|| Act::Checkpoint(state));
        if self.processes[self.actor.index()].in_use > 0 {
            return false;
        }
        self.histories[self.actor.index()].local = state;
        self.notes.forgotten |= self.choices > 0;
        self.follow_value(state);
        let actor = self.actor;
        self.touch_print(actor);
        true
    }

    /// The seed of the actor's next random draw: a function of its name and how often it drew, not a choice.
    pub fn draw(&mut self, seed: u64) -> u64 {
        self.journal.note(|| Act::Draw(seed));
        self.draws();
        let actor = self.actor;
        let history = &mut self.histories[actor.index()];
        let number = history.drawn;
        history.drawn += 1;
        self.touch_print(actor);
        let name = self.names.process_print(actor);
        Print::of(Domain::Draw).and(name).with(seed).with(u64::from(number)).short()
    }

    /// Tells the explorer what the program said.
    pub fn call(&mut self, process: Process, value: u32) {
        self.journal.note(|| Act::Call(process, value));
        self.events.push(Event::Call { process, value });
    }
}

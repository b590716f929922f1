//! A broadcast: every message to every receiver, as long as the receiver keeps up.
//!
//! As in tokio, a receiver that is further behind than the ring is long has lost the oldest messages, and is told how
//! many. Invariant: the ring holds what some receiver can still get, and no more.

use super::{Kind, Ticket, again::SharedAct, roster::Roster};
use crate::{
    hash::{Domain, Print},
    ids::{Message, Object},
    name::Names,
    world::{World, op::Observation},
};
use std::collections::VecDeque;

/// The state of a broadcast.
#[derive(Clone, Debug)]
pub struct Broadcast {
    capacity: u64,
    ring: VecDeque<(Message, Print)>,
    /// How many messages each has not got.
    receivers: Roster<u64>,
    senders: u32,
}

/// What a receiver gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// A message.
    Message(Message),
    /// It has lost so many.
    Lagged(u64),
    /// Nothing is there.
    Empty,
    /// Nothing is there, nor can come.
    Closed,
}

impl Broadcast {
    fn new(capacity: u64) -> Self {
        Self { capacity, ring: VecDeque::new(), receivers: Roster::default(), senders: 1 }
    }

    /// How many receivers there are.
    pub fn receivers(&self) -> usize {
        self.receivers.len()
    }

    /// How many messages are kept.
    pub fn kept(&self) -> usize {
        self.ring.len()
    }

    /// How many messages a receiver has not got, lost ones included.
    pub fn behind(&self, ticket: Ticket) -> u64 {
        self.receivers.get(ticket)
    }

    /// How many senders there are.
    pub fn senders(&self) -> u32 {
        self.senders
    }

    pub(super) fn senders_mut(&mut self) -> &mut u32 {
        &mut self.senders
    }

    /// Whether every sender is gone.
    pub fn is_abandoned(&self) -> bool {
        self.senders == 0
    }

    pub(super) fn has_news(&self, ticket: Ticket) -> bool {
        self.is_abandoned() || self.behind(ticket) > 0
    }

    pub(super) fn has(&self, ticket: Ticket) -> bool {
        self.receivers.has(ticket)
    }

    pub(super) fn rank(&self, ticket: Ticket) -> u64 {
        self.receivers.rank(ticket)
    }

    fn send(&mut self, message: Message, print: Print) {
        for behind in self.receivers.stands_mut() {
            *behind += 1;
        }
        self.ring.push_back((message, print));
        self.trim();
    }

    /// What the receiver would get now, and its print.
    pub(super) fn peek(&self, ticket: Ticket) -> (Taken, Print) {
        let behind = self.behind(ticket);
        if behind > self.capacity {
            let lost = behind - self.capacity;
            return (Taken::Lagged(lost), Print::of(Domain::Shared).with(lost));
        }
        if behind == 0 {
            let taken = if self.is_abandoned() { Taken::Closed } else { Taken::Empty };
            return (taken, Print::of(Domain::Shared).with(u64::from(self.is_abandoned())).with(0));
        }
        let (message, print) = self.ring[self.ring.len() - behind as usize];
        (Taken::Message(message), print)
    }

    fn take(&mut self, ticket: Ticket) -> Taken {
        let (taken, behind) = (self.peek(ticket).0, self.behind(ticket));
        match taken {
            Taken::Message(_) => self.receivers.set(ticket, behind - 1),
            Taken::Lagged(lost) => self.receivers.set(ticket, behind - lost),
            Taken::Empty | Taken::Closed => {}
        }
        self.trim();
        taken
    }

    fn trim(&mut self) {
        let kept = self.receivers.stands().max().unwrap_or(0).min(self.capacity);
        while self.ring.len() as u64 > kept {
            self.ring.pop_front();
        }
    }

    pub(super) fn fingerprint(&self, names: &Names) -> Print {
        // How many senders there are, beside none, is a function of the histories of those who have them.
        let Self { capacity: _, ring, receivers, senders: _ } = self;
        let all = receivers.fingerprint(names, |behind| behind);
        let print = Print::of(Domain::Shared).and(all).with(u64::from(self.is_abandoned()));
        ring.iter().fold(print, |print, (_, message)| print.and(*message))
    }

    /// All that steps can tell.
    pub(super) fn identity(&self) -> Print {
        let Self { capacity, ring, receivers, senders } = self;
        let all = receivers.identity(|behind| behind).with(*capacity).with(ring.len() as u64);
        let all = all.with(u64::from(*senders));
        ring.iter().fold(all, |print, (_, message)| print.and(*message))
    }
}

impl World {
    /// Creates a broadcast on behalf of the actor.
    pub fn create_broadcast(&mut self, capacity: u64) -> Object {
        self.note_shared(SharedAct::CreateBroadcast(capacity));
        self.create_shared(Kind::Broadcast(Broadcast::new(capacity)))
    }

    /// A broadcast.
    pub fn broadcast(&self, object: Object) -> &Broadcast {
        match &self.shared(object).kind {
            Kind::Broadcast(broadcast) => broadcast,
            kind => crate::bug!("{object:?} is {kind:?}"),
        }
    }

    fn broadcast_mut(&mut self, object: Object) -> &mut Broadcast {
        match &mut self.shared[object.index()].kind {
            Kind::Broadcast(broadcast) => broadcast,
            kind => crate::bug!("{object:?} is {kind:?}"),
        }
    }

    pub(super) fn perform_next(&mut self, object: Object, ticket: Ticket) -> (Observation, Option<Print>) {
        let (taken, print) = self.broadcast(object).peek(ticket);
        let over = taken == Taken::Closed;
        (if over { Observation::Closed } else { Observation::Done }, Some(print))
    }

    /// A receiver more: what is sent from now on is for it too.
    pub fn add_listener(&mut self, object: Object) -> Ticket {
        self.note_shared(SharedAct::AddListener(object));
        self.shared_op_on(object);
        let ticket = self.next_ticket();
        self.broadcast_mut(object).receivers.enter(ticket, 0);
        // Whoever waits that no receiver is left waits on.
        self.update(object);
        ticket
    }

    /// A receiver is gone.
    pub fn remove_listener(&mut self, object: Object, ticket: Ticket) {
        self.note_shared(SharedAct::RemoveListener(object, ticket));
        self.visible_on(object);
        let broadcast = self.broadcast_mut(object);
        broadcast.receivers.leave(ticket);
        broadcast.trim();
        self.update(object);
    }

    /// Sends to every receiver; none if there is none. An opaque message is named by its origin.
    pub fn send_to_all(&mut self, object: Object, content: Option<Print>) -> Option<(Message, usize)> {
        self.note_shared(SharedAct::SendToAll(object, content));
        self.shared_op_on(object);
        let receivers = self.broadcast(object).receivers();
        self.observe_result(object, receivers as u64);
        self.note_seen();
        if receivers == 0 {
            return None;
        }
        let message = self.next_message();
        let print = self.value_print(self.actor, || self.names.object_short(object), content);
        self.broadcast_mut(object).send(message, print);
        self.update(object);
        Some((message, receivers))
    }

    /// A receiver that was granted its next message takes it.
    pub fn take_next(&mut self, object: Object, ticket: Ticket) -> Taken {
        self.note_shared(SharedAct::TakeNext(object, ticket));
        let (_, seen) = self.broadcast(object).peek(ticket);
        let taken = self.take_from_ring(object, ticket);
        self.note_told(seen.short());
        taken
    }

    fn take_from_ring(&mut self, object: Object, ticket: Ticket) -> Taken {
        self.touch_shared_print(object);
        self.broadcast_mut(object).take(ticket)
    }

    /// A receiver takes its next message, if there is one.
    pub fn take_next_now(&mut self, object: Object, ticket: Ticket) -> Taken {
        self.note_shared(SharedAct::TakeNextNow(object, ticket));
        self.shared_op_on(object);
        let (_, print) = self.broadcast(object).peek(ticket);
        self.observe_of(self.names.object_print(object), print);
        let taken = self.take_from_ring(object, ticket);
        self.note_seen();
        taken
    }
}

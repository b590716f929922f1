//! Notifications without a value: one permit, and a queue of futures that listen.
//!
//! As in tokio, `notify_waiters` reaches every future that exists, polled or not; `notify_one` the head of the queue, or
//! else the next that asks.

use super::{Kind, Ticket, again::SharedAct, roster::Roster};
use crate::{
    hash::{Domain, Print},
    ids::Object,
    name::Names,
    world::{World, op::Observation},
};
use std::collections::VecDeque;

/// The state of a notifier.
#[derive(Clone, Debug, Default)]
pub struct Notify {
    /// Somebody was to be notified when nobody listened.
    permit: bool,
    listeners: Roster<Stand>,
    /// Those that stand in the queue, in order.
    queue: VecDeque<Ticket>,
}

/// Where a future stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stand {
    /// It has not asked.
    Idle,
    Queued,
    /// It was chosen from this end, and passes that on if it is dropped.
    Chosen(End),
    /// It was reached together with all others.
    Reached,
}

/// Which end of the queue is notified.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Who has waited longest.
    First,
    /// Who came last.
    Last,
}

impl Notify {
    /// Whether there is anything for the future to do: its attempt, or to see that it was notified.
    pub(super) fn can_move(&self, ticket: Ticket) -> bool {
        self.listeners.get(ticket) != Stand::Queued
    }

    pub(super) fn has(&self, ticket: Ticket) -> bool {
        self.listeners.has(ticket)
    }

    pub(super) fn rank(&self, ticket: Ticket) -> u64 {
        self.listeners.rank(ticket)
    }

    /// Asks for a notification: whether it is there. Else the future is in the queue.
    fn ask(&mut self, ticket: Ticket) -> bool {
        match self.listeners.get(ticket) {
            Stand::Chosen(_) | Stand::Reached => true,
            Stand::Queued => false,
            Stand::Idle if self.permit => {
                self.permit = false;
                self.listeners.set(ticket, Stand::Chosen(End::First));
                true
            }
            Stand::Idle => {
                self.listeners.set(ticket, Stand::Queued);
                self.queue.push_back(ticket);
                false
            }
        }
    }

    fn notify(&mut self, end: End) {
        let chosen = match end {
            End::First => self.queue.pop_front(),
            End::Last => self.queue.pop_back(),
        };
        match chosen {
            Some(ticket) => self.listeners.set(ticket, Stand::Chosen(end)),
            None => self.permit = true,
        }
    }

    fn notify_all(&mut self) {
        self.queue.clear();
        for stand in self.listeners.stands_mut() {
            if matches!(stand, Stand::Idle | Stand::Queued) {
                *stand = Stand::Reached;
            }
        }
    }

    /// The future is gone; whether others notice.
    fn leave(&mut self, ticket: Ticket) -> bool {
        self.queue.retain(|other| *other != ticket);
        match self.listeners.leave(ticket) {
            Some(Stand::Chosen(end)) => {
                self.notify(end);
                true
            }
            Some(Stand::Queued) => true,
            Some(Stand::Idle | Stand::Reached) | None => false,
        }
    }

    pub(super) fn fingerprint(&self, names: &Names) -> Print {
        let Self { permit, listeners, queue } = self;
        let all = listeners.fingerprint(names, Stand::word);
        let print = Print::of(Domain::Shared).with(u64::from(*permit)).and(all);
        queue.iter().fold(print, |print, ticket| print.and(listeners.mark(*ticket, names)))
    }
}

impl Notify {
    /// All that steps can tell.
    pub(super) fn identity(&self) -> Print {
        let Self { permit, listeners, queue } = self;
        let all = listeners.identity(Stand::word).with(u64::from(*permit)).with(queue.len() as u64);
        queue.iter().fold(all, |print, ticket| print.and(ticket.identity()))
    }
}

impl Stand {
    fn word(self) -> u64 {
        match self {
            Self::Idle => 0,
            Self::Queued => 1,
            Self::Chosen(End::First) => 2,
            Self::Chosen(End::Last) => 3,
            Self::Reached => 4,
        }
    }
}

impl World {
    /// Creates a notifier on behalf of the actor.
    pub fn create_notify(&mut self) -> Object {
        self.note_shared(SharedAct::CreateNotify);
        self.create_shared(Kind::Notify(Notify::default()))
    }

    fn notify_mut(&mut self, object: Object) -> &mut Notify {
        match &mut self.shared[object.index()].kind {
            Kind::Notify(notify) => notify,
            kind => crate::bug!("{object:?} is {kind:?}"),
        }
    }

    pub(super) fn perform_notified(&mut self, object: Object, ticket: Ticket) -> Option<(Observation, Option<Print>)> {
        self.touch_shared_print(object);
        self.notify_mut(object).ask(ticket).then_some((Observation::Done, None))
    }

    /// The actor has a future that `notify_waiters` reaches from now on.
    pub fn listen(&mut self, object: Object) -> Ticket {
        self.note_shared(SharedAct::Listen(object));
        self.shared_op_on(object);
        self.touch_shared_print(object);
        let ticket = self.next_ticket();
        self.notify_mut(object).listeners.enter(ticket, Stand::Idle);
        ticket
    }

    /// Asks without waiting: the future joins the queue if there is no notification.
    pub fn ask_now(&mut self, object: Object, ticket: Ticket) -> bool {
        self.note_shared(SharedAct::AskNow(object, ticket));
        self.shared_op_on(object);
        self.touch_shared_print(object);
        let notified = self.notify_mut(object).ask(ticket);
        self.observe_result(object, u64::from(notified));
        self.note_told(u64::from(notified));
        notified
    }

    /// The future has seen that it was notified.
    pub fn heard(&mut self, object: Object, ticket: Ticket) {
        self.note_shared(SharedAct::Heard(object, ticket));
        self.notify_mut(object).listeners.leave(ticket);
        self.touch_shared_print(object);
    }

    /// The future is dropped before that.
    pub fn stop_listening(&mut self, object: Object, ticket: Ticket) {
        self.note_shared(SharedAct::StopListening(object, ticket));
        if self.notify_mut(object).leave(ticket) {
            self.visible_on(object);
        }
        self.update(object);
    }

    /// Notifies one that listens, or the next that asks.
    pub fn notify(&mut self, object: Object, end: End) {
        self.note_shared(SharedAct::Notify(object, end));
        self.shared_op_on(object);
        self.notify_mut(object).notify(end);
        self.update(object);
    }

    /// Notifies all that listen.
    pub fn notify_all(&mut self, object: Object) {
        self.note_shared(SharedAct::NotifyAll(object));
        self.shared_op_on(object);
        self.notify_mut(object).notify_all();
        self.update(object);
    }
}

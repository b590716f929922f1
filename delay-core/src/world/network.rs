//! What a network may do to messages: lose them, duplicate them, let them overtake each other, hold them back.
//!
//! Such a fault is a later alternative of the receive that waits for the message: first come the messages it may take, then
//! what may happen to each. Only an endpoint that is looked into without waiting gets its faults from the environment, at any time.

use super::{
    World,
    environment::Happened,
    fault::{Kind, Mail},
    mailbox::{Delivery, Queued},
};
use crate::ids::{Message, Object, Process};

impl World {
    /// A mailbox is an endpoint of a network. `copies`: its messages can be duplicated.
    pub fn join_network(&mut self, object: Object, copies: bool) {
        let mailbox = &mut self.mailboxes[object.index()];
        (mailbox.is_networked, mailbox.copies) = (true, copies);
        let is_ordered = mailbox.delivery != Delivery::Unordered;
        self.make_possible(&[Kind::Drop, Kind::Delay]);
        if is_ordered {
            self.make_possible(&[Kind::Reorder]);
        }
        if copies {
            self.make_possible(&[Kind::Duplicate]);
        }
    }

    /// The endpoint is bound by the actor: on its node, if it belongs to one. Returns false if it is bound, or was until it was
    /// dropped; a crash of its node sets it free.
    pub fn bind(&mut self, object: Object) -> bool {
        let host = self.node_of(self.actor);
        let mailbox = &mut self.mailboxes[object.index()];
        let is_free = !std::mem::replace(&mut mailbox.is_bound, true);
        if is_free {
            mailbox.host = host;
        }
        self.touch_mailbox_print(object);
        is_free
    }

    /// An endpoint that has messages and was never bound.
    pub fn unbound(&self) -> Option<Object> {
        let lost = |object: &&Object| {
            let mailbox = &self.mailboxes[object.index()];
            mailbox.is_networked && !mailbox.is_bound && mailbox.host.is_none() && !mailbox.queue.is_empty()
        };
        self.present_mailboxes.iter().find(lost).copied()
    }

    /// The endpoints of a node are free to be bound again.
    pub(super) fn unbind(&mut self, root: Process, mail: Mail) {
        for index in 0..self.present_mailboxes.len() {
            let object = self.present_mailboxes[index];
            let mailbox = &mut self.mailboxes[object.index()];
            if mailbox.host == Some(root) {
                (mailbox.is_bound, mailbox.closed) = (false, false);
                if mail == Mail::Lost {
                    mailbox.queue.clear();
                }
                self.touch_mailbox_print(object);
            }
        }
        if mail == Mail::Lost {
            let Self { environment, mailboxes, .. } = self;
            environment.late.retain(|(object, _)| mailboxes[object.index()].host != Some(root));
        }
    }

    /// Whether a message to an endpoint cannot arrive: its node is down, or on the other side of a partition.
    #[inline]
    pub(super) fn is_lost(&self, from: Process, to: Object) -> bool {
        let Some(root) = self.mailboxes[to.index()].host else { return false };
        let node = self.node(root);
        !node.is_up && node.mail == Mail::Lost || !self.reaches(from, Some(root))
    }

    /// Whether a message that was received can be received again.
    pub fn holds(&self, object: Object, message: Message) -> bool {
        #[cfg(feature = "test-hooks")]
        if self.is_carried() {
            return true;
        }
        self.mailboxes[object.index()].holds(message)
    }

    /// Whether something can still happen to some message.
    pub(super) fn may_lose(&self) -> bool {
        let kinds = Kind::ALL.into_iter().filter(|kind| kind.is_of_messages());
        let mut left = kinds.flat_map(|kind| self.environment.budgets.iter().map(move |(_, faults)| faults.left(kind)));
        left.any(|left| left > 0)
    }

    /// What can happen to the messages of an endpoint, and to which, by place.
    pub(super) fn message_faults(&self, object: Object) -> impl Iterator<Item = (Kind, usize)> {
        let mailbox = &self.mailboxes[object.index()];
        let of_heads = mailbox
            .heads()
            .flat_map(|place| [Kind::Drop, Kind::Duplicate, Kind::Delay].into_iter().map(move |kind| (kind, place)));
        let others = (0..mailbox.queue.len()).filter(|place| !mailbox.is_takeable(*place));
        let all = of_heads.chain(others.map(|place| (Kind::Reorder, place)));
        all.filter(|(kind, place)| {
            let can = *kind != Kind::Duplicate || mailbox.copies;
            can && self.left(mailbox.queue[*place].rule, *kind) > 0
        })
    }

    /// How many alternatives a receive has: what it may take, then what may happen to it.
    #[inline]
    pub(super) fn receivable(&self, from: Object) -> u32 {
        let mailbox = &self.mailboxes[from.index()];
        if !self.is_hostile() || !mailbox.is_networked || mailbox.queue.is_empty() {
            return mailbox.alternatives();
        }
        mailbox.alternatives() + self.message_faults(from).count() as u32
    }

    /// Whether an alternative of a receive is a fault.
    #[inline]
    pub(super) fn is_fault(&self, from: Object, alternative: u32) -> bool {
        let mailbox = &self.mailboxes[from.index()];
        mailbox.is_networked && alternative >= mailbox.alternatives()
    }

    /// Lets the network do what an alternative of a receive says. Returns the message, if it is one that is received.
    pub(super) fn perform_fault(&mut self, from: Object, alternative: u32) -> Option<Queued> {
        let number = alternative - self.mailboxes[from.index()].alternatives();
        let Some((kind, place)) = self.message_faults(from).nth(number as usize) else {
            crate::bug!("a receive has no alternative {alternative}")
        };
        if kind == Kind::Reorder {
            let queued = self.mailboxes[from.index()].take_at(place)?;
            self.happened.push(Happened::Message(kind, from, queued.message));
            self.touch_mailbox_print(from);
            self.refresh_readers(from);
            self.spend(queued.rule, kind);
            return Some(queued);
        }
        self.fault_message(from, kind, place);
        None
    }

    /// Lets a fault happen to the message at a place.
    pub(super) fn fault_message(&mut self, object: Object, kind: Kind, place: usize) {
        let arrival = self.next_message().0;
        let mailbox = &mut self.mailboxes[object.index()];
        let queued = mailbox.queue[place];
        match kind {
            Kind::Duplicate => mailbox.queue.push_back(Queued { arrival, ..queued }),
            _ => {
                mailbox.queue.remove(place);
            }
        }
        if kind == Kind::Delay {
            self.hold_back(object, queued);
        }
        self.happened.push(Happened::Message(kind, object, queued.message));
        self.touch_mailbox_print(object);
        self.refresh_readers(object);
        self.spend(queued.rule, kind);
    }
}

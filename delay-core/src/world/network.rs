//! What a network may do to messages: lose them, duplicate them, let them overtake each other, hold them back. A duplicate is a
//! copy that is held back.
//!
//! Such a fault is a later alternative of the receive that waits for the message: first come the messages it may take, then
//! what may happen to each. One who looks without waiting has no receive to choose. In a program in which somebody does, what becomes
//! of a message is chosen when it is sent, its place among the others too ([`Fates`](super::premises::Fates)). Nobody can tell the difference, since
//! nobody sees the message before that; there are more states.

use super::{
    World, access,
    beyond::Beyond,
    environment::Happened,
    fault::{Kind, Mail, Rule},
    journal::Act,
    mailbox::{Mailbox, Queued},
    words::Delivery,
};
use crate::ids::{Message, Object, Process};

/// What becomes of a message, decided when it is sent. What arrives lands ahead of so many others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    AheadOf(u32),
    Lost,
    /// It arrives twice, at once.
    Twice(u32, u32),
    /// It arrives, and a copy is held back.
    AgainLater(u32),
    /// It is held back.
    Late,
}

impl World {
    /// A mailbox is an endpoint of a network. `copies`: its messages can be duplicated.
    pub fn join_network(&mut self, object: Object, copies: bool) {
        // Who asks first makes it: the program knows, and the World does not.
        self.beyond_step(Beyond::Endpoints);
        let mailbox = &mut self.mailboxes[object.index()];
        (mailbox.is_networked, mailbox.copies, mailbox.is_straight) = (true, copies, false);
        let is_ordered = mailbox.delivery != Delivery::Unordered;
        self.make_possible(&[Kind::Drop, Kind::Delay]);
        if is_ordered {
            self.make_possible(&[Kind::Reorder]);
        }
        if copies {
            self.make_possible(&[Kind::Duplicate]);
        }
    }

    /// A message comes, for which the budget of the test is: what can happen to it.
    fn note_what_can_happen(&mut self, to: Object, sender: Process) {
        let mailbox = &self.mailboxes[to.index()];
        let (copies, can_overtake) = (mailbox.copies, mailbox.passable(sender) < mailbox.queued());
        let kinds = [(Kind::Drop, true), (Kind::Delay, true), (Kind::Duplicate, copies), (Kind::Reorder, can_overtake)];
        for (kind, can) in kinds {
            if can {
                self.note_met(kind);
            }
        }
    }

    /// The endpoint is bound by the actor: on its node, if it belongs to one. Returns false if it is bound, or was until it was
    /// dropped; a crash of its node sets it free.
    pub fn bind(&mut self, object: Object) -> bool {
        self.journal.note(|| Act::Bind(object));
        self.touch_object(object, access::Kind::Write);
        let host = self.node_of(self.actor);
        let mailbox = &mut self.mailboxes[object.index()];
        let is_free = !std::mem::replace(&mut mailbox.is_bound, true);
        if is_free {
            mailbox.host = host;
        }
        self.touch_mailbox_print(object);
        self.journal.note(|| Act::Answered(u64::from(is_free)));
        is_free
    }

    /// Whether the actor is where an endpoint was bound: on its node, or outside any.
    pub fn is_bound_here(&self, object: Object) -> bool {
        self.mailboxes[object.index()].host == self.node_of(self.actor)
    }

    /// The node an endpoint was bound on.
    pub fn host(&self, object: Object) -> Option<Process> {
        self.mailboxes[object.index()].host
    }

    /// Whether a send comes to the same before and after what others do, the network and the environment included.
    pub(super) fn commutes_with_others(&self, to: Object) -> bool {
        let mailbox = &self.mailboxes[to.index()];
        let may_crash = match mailbox.host {
            // One that is down may start again.
            Some(root) => self.may_crash(root) || !self.node(root).is_up,
            // Who knows where it will be bound.
            None => !mailbox.is_bound,
        };
        !self.decides_at_send(to) && !may_crash
    }

    /// Whether a message, or a copy of one, may be held back.
    pub fn may_hold_back(&self) -> bool {
        self.is_left(Kind::Delay) || self.is_left(Kind::Duplicate)
    }

    /// Whether some budget has something left of a kind of faults.
    fn is_left(&self, kind: Kind) -> bool {
        self.environment.budgets.iter().any(|(_, faults)| faults.left(kind) > 0)
    }

    /// What may become of a message that is sent to one who looks without waiting, in the order of the send's alternatives.
    pub(super) fn fates(&self, from: Process, to: Object, rule: Rule) -> impl Iterator<Item = Fate> {
        let mailbox = &self.mailboxes[to.index()];
        let queued = mailbox.queued();
        let free = mailbox.passable(from);
        let is_left = |kind| self.left(rule, kind) > 0;
        let copies = if mailbox.copies && is_left(Kind::Duplicate) { 0..free + 1 } else { 0..0 };
        let copies = copies.flat_map(move |place| {
            // Not before the original, where order is kept.
            let others = if mailbox.delivery == Delivery::Unordered { queued + 1 } else { place };
            let twice = (0..=others).map(move |other| Fate::Twice(place, other));
            twice.chain([Fate::AgainLater(place)])
        });
        let lost = is_left(Kind::Drop).then_some(Fate::Lost);
        let late = is_left(Kind::Delay).then_some(Fate::Late);
        let overtaking = if is_left(Kind::Reorder) { free + 1..queued + 1 } else { 0..0 };
        let first = (0..=free).map(Fate::AheadOf).chain(lost).chain(copies).chain(late);
        first.chain(overtaking.map(Fate::AheadOf))
    }

    /// A message that was sent gets its fate. Returns whether it is lost.
    pub(super) fn meet(&mut self, fate: Fate, to: Object, queued: Queued) -> bool {
        let (message, rule) = (queued.message, queued.rule);
        if rule == Rule::TEST && self.is_hostile() && self.mailboxes[to.index()].is_networked {
            self.note_what_can_happen(to, queued.sender);
        }
        let kind = match fate {
            Fate::AheadOf(others) => {
                let costs = others > 0 && others > self.mailboxes[to.index()].passable(queued.sender);
                self.arrive(to, queued, others);
                if others > 0 {
                    self.happened.push(Happened::Message(Kind::Reorder, to, message));
                }
                if costs {
                    self.spend(rule, Kind::Reorder);
                }
                return false;
            }
            Fate::Lost => Kind::Drop,
            Fate::Late => {
                self.hold_back(to, queued);
                Kind::Delay
            }
            Fate::AgainLater(place) => {
                self.arrive(to, queued, place);
                self.hold_back(to, queued);
                Kind::Duplicate
            }
            Fate::Twice(place, other) => {
                self.arrive(to, queued, place);
                let arrival = self.next_message().0;
                self.arrive(to, Queued { arrival, ..queued }, other);
                Kind::Duplicate
            }
        };
        self.happened.push(Happened::Message(kind, to, message));
        self.spend(rule, kind);
        fate == Fate::Lost
    }

    /// Whether a message that comes later can be received before those that are there.
    #[inline]
    pub(super) fn may_be_overtaken(&self, object: Object) -> bool {
        self.mailboxes[object.index()].is_networked && self.is_left(Kind::Reorder)
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
                self.refresh_waiting(object);
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
        self.mailboxes[to.index()].host.is_some_and(|root| self.is_lost_on(root, from))
    }

    fn is_lost_on(&self, root: Process, from: Process) -> bool {
        let node = self.node(root);
        !node.is_up && node.mail == Mail::Lost || !self.reaches(from, Some(root))
    }

    /// Whether a message that was received can be received again.
    pub fn holds(&self, object: Object, message: Message) -> bool {
        #[cfg(feature = "test-hooks")]
        if self.is_carried() {
            return true;
        }
        self.mailboxes[object.index()].holds(message) || self.is_held_back(object, message)
    }

    /// Whether something can still happen to some message.
    pub(super) fn may_harm(&self) -> bool {
        Kind::ALL.into_iter().any(|kind| kind.is_of_messages() && self.is_left(kind))
    }

    /// What can happen to the messages of an endpoint, and to which, by place.
    pub(super) fn message_faults(&self, object: Object) -> impl Iterator<Item = (Kind, usize)> {
        let mailbox = &self.mailboxes[object.index()];
        let of_heads = mailbox
            .heads()
            .flat_map(|place| [Kind::Drop, Kind::Duplicate, Kind::Delay].into_iter().map(move |kind| (kind, place)));
        // Nobody looks at messages to which nothing can happen, nor at whose budget it would be where there is one.
        let others = if self.is_left(Kind::Reorder) { 0..mailbox.queue.len() } else { 0..0 };
        let others = others.filter(|place| !mailbox.is_takeable(*place));
        let has_one_budget = self.environment.budgets.len() == 1;
        let rule = move |place: usize| if has_one_budget { Rule::TEST } else { mailbox.queue[place].rule };
        let all = of_heads.chain(others.map(|place| (Kind::Reorder, place)));
        let is_chosen_before = self.decides_at_send(object);
        all.filter(move |(kind, place)| {
            let can = !is_chosen_before && (*kind != Kind::Duplicate || mailbox.copies);
            can && self.left(rule(*place), *kind) > 0
        })
    }

    /// How many alternatives a receive has: what it may take, then what may happen to it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "asked with every message")]
    pub(super) fn receivable(&self, from: Object) -> u32 {
        let mailbox = &self.mailboxes[from.index()];
        let faults = if mailbox.is_networked { self.receivable_faults(from, mailbox) } else { 0 };
        mailbox.alternatives() + faults
    }

    fn receivable_faults(&self, from: Object, mailbox: &Mailbox) -> u32 {
        if !self.is_hostile() || mailbox.queue.is_empty() { 0 } else { self.message_faults(from).count() as u32 }
    }

    /// Whether nothing can happen to the messages of a mailbox but that they are received.
    #[inline]
    pub(super) fn is_beyond_network(&self, mailbox: &Mailbox) -> bool {
        #[cfg(feature = "test-hooks")]
        if self.is_carried() {
            return false;
        }
        !mailbox.is_networked
    }

    /// Whether an alternative of a receive is a fault.
    #[inline]
    pub(super) fn is_fault(&self, from: Object, alternative: u32) -> bool {
        let mailbox = &self.mailboxes[from.index()];
        mailbox.is_networked && self.is_hostile() && alternative >= mailbox.alternatives()
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
    fn fault_message(&mut self, object: Object, kind: Kind, place: usize) {
        let mailbox = &mut self.mailboxes[object.index()];
        let queued = mailbox.queue[place];
        if kind != Kind::Duplicate {
            mailbox.queue.remove(place);
        }
        if kind != Kind::Drop {
            // The message, or a copy of it: nobody can tell which.
            self.hold_back(object, queued);
        }
        self.happened.push(Happened::Message(kind, object, queued.message));
        self.touch_mailbox_print(object);
        self.refresh_readers(object);
        self.spend(queued.rule, kind);
    }
}

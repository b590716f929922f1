//! A mailbox: the queue behind a channel, a oneshot or a network endpoint.
//!
//! Holds message ids only. Delivery decides which queued messages a receive may take; each is an alternative of the
//! receive, in order of arrival.

use super::{
    fault::Rule,
    looked::Looked,
    queue::Queue,
    tracked::Assign,
    waiters::{Line, Waiters},
    words::Delivery,
};
use crate::{
    hash::{Domain, Print, Sequence},
    ids::{Message, Object, Process},
    name::Names,
};

/// What one who drops a receiver has seen of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reception {
    /// More may have come.
    Open,
    /// That nothing will: nobody can tell when it is dropped.
    Over,
}

/// A queued message.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// Ties it to the user's value.
    pub message: Message,
    /// When it arrived, relative to the others.
    pub(super) arrival: u32,
    /// Who sent it.
    pub sender: Process,
    /// Which budget its faults are taken from.
    pub(super) rule: Rule,
    /// What it is: content where the user gave a fingerprint, else its origin.
    pub id: Print,
}

/// The state of one mailbox.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts that have nothing to do with each other")]
pub struct Mailbox {
    pub(super) delivery: Delivery,
    /// Most messages it holds; `u32::MAX` if unbounded.
    pub(super) capacity: u32,
    pub(super) queue: Queue,
    /// Handles that can send. A function of the states of those who hold them, and of messages under way.
    pub(super) senders: u32,
    /// Room held by permits that were granted and not used yet.
    pub(super) reserved: u32,
    /// The receiver was closed or dropped.
    pub(super) closed: bool,
    /// Every sender is gone.
    pub(super) abandoned: bool,
    /// It is an endpoint of a network, which may do things to its messages.
    pub(super) is_networked: bool,
    /// Its messages can be duplicated.
    pub(super) copies: bool,
    /// It is a channel without bounds: what is sent is there, and received in that order. A function of the rest that never changes.
    pub(super) is_straight: bool,
    /// Its endpoint was bound.
    pub(super) is_bound: bool,
    /// The node its endpoint was bound on.
    pub(super) host: Option<Process>,
    /// The process that last waited to receive from it.
    pub(super) reader: Option<Process>,
    /// Processes that wait to receive from it, each once per op.
    pub(super) readers: Waiters,
    /// Processes that wait for room in it or for its end, each once per op.
    pub(super) writers: Waiters,
    /// Cached part of the state's fingerprint, and whether it must be computed anew.
    pub(super) print: Print,
    pub(super) stale: bool,
}

impl Assign for Mailbox {
    fn assign(&mut self, other: &Self) {
        let Self {
            delivery,
            capacity,
            queue,
            senders,
            reserved,
            closed,
            abandoned,
            is_networked,
            copies,
            is_straight,
            is_bound,
            host,
            reader,
            readers,
            writers,
            print,
            stale,
        } = self;
        queue.assign(&other.queue);
        readers.assign(&other.readers);
        writers.assign(&other.writers);
        (*delivery, *capacity, *senders, *reserved) = (other.delivery, other.capacity, other.senders, other.reserved);
        (*closed, *abandoned, *is_bound, *host) = (other.closed, other.abandoned, other.is_bound, other.host);
        (*is_networked, *copies, *reader) = (other.is_networked, other.copies, other.reader);
        *is_straight = other.is_straight;
        (*print, *stale) = (other.print, other.stale);
    }
}

impl Mailbox {
    pub(super) fn new(object: Object, looked: Looked) -> Self {
        Self {
            delivery: Delivery::Fifo,
            capacity: u32::MAX,
            queue: Queue::new(object, looked.clone()),
            senders: 1,
            reserved: 0,
            closed: false,
            abandoned: false,
            is_networked: false,
            copies: false,
            is_straight: true,
            is_bound: false,
            host: None,
            reader: None,
            readers: Waiters::new(Line::readers(object), looked.clone()),
            writers: Waiters::new(Line::writers(object), looked),
            print: Print::default(),
            stale: false,
        }
    }

    pub(super) fn reset(&mut self, delivery: Delivery, capacity: u32) {
        let Self {
            delivery: d,
            capacity: c,
            queue,
            senders,
            reserved,
            closed,
            abandoned,
            is_networked,
            copies,
            is_straight,
            is_bound,
            host,
            reader,
            readers,
            writers,
            print,
            stale,
        } = self;
        (*d, *c, *senders, *reserved, *closed, *abandoned, *reader) = (delivery, capacity, 1, 0, false, false, None);
        (*is_networked, *copies, *is_bound, *host) = (false, false, false, None);
        *is_straight = delivery == Delivery::Fifo && capacity == u32::MAX;
        (*print, *stale) = (Print::default(), false);
        queue.clear();
        readers.reset();
        writers.reset();
    }

    /// Whether another message fits.
    #[inline]
    pub fn has_room(&self) -> bool {
        // One without bounds is not asked how much it holds.
        self.capacity == u32::MAX || (self.queue.len() as u32).saturating_add(self.reserved) < self.capacity
    }

    /// Whether the receiver was closed or dropped.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether every sender is gone.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned
    }

    /// How many handles can send.
    pub fn senders(&self) -> u32 {
        self.senders
    }

    /// How many messages are queued.
    pub fn queued(&self) -> u32 {
        self.queue.len() as u32
    }

    /// Most messages it holds; `u32::MAX` if unbounded.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// How many more messages fit.
    pub fn room(&self) -> u32 {
        self.capacity.saturating_sub(self.queued()).saturating_sub(self.reserved)
    }

    /// Whether some process waits for what happens to it; always, to one who notes what is seen, since this is no look at them.
    #[inline]
    pub(super) fn is_waited_for(&self) -> bool {
        self.readers.may_be_some() || self.writers.may_be_some()
    }

    /// Whether nothing can come any more. Not so while a permit is out: it may still send.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.queue.is_empty() && self.is_over_once_empty()
    }

    #[inline]
    pub(super) fn is_over_once_empty(&self) -> bool {
        (self.abandoned | self.closed) && self.reserved == 0
    }

    /// How many messages a receive can choose from; 1 where all it can see is that the senders are gone.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "asked with every message")]
    pub(super) fn alternatives(&self) -> u32 {
        if self.queue.is_empty() {
            u32::from(self.is_over_once_empty())
        } else if self.delivery == Delivery::Fifo {
            1
        } else {
            self.alternatives_among()
        }
    }

    fn alternatives_among(&self) -> u32 {
        match self.delivery {
            Delivery::Fifo => 1,
            Delivery::Unordered => self.queue.len() as u32,
            Delivery::PerSender => self.queue.senders(),
        }
    }

    /// The messages a receive can choose from, by arrival.
    pub(super) fn deliverable(&self) -> impl Iterator<Item = &Queued> {
        self.heads().map(|place| &self.queue[place])
    }

    /// The places of the messages that a receive may take, in the order of its alternatives.
    pub(super) fn heads(&self) -> impl Iterator<Item = usize> {
        let places =
            if self.delivery == Delivery::Fifo { 0..usize::from(!self.queue.is_empty()) } else { 0..self.queue.len() };
        places.filter(|place| self.is_takeable(*place))
    }

    /// Whether a receive may take the message at a place.
    pub(super) fn is_takeable(&self, place: usize) -> bool {
        match self.delivery {
            Delivery::Fifo => place == 0,
            Delivery::Unordered => true,
            Delivery::PerSender => self.queue.is_head(place),
        }
    }

    /// Whether a message is in the queue: once more, if it was duplicated.
    pub(super) fn holds(&self, message: Message) -> bool {
        self.queue.iter().any(|queued| queued.message == message)
    }

    /// Whether a message of a sender comes after one that was sent before it.
    fn stays_behind(&self, sender: Process, earlier: &Queued) -> bool {
        match self.delivery {
            Delivery::Fifo => true,
            Delivery::PerSender => earlier.sender == sender,
            Delivery::Unordered => false,
        }
    }

    /// How many messages, from the end, one more of this sender may be received before.
    pub(super) fn passable(&self, sender: Process) -> u32 {
        self.queue.iter().rev().take_while(|queued| !self.stays_behind(sender, queued)).count() as u32
    }

    /// Whether a message that was held back may still be received before another.
    pub(super) fn may_pass(&self, late: &Queued, other: &Queued) -> bool {
        other.message.0 > late.message.0 || !self.stays_behind(late.sender, other)
    }

    /// How many messages, from the end, one that was held back may still be received before.
    pub(super) fn passable_late(&self, late: &Queued) -> u32 {
        self.queue.iter().rev().take_while(|other| self.may_pass(late, other)).count() as u32
    }

    /// Puts a message ahead of as many others. Arrivals go on rising along the queue.
    #[inline]
    pub(super) fn insert_ahead_of(&mut self, message: Queued, others: u32) {
        if others == 0 {
            self.add(message);
        } else {
            self.insert_among(message, others);
        }
    }

    /// Puts a message behind all others.
    #[inline]
    pub(super) fn add(&mut self, message: Queued) {
        if self.delivery == Delivery::PerSender {
            self.queue.comes_from(message.sender);
        }
        self.queue.push_back(message);
    }

    fn insert_among(&mut self, message: Queued, others: u32) {
        let at = self.queue.len().saturating_sub(others as usize);
        let mut arrival = message.arrival;
        for queued in self.queue.range_mut(at..).rev() {
            std::mem::swap(&mut arrival, &mut queued.arrival);
        }
        self.queue.insert(at, Queued { arrival, ..message });
    }

    /// Takes the message behind an alternative of the receive.
    #[inline]
    pub(super) fn take(&mut self, alternative: u32) -> Option<Queued> {
        let index = match self.delivery {
            Delivery::Fifo => return self.queue.pop_front(),
            Delivery::Unordered => alternative as usize,
            Delivery::PerSender => return self.queue.take_head(alternative),
        };
        self.take_at(index)
    }

    /// Takes the message at a place.
    #[inline]
    pub(super) fn take_at(&mut self, index: usize) -> Option<Queued> {
        self.queue.remove(index)
    }

    /// Puts a message back where it was: by its arrival. Its own number would not do, for one that was held back or duplicated.
    pub(super) fn put_back(&mut self, message: Queued) {
        let at = self.queue.iter().position(|other| other.arrival > message.arrival).unwrap_or(self.queue.len());
        self.queue.insert(at, message);
    }

    /// What the future depends on, but for the contents: who is gone.
    pub(super) fn fingerprint(&self, name: Print, names: &Names) -> Print {
        let Self {
            delivery: _,
            capacity: _,
            queue: _,
            senders: _,
            reserved,
            closed,
            abandoned,
            is_networked: _,
            is_straight: _,
            copies: _,
            is_bound,
            host,
            reader: _,
            readers: _,
            writers: _,
            print: _,
            stale: _,
        } = self;
        // Pitfall B.19: closing enables a receiver and fails a sender.
        let flags =
            u64::from(*closed) | u64::from(*abandoned) << 1 | u64::from(*is_bound) << 2 | u64::from(*reserved) << 3;
        let print = Print::of(Domain::Mailbox).and(name).with(flags);
        host.map_or(print, |node| print.and(names.process_print(node)))
    }
}

/// What the future depends on of the contents, in the order the delivery leaves visible. Of each message its sender and what it is.
pub(super) fn print_of_queue(
    delivery: Delivery,
    queue: impl Iterator<Item = (Process, Print)> + Clone,
    name: Print,
    name_of: impl Fn(Process) -> Print,
) -> Print {
    let count = queue.clone().count() as u64;
    // Pitfall B.7: in order where the order is visible, counted where it is not, never combined by XOR.
    let contents = match delivery {
        Delivery::Fifo => return print_of_sequence(name, count, Sequence::of(queue.map(|(_, id)| id))),
        Delivery::Unordered => {
            return print_of_bag(name, count, queue.fold(Print::default(), |bag, (_, id)| bag.plus(in_bag(id))));
        }
        Delivery::PerSender => {
            let mut bag = Print::default();
            for (place, (sender, _)) in queue.clone().enumerate() {
                let is_head = queue.clone().take(place).all(|(earlier, _)| earlier != sender);
                if is_head {
                    let own = queue.clone().skip(place).filter(|(of, _)| *of == sender);
                    let from = Print::of(Domain::Sender).and(name_of(sender));
                    bag = bag.plus(own.fold(from, |print, (_, id)| print.and(id)));
                }
            }
            bag
        }
    };
    print_of_bag(name, count, contents)
}

/// What a message adds to the bag that an unordered mailbox is.
#[inline]
pub(super) fn in_bag(id: Print) -> Print {
    Print::of(Domain::Mailbox).and(id)
}

/// Contents that are a sum.
#[inline]
pub(super) fn print_of_bag(name: Print, count: u64, bag: Print) -> Print {
    Print::of(Domain::Queue).and(name).with(count).and(bag)
}

/// The contents of a FIFO mailbox.
#[inline]
pub(super) fn print_of_sequence(name: Print, count: u64, sequence: Sequence) -> Print {
    name.with(count ^ ((Domain::Queue as u64) << 32)).and(sequence.print())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(number: u32, sender: u32, content: u64) -> Queued {
        let id = Print::of(Domain::Message).with(content);
        Queued { message: Message(number), arrival: number, sender: Process::new(sender), rule: Rule::TEST, id }
    }

    fn mailbox(delivery: Delivery, messages: &[Queued]) -> Mailbox {
        let mut mailbox = Mailbox::new(Object::new(0), Looked::default());
        mailbox.reset(delivery, u32::MAX);
        for message in messages {
            mailbox.queue.push_back(*message);
        }
        mailbox
    }

    #[test]
    fn delivery_decides_what_a_receive_may_take() {
        let messages = [queued(0, 0, 10), queued(1, 0, 11), queued(2, 0, 12)];
        assert_eq!(mailbox(Delivery::Fifo, &messages).alternatives(), 1);
        assert_eq!(mailbox(Delivery::PerSender, &messages).alternatives(), 1);
        assert_eq!(mailbox(Delivery::Unordered, &messages).alternatives(), 3);
        assert_eq!(mailbox(Delivery::Unordered, &messages).take(1).map(|m| m.message), Some(Message(1)));
    }

    #[test]
    fn order_is_in_the_fingerprint_only_where_it_is_visible() {
        // Pitfall B.7.
        let names = {
            let mut names = Names::default();
            names.child(Process::BODY, 0);
            names
        };
        let print = |delivery, messages: &[Queued]| {
            let queue = messages.iter().map(|queued| (queued.sender, queued.id));
            print_of_queue(delivery, queue, Print::of(Domain::ObjectName), |who| names.process_print(who))
        };
        let one = [queued(0, 0, 1), queued(1, 1, 2)];
        let two = [queued(0, 1, 2), queued(1, 0, 1)];
        assert_ne!(print(Delivery::Fifo, &one), print(Delivery::Fifo, &two));
        assert_eq!(print(Delivery::PerSender, &one), print(Delivery::PerSender, &two));
        assert_eq!(print(Delivery::Unordered, &one), print(Delivery::Unordered, &two));
        let same = [queued(0, 0, 1), queued(1, 0, 1)];
        for delivery in [Delivery::Fifo, Delivery::PerSender, Delivery::Unordered] {
            assert_ne!(print(delivery, &same), print(delivery, &[]));
            assert_ne!(print(delivery, &same), print(delivery, &same[..1]));
        }
    }

    #[test]
    fn a_message_goes_back_where_it_was() {
        let messages = [queued(0, 0, 1), queued(1, 0, 2), queued(2, 0, 3)];
        let mut mailbox = mailbox(Delivery::Unordered, &messages);
        let taken = mailbox.take(1).expect("three are queued");
        mailbox.put_back(taken);
        let order: Vec<u32> = mailbox.queue.iter().map(|queued| queued.message.0).collect();
        assert_eq!(order, [0, 1, 2]);
    }

    #[test]
    fn a_message_that_arrived_late_stays_where_it_arrived() {
        // Message 0 was held back, message 1 duplicated.
        let late = Queued { arrival: 3, ..queued(0, 0, 1) };
        let again = Queued { arrival: 4, ..queued(1, 0, 2) };
        let mut mailbox = mailbox(Delivery::Fifo, &[queued(1, 0, 2), queued(2, 0, 3), late, again]);
        let arrivals = |mailbox: &Mailbox| mailbox.queue.iter().map(|queued| queued.arrival).collect::<Vec<u32>>();
        let before = arrivals(&mailbox);
        for place in 0..before.len() {
            let taken = mailbox.take_at(place).expect("four are queued");
            mailbox.put_back(taken);
            assert_eq!(arrivals(&mailbox), before);
        }
    }
}

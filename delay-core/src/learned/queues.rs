//! The messages of the mailboxes of a state, by numbers.
//!
//! What is queued is not numbered as a whole, for there are as many ways to queue messages as there are orders of arrival. Messages are
//! numbered, and a queue is a list of them whose print goes along with what is added and taken, where its delivery allows that.

use crate::{
    hash::{Domain, IdMap, Print, Sequence},
    ids::{Object, Process},
    world::{
        World,
        mailbox::Queued,
        parts::{identity_of_message, print_in_bag},
        words::Delivery,
    },
};
use std::collections::VecDeque;

/// What happens to the messages of a mailbox.
#[derive(Clone, Copy, Debug)]
pub(super) enum Move {
    /// The message with this number is added at the end.
    Add(u32),
    /// The one at this place is taken.
    Take(u32),
    /// The first message of a sender is taken, as in `Seen::Head`.
    TakeHead(u32),
    /// They are the list with this number.
    Become(u32),
}

/// All messages that were seen, by numbers from 1, and some lists of them.
#[derive(Debug, Default)]
pub(super) struct Messages {
    by_identity: IdMap<Print, u32>,
    all: Vec<Queued>,
    lists: Vec<(Delivery, Box<[u32]>)>,
    /// Of what is queued where a step saw all of it, and of who waits where they were many.
    wholes: IdMap<Print, u32>,
}

impl Messages {
    /// The number of a message.
    pub(super) fn number(&mut self, queued: &Queued) -> u32 {
        let all = &mut self.all;
        *self.by_identity.entry(identity_of_message(queued)).or_insert_with(|| {
            all.push(*queued);
            all.len() as u32
        })
    }

    /// The numbers of messages.
    pub(super) fn numbers(&mut self, queue: &[Queued]) -> Box<[u32]> {
        queue.iter().map(|queued| self.number(queued)).collect()
    }

    /// No move leads to a list any more.
    pub(super) fn forget_lists(&mut self) {
        self.lists.clear();
    }

    /// The number of a list.
    pub(super) fn list(&mut self, delivery: Delivery, queue: &[Queued]) -> u32 {
        let numbers = self.numbers(queue);
        self.lists.push((delivery, numbers));
        self.lists.len() as u32 - 1
    }

    #[inline]
    fn of(&self, number: u32) -> &Queued {
        &self.all[number as usize - 1]
    }

    /// The number of all that is queued; none if no step saw all of that.
    pub(super) fn whole(&self, queue: Option<&Queue>) -> Option<u32> {
        queue.map_or(Some(0), |queue| self.wholes.get(&queue.identity()).copied())
    }

    /// The number of those who wait in a line; none if they are many and no step saw them.
    #[inline]
    pub(super) fn waiting(&self, line: &[Process]) -> Option<u32> {
        match line {
            [] => Some(0),
            [one] => Some(one.number() + 1),
            many => self.wholes.get(&identity_of_line(many)).map(|number| number | MANY),
        }
    }

    /// The number of those who wait in a line, now at the latest.
    pub(super) fn see_waiting(&mut self, line: &[Process]) -> u32 {
        let next = self.wholes.len() as u32 + 1;
        if line.len() > 1 {
            self.wholes.entry(identity_of_line(line)).or_insert(next);
        }
        self.waiting(line).unwrap_or_default()
    }

    /// The number of all that is queued, now at the latest.
    pub(super) fn see_whole(&mut self, queue: Option<&Queue>) -> u32 {
        let next = self.wholes.len() as u32 + 1;
        queue.map_or(0, |queue| *self.wholes.entry(queue.identity()).or_insert(next))
    }
}

/// Tells numbers of several who wait from those of one.
const MANY: u32 = 1 << 31;

fn identity_of_line(line: &[Process]) -> Print {
    line.iter().fold(Print::of(Domain::Process), |print, process| print.with(u64::from(process.number())))
}

/// What is queued in a mailbox that is there.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    object: Object,
    delivery: Delivery,
    numbers: VecDeque<u32>,
    prints: Prints,
}

/// What a queue adds to the sum of its state, and what that is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prints {
    contents: Contents,
    pub(super) print: Print,
}

/// What goes along with what is added and taken.
#[derive(Clone, Copy, Debug)]
enum Contents {
    /// The messages in their order.
    Sequence(Sequence),
    /// The messages.
    Bag(Print),
    /// Nothing does.
    Other,
}

impl Contents {
    /// Of no messages.
    fn of(delivery: Delivery) -> Self {
        match delivery {
            Delivery::Fifo => Self::Sequence(Sequence::default()),
            Delivery::Unordered => Self::Bag(Print::default()),
            Delivery::PerSender => Self::Other,
        }
    }

    /// One is added to so many.
    #[inline]
    fn add(&mut self, queued: &Queued, count: usize) {
        match self {
            Self::Sequence(sequence) => sequence.push(queued.id, count),
            Self::Bag(bag) => *bag = bag.plus(print_in_bag(queued)),
            Self::Other => {}
        }
    }
}

/// What a queue was before something happened to it.
#[derive(Debug)]
pub(super) enum Before {
    Added(Prints),
    /// The place, and the number of the message.
    Taken(Prints, u32, u32),
    Other(Option<Box<Queue>>),
}

impl Queue {
    /// These messages, in a mailbox of the World.
    pub(super) fn of(object: Object, delivery: Delivery, numbers: &[u32], messages: &Messages, world: &World) -> Self {
        let numbers = numbers.iter().copied().collect();
        let prints = Prints { contents: Contents::of(delivery), print: Print::default() };
        let mut queue = Self { object, delivery, numbers, prints };
        queue.count_anew(messages);
        queue.print_again(messages, world);
        queue
    }

    /// The messages of a list.
    pub(super) fn of_list(object: Object, list: u32, messages: &Messages, world: &World) -> Self {
        let (delivery, numbers) = &messages.lists[list as usize];
        Self::of(object, *delivery, numbers, messages, world)
    }

    /// What it adds to the sum of its state.
    #[inline]
    pub(super) fn print(&self) -> Print {
        self.prints.print
    }

    /// What it adds to the order of arrivals.
    pub(super) fn arrivals(&self, messages: &Messages, world: &World) -> Print {
        world.arrivals_of_messages(self.object, self.delivery, &self.all(messages))
    }

    fn all(&self, messages: &Messages) -> Vec<Queued> {
        self.numbers.iter().map(|number| *messages.of(*number)).collect()
    }

    /// Whose it is, its print, and of each message its sender and what it is.
    pub(super) fn content<'m>(
        &'m self,
        messages: &'m Messages,
    ) -> (Object, Print, Delivery, impl Iterator<Item = (Process, Print)>) {
        let queue = self.numbers.iter().map(|number| messages.of(*number));
        (self.object, self.prints.print, self.delivery, queue.map(|queued| (queued.sender, queued.id)))
    }

    /// How many messages there are.
    #[inline]
    pub(super) fn count(&self) -> u32 {
        self.numbers.len() as u32
    }

    /// The number of the message at a place; 0 if there is none.
    #[inline]
    pub(super) fn at(&self, place: u32) -> u32 {
        self.numbers.get(place as usize).copied().unwrap_or(0)
    }

    /// The places of the first messages of their senders.
    fn heads(&self, messages: &Messages) -> impl Iterator<Item = usize> {
        let sender = |place: usize| messages.of(self.numbers[place]).sender;
        let is_first = move |at: &usize| (0..*at).all(|earlier| sender(earlier) != sender(*at));
        (0..self.numbers.len()).filter(is_first)
    }

    /// How many senders have messages.
    pub(super) fn senders(&self, messages: &Messages) -> u32 {
        self.heads(messages).count() as u32
    }

    /// Whether this one has.
    pub(super) fn has_from(&self, sender: Process, messages: &Messages) -> bool {
        self.numbers.iter().any(|number| messages.of(*number).sender == sender)
    }

    /// The number of the first message of the sender whose first message came as this one; 0 if there is none.
    pub(super) fn head(&self, head: u32, messages: &Messages) -> u32 {
        self.heads(messages).nth(head as usize).map_or(0, |place| self.numbers[place])
    }

    /// Whether that sender has more.
    pub(super) fn has_behind(&self, head: u32, messages: &Messages) -> bool {
        let Some(place) = self.heads(messages).nth(head as usize) else { return false };
        let sender = |place: usize| messages.of(self.numbers[place]).sender;
        (place + 1..self.numbers.len()).any(|later| sender(later) == sender(place))
    }

    fn identity(&self) -> Print {
        let first = Print::of_value(Domain::Queue, &(self.object.index() as u32, self.delivery as u8));
        self.numbers.iter().fold(first, |print, number| print.with(u64::from(*number)))
    }

    /// Has something happen to it. Says what it was before.
    #[inline]
    pub(super) fn change(&mut self, how: Move, messages: &Messages, world: &World) -> Before {
        match how {
            Move::Add(number) => self.add(number, messages, world),
            Move::Take(place) => self.take(place, messages, world),
            Move::TakeHead(head) => {
                let Some(place) = self.heads(messages).nth(head as usize) else { crate::bug!("nobody sent that") };
                self.take(place as u32, messages, world)
            }
            Move::Become(list) => {
                let other = Self::of_list(self.object, list, messages, world);
                Before::Other(Some(Box::new(std::mem::replace(self, other))))
            }
        }
    }

    /// Adds a message at the end.
    #[inline]
    fn add(&mut self, number: u32, messages: &Messages, world: &World) -> Before {
        let before = self.prints;
        self.prints.contents.add(messages.of(number), self.numbers.len());
        self.numbers.push_back(number);
        self.print_again(messages, world);
        Before::Added(before)
    }

    /// Takes the message at a place.
    #[inline]
    fn take(&mut self, place: u32, messages: &Messages, world: &World) -> Before {
        let before = self.prints;
        let number = if place == 0 { self.numbers.pop_front() } else { self.numbers.remove(place as usize) };
        let Some(number) = number else { crate::bug!("no message at place {place} of a queue") };
        match &mut self.prints.contents {
            Contents::Sequence(sequence) if place == 0 => sequence.take_first(messages.of(number).id),
            Contents::Bag(bag) => *bag = bag.minus(print_in_bag(messages.of(number))),
            Contents::Sequence(_) | Contents::Other => self.count_anew(messages),
        }
        self.print_again(messages, world);
        Before::Taken(before, place, number)
    }

    /// Undoes what happened last.
    #[inline]
    pub(super) fn take_back(&mut self, before: &Before) {
        match before {
            Before::Added(prints) => {
                self.numbers.pop_back();
                self.prints = *prints;
            }
            Before::Taken(prints, place, number) => {
                if *place == 0 {
                    self.numbers.push_front(*number);
                } else {
                    self.numbers.insert(*place as usize, *number);
                }
                self.prints = *prints;
            }
            Before::Other(_) => crate::bug!("a queue that became another is put back as a whole"),
        }
    }

    fn count_anew(&mut self, messages: &Messages) {
        self.prints.contents = Contents::of(self.delivery);
        for (count, number) in self.numbers.iter().enumerate() {
            self.prints.contents.add(messages.of(*number), count);
        }
    }

    #[inline]
    fn print_again(&mut self, messages: &Messages, world: &World) {
        let count = self.numbers.len();
        self.prints.print = match self.prints.contents {
            _ if world.names.shows_arrival(self.object) => self.print_anew(messages, world),
            Contents::Sequence(sequence) => world.print_of_sequence(self.object, count, sequence),
            Contents::Bag(bag) => world.print_of_bag(self.object, count, bag),
            Contents::Other => self.print_anew(messages, world),
        };
    }

    #[cold]
    fn print_anew(&self, messages: &Messages, world: &World) -> Print {
        world.print_of_messages(self.object, self.delivery, &self.all(messages))
    }
}

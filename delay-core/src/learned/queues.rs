//! What can be queued in mailboxes, by numbers: the contents, and what they become when a message is added or taken.

use super::{state::Sums, ways::Ways};
use crate::{
    hash::{Domain, IdMap, Print},
    ids::Object,
    world::{
        World,
        mailbox::Queued,
        parts::identity_of_message,
        words::Delivery,
    },
};

/// What happens to the messages of a mailbox.
#[derive(Clone, Copy, Debug)]
pub(super) enum Move {
    /// The message with this number is added at the end.
    Add(u32),
    /// The one at this place is taken.
    Take(u32),
    /// They are these.
    Become(u32),
}

/// The messages of a mailbox.
#[derive(Clone, Copy, Debug)]
struct Contents {
    object: Object,
    delivery: Delivery,
    /// Where they stand among `numbers`.
    from: u32,
    count: u32,
    print: Print,
    arrivals: Print,
}

/// All contents that were seen. Number 0 is that of a mailbox that is not there.
#[derive(Debug, Default)]
pub(super) struct Queues {
    by_identity: IdMap<Print, u32>,
    contents: Vec<Contents>,
    /// The messages of contents, by number, one after the other.
    numbers: Vec<u32>,
    message_by_identity: IdMap<Print, u32>,
    messages: Vec<Queued>,
    /// From contents and what happens to them, to what they become.
    after: Ways,
}

impl Queues {
    pub(super) fn stats(&self) -> usize { self.contents.len() }
    #[inline]
    fn of(&self, number: u32) -> Option<&Contents> {
        self.contents.get((number as usize).wrapping_sub(1))
    }

    /// How many messages there are.
    #[inline]
    pub(super) fn count(&self, number: u32) -> u32 {
        self.of(number).map_or(0, |contents| contents.count)
    }

    /// The number of the message at a place; 0 if there is none.
    #[inline]
    pub(super) fn at(&self, number: u32, place: u32) -> u32 {
        let contents = self.of(number).filter(|contents| place < contents.count);
        contents.map_or(0, |contents| self.numbers[(contents.from + place) as usize])
    }

    /// The number of a message, from 1.
    pub(super) fn message(&mut self, queued: &Queued) -> u32 {
        let messages = &mut self.messages;
        *self.message_by_identity.entry(identity_of_message(queued)).or_insert_with(|| {
            messages.push(*queued);
            messages.len() as u32
        })
    }

    /// The number of these messages in a mailbox.
    pub(super) fn number(&mut self, world: &World, object: Object, delivery: Delivery, queue: &[Queued]) -> u32 {
        let numbers: Vec<u32> = queue.iter().map(|queued| self.message(queued)).collect();
        self.number_of(world, object, delivery, &numbers)
    }

    fn number_of(&mut self, world: &World, object: Object, delivery: Delivery, numbers: &[u32]) -> u32 {
        let first = Print::of_value(Domain::Queue, &(object.index() as u32, delivery as u8));
        let identity = numbers.iter().fold(first, |print, number| print.with(u64::from(*number)));
        if let Some(known) = self.by_identity.get(&identity) {
            return *known;
        }
        let queue: Vec<Queued> = numbers.iter().map(|number| self.messages[*number as usize - 1]).collect();
        let (print, arrivals) = world.prints_of_queue(object, delivery, &queue);
        let (from, count) = (self.numbers.len() as u32, numbers.len() as u32);
        self.numbers.extend_from_slice(numbers);
        self.contents.push(Contents { object, delivery, from, count, print, arrivals });
        let number = self.contents.len() as u32;
        self.by_identity.insert(identity, number);
        number
    }

    /// What contents become.
    #[inline]
    pub(super) fn after(&mut self, number: u32, how: Move, world: &World) -> u32 {
        let what = match how {
            Move::Become(number) => return number,
            Move::Add(message) => message << 1,
            Move::Take(place) => place << 1 | 1,
        };
        let key = u64::from(number) << 32 | u64::from(what);
        self.after.get(key).unwrap_or_else(|| self.find_after(number, how, key, world))
    }

    #[cold]
    fn find_after(&mut self, number: u32, how: Move, key: u64, world: &World) -> u32 {
        let Some(Contents { object, delivery, from, count, .. }) = self.of(number).copied() else {
            crate::bug!("a mailbox that is not there has no messages")
        };
        let mut numbers = self.numbers[from as usize..(from + count) as usize].to_vec();
        match how {
            Move::Add(message) => numbers.push(message),
            Move::Take(place) => {
                numbers.remove(place as usize);
            }
            Move::Become(_) => {}
        }
        let after = self.number_of(world, object, delivery, &numbers);
        self.after.insert(key, after);
        after
    }

    /// What the sums are when contents are no more what they were.
    #[inline]
    pub(super) fn exchange(&self, sums: &mut Sums, before: u32, after: u32) {
        if let Some(Contents { print, arrivals, .. }) = self.of(before) {
            (sums.print, sums.arrivals) = (sums.print.minus(*print), sums.arrivals.minus(*arrivals));
        }
        if let Some(Contents { print, arrivals, .. }) = self.of(after) {
            (sums.print, sums.arrivals) = (sums.print.plus(*print), sums.arrivals.plus(*arrivals));
        }
    }
}

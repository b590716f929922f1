//! The messages of a mailbox, in order of arrival; and, while somebody wants to know, what a step saw of them and did to them.
//!
//! A step seldom sees all that is queued: one that sends sees nothing of it, one that receives the first message. So what was seen is noted
//! message by message, counted from the front as the step found it.

use super::{
    looked::{Looked, Moved, Seen},
    mailbox::Queued,
};
use crate::ids::{Object, Process};
use std::{
    cell::Cell,
    ops::{Index, RangeFrom},
    slice,
};

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    /// Those that were taken from the front stand here too, for a while.
    items: Vec<Queued>,
    /// The place of the first that was not.
    head: usize,
    object: Object,
    looked: Looked,
    /// What the step that is watched has done to it.
    done: Cell<Done>,
}

/// So many messages are taken at least, and as many as are left, before those are moved to the front: a move costs no more than what was taken since.
const TAKEN_MIN: usize = 1_024;

#[derive(Clone, Copy, Debug, Default)]
struct Done {
    /// In which watch.
    watch: u64,
    /// So many messages were taken from the front, and so many added at the end.
    taken: u32,
    added: u32,
    /// So many of those that it found were taken.
    gone: u32,
    order: Order,
    /// More than the first message of a sender was taken.
    beyond_heads: bool,
}

/// How the messages stand, compared with how the step found them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Order {
    /// The first were taken, others added.
    #[default]
    AsFound,
    /// One was taken from their midst.
    Shifted,
    Other,
}

impl Queue {
    pub(super) fn new(object: Object, looked: Looked) -> Self {
        Self { items: Vec::new(), head: 0, object, looked, done: Cell::default() }
    }

    #[inline]
    fn items(&self) -> &[Queued] {
        &self.items[self.head..]
    }

    /// Becomes what another is.
    pub(super) fn assign(&mut self, other: &Self) {
        self.object = other.object;
        self.items.clear();
        self.items.extend_from_slice(other.items());
        self.head = 0;
        self.done.set(Done::default());
    }

    fn done(&self) -> Done {
        let (done, watch) = (self.done.get(), self.looked.watch());
        if done.watch == watch { done } else { Done { watch, ..Done::default() } }
    }

    /// How many are left of those that the step found.
    fn found(&self, done: Done) -> u32 {
        self.items().len() as u32 - done.added
    }

    /// Whether there is a message at this place was seen. What is noted must not depend on what there is.
    #[cold]
    fn saw_whether(&self, place: u32) {
        let done = self.done();
        // Among those that it added, too: where they begin, is how many it found.
        let is_simple = done.order == Order::AsFound && done.added == 0;
        self.looked.note(if is_simple { Seen::Has(self.object, place + done.taken) } else { Seen::Count(self.object) });
    }

    #[cold]
    fn saw_whether_empty(&self) {
        if self.done().added == 0 {
            self.saw_whether(0);
        }
    }

    /// The message at this place was seen, or that there is none.
    #[cold]
    fn saw(&self, place: u32) {
        let done = self.done();
        if done.order != Order::AsFound {
            return self.looked.note(Seen::All(self.object));
        }
        if done.added > 0 {
            self.looked.note(Seen::Count(self.object));
        }
        if done.added == 0 || place < self.found(done) {
            self.looked.note(Seen::At(self.object, place + done.taken));
        }
    }

    /// How many senders have messages was seen.
    #[cold]
    fn saw_senders(&self) {
        // Which of those that sent or were heard had one before was seen then.
        self.looked.note(if self.done().beyond_heads { Seen::All(self.object) } else { Seen::Senders(self.object) });
    }

    /// The first message of a sender is about to be taken, from this place.
    #[cold]
    fn note_head_taken(&self, head: u32, place: usize) {
        let done = self.done();
        let is_first = done.order == Order::AsFound && done.added == 0 && done.taken == 0;
        if is_first {
            self.looked.note(Seen::Head(self.object, head));
            self.looked.note(Seen::Behind(self.object, head));
            self.looked.moved(self.object, Moved::TakenHead(head));
        } else {
            self.looked.note(Seen::All(self.object));
            self.looked.moved(self.object, Moved::Taken(place as u32));
        }
        self.done.set(Done { order: Order::Shifted, beyond_heads: !is_first, ..done });
    }

    /// Something happens to it that is more than messages taken and added.
    #[cold]
    fn muddle(&self) {
        self.looked.note(Seen::All(self.object));
        // Those that were added may be gone: from here on only a look at all tells anything.
        self.done.set(Done { order: Order::Other, added: 0, beyond_heads: true, ..self.done() });
        self.looked.moved(self.object, Moved::Muddled);
    }

    /// How many there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        if self.looked.is_open() {
            self.looked.note(Seen::Count(self.object));
        }
        self.items.len() - self.head
    }

    /// How many there are, to one whom it does not concern but for whether there are any, and whether the step found any.
    pub(super) fn len_looking_whether_any(&self) -> u32 {
        let done = self.done();
        self.looked.note(Seen::Has(self.object, 0));
        if done.added == 0 {
            self.looked.note(Seen::Has(self.object, done.gone));
        }
        self.len_unnoted() as u32
    }

    /// Whether there is none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        if self.looked.is_open() {
            self.saw_whether_empty();
        }
        self.items.len() == self.head
    }

    /// Whether it was empty before the last message was added; always, to one who notes what is seen, since this is no look at it.
    #[inline]
    pub(super) fn may_have_been_empty(&self) -> bool {
        self.len_unnoted() <= 1 || self.looked.is_open()
    }

    #[inline]
    pub(super) fn get(&self, place: usize) -> Option<&Queued> {
        if self.looked.is_open() {
            self.saw(place as u32);
        }
        self.items().get(place)
    }

    /// The places of the first messages of their senders.
    fn heads(&self) -> impl Iterator<Item = usize> {
        (0..self.len_unnoted()).filter(|place| self.is_first_of_sender(*place))
    }

    fn is_first_of_sender(&self, place: usize) -> bool {
        let items = self.items();
        items[..place].iter().all(|earlier| earlier.sender != items[place].sender)
    }

    /// Whether the message at a place is the first of its sender.
    pub(super) fn is_head(&self, place: usize) -> bool {
        if self.looked.is_open() {
            self.looked.note(Seen::All(self.object));
        }
        self.is_first_of_sender(place)
    }

    /// How many senders have messages here.
    pub(super) fn senders(&self) -> u32 {
        if self.looked.is_open() {
            self.saw_senders();
        }
        self.heads().count() as u32
    }

    /// Takes the first message of a sender: of the one whose first message came as this one.
    pub(super) fn take_head(&mut self, head: u32) -> Option<Queued> {
        let place = self.heads().nth(head as usize);
        if self.looked.is_open() {
            match place {
                Some(place) => self.note_head_taken(head, place),
                None => self.saw_senders(),
            }
        }
        place.map(|place| self.items.remove(self.head + place))
    }

    /// A message of this sender is about to be added, and it matters whether it has others here.
    #[inline]
    pub(super) fn comes_from(&self, sender: Process) {
        if self.looked.is_open() {
            self.looked.note(Seen::From(self.object, sender));
        }
    }

    /// All of them.
    pub(super) fn iter(&self) -> slice::Iter<'_, Queued> {
        if self.looked.is_open() {
            self.looked.note(Seen::All(self.object));
        }
        self.items().iter()
    }

    #[inline]
    pub(super) fn push_back(&mut self, message: Queued) {
        if self.looked.is_open() {
            self.note_added(message);
        }
        self.items.push(message);
    }

    #[cold]
    fn note_added(&self, message: Queued) {
        let done = self.done();
        self.done.set(Done { added: done.added + 1, ..done });
        self.looked.moved(self.object, Moved::Added(message));
    }

    #[inline]
    pub(super) fn pop_front(&mut self) -> Option<Queued> {
        if self.looked.is_open() {
            self.note_taken();
        }
        self.pop_unnoted()
    }

    /// The first is about to be taken, if there is one.
    #[cold]
    fn note_taken(&self) {
        self.saw(0);
        let done = self.done();
        if !self.items().is_empty() {
            let is_found = self.found(done) > 0;
            let (taken, gone) = (done.taken + u32::from(is_found), done.gone + u32::from(is_found));
            let added = done.added - u32::from(!is_found);
            self.done.set(Done { taken, added, gone, beyond_heads: true, ..done });
            self.looked.moved(self.object, Moved::Taken(0));
        }
    }

    /// These where nobody notes anything.
    #[inline]
    pub(super) fn first_unnoted(&self) -> Option<&Queued> {
        self.items.get(self.head)
    }

    #[inline]
    pub(super) fn len_unnoted(&self) -> usize {
        self.items.len() - self.head
    }

    #[inline]
    pub(super) fn push_unnoted(&mut self, message: Queued) {
        self.items.push(message);
    }

    #[inline]
    pub(super) fn pop_unnoted(&mut self) -> Option<Queued> {
        let first = *self.items.get(self.head)?;
        self.drop_first_unnoted();
        Some(first)
    }

    /// Takes the first, which there is, and which was looked at.
    #[inline]
    pub(super) fn drop_first_unnoted(&mut self) {
        self.head += 1;
        if self.head == self.items.len() {
            self.items.clear();
            self.head = 0;
        } else if self.head >= TAKEN_MIN && self.head >= self.len_unnoted() {
            self.forget_taken();
        }
    }

    #[cold]
    fn forget_taken(&mut self) {
        self.items.drain(..self.head);
        self.head = 0;
    }

    pub(super) fn remove(&mut self, place: usize) -> Option<Queued> {
        if place == 0 {
            return self.pop_front();
        }
        if self.looked.is_open() {
            self.saw(place as u32);
            let done = self.done();
            let is_found = (place as u32) < self.found(done);
            let (gone, added) = (done.gone + u32::from(is_found), done.added - u32::from(!is_found));
            self.done.set(Done { gone, added, order: Order::Shifted, beyond_heads: true, ..done });
            self.looked.moved(self.object, Moved::Taken(place as u32));
        }
        (place < self.items().len()).then(|| self.items.remove(self.head + place))
    }

    /// The message that the step has taken from this place is there again, and was all that it took or added.
    #[cfg(feature = "test-hooks")]
    pub(super) fn take_back(&mut self, place: u32, message: Queued) {
        if self.looked.is_open() {
            self.done.set(Done { watch: self.looked.watch(), ..Done::default() });
            self.looked.not_moved(self.object);
        }
        self.items.insert(self.head + place as usize, message);
    }

    pub(super) fn insert(&mut self, place: usize, message: Queued) {
        if self.looked.is_open() {
            self.muddle();
        }
        self.items.insert(self.head + place, message);
    }

    pub(super) fn retain(&mut self, keep: impl FnMut(&Queued) -> bool) {
        if self.looked.is_open() {
            self.muddle();
        }
        self.forget_taken();
        self.items.retain(keep);
    }

    pub(super) fn clear(&mut self) {
        if self.looked.is_open() {
            self.muddle();
        }
        self.items.clear();
        self.head = 0;
    }

    pub(super) fn range_mut(&mut self, places: RangeFrom<usize>) -> slice::IterMut<'_, Queued> {
        if self.looked.is_open() {
            self.muddle();
        }
        self.items[self.head + places.start..].iter_mut()
    }
}

impl Index<usize> for Queue {
    type Output = Queued;

    #[inline]
    fn index(&self, place: usize) -> &Queued {
        self.get(place).unwrap_or_else(|| crate::bug!("no message at place {place}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::fault::Rule, *};
    use crate::{hash::Print, ids::Message};

    #[test]
    fn what_was_taken_makes_room_and_the_order_stays() {
        let mut queue = Queue::new(Object::new(0), Looked::default());
        let (mut added, mut taken) = (0, 0);
        // It grows and shrinks, far past the room for what was taken.
        for (adds, takes) in [(10_000, 4_000), (3_000, 8_000), (5_000, 6_000)] {
            for _ in 0..adds {
                let (message, sender) = (Message(added), Process::BODY);
                queue.push_back(Queued { message, arrival: added, sender, rule: Rule::TEST, id: Print::default() });
                added += 1;
            }
            for _ in 0..takes {
                assert_eq!(queue.pop_front().map(|queued| queued.message), Some(Message(taken)));
                taken += 1;
            }
            assert_eq!(queue.len(), (added - taken) as usize);
            assert!(queue.head < TAKEN_MIN.max(queue.len()), "{} taken are kept", queue.head);
        }
        assert_eq!(queue.pop_front().map(|queued| queued.message), None);
    }
}

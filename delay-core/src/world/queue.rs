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
    collections::{VecDeque, vec_deque},
    ops::{Index, RangeFrom},
};

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    items: VecDeque<Queued>,
    object: Object,
    looked: Looked,
    /// What the step that is watched has done to it.
    done: Cell<Done>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Done {
    /// In which watch.
    watch: u64,
    /// So many messages were taken from the front, and so many added at the end.
    taken: u32,
    added: u32,
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
        Self { items: VecDeque::new(), object, looked, done: Cell::default() }
    }

    /// Becomes what another is.
    pub(super) fn assign(&mut self, other: &Self) {
        self.object = other.object;
        self.items.clone_from(&other.items);
        self.done.set(Done::default());
    }

    fn done(&self) -> Done {
        let (done, watch) = (self.done.get(), self.looked.watch());
        if done.watch == watch { done } else { Done { watch, ..Done::default() } }
    }

    /// How many are left of those that the step found.
    fn found(&self, done: Done) -> u32 {
        self.items.len() as u32 - done.added
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
        self.items.len()
    }

    /// Whether there is none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        if self.looked.is_open() {
            self.saw_whether_empty();
        }
        self.items.is_empty()
    }

    /// Whether it was empty before the last message was added; always, to one who notes what is seen, since this is no look at it.
    #[inline]
    pub(super) fn may_have_been_empty(&self) -> bool {
        self.items.len() <= 1 || self.looked.is_open()
    }

    #[inline]
    pub(super) fn get(&self, place: usize) -> Option<&Queued> {
        if self.looked.is_open() {
            self.saw(place as u32);
        }
        self.items.get(place)
    }

    /// The places of the first messages of their senders.
    fn heads(&self) -> impl Iterator<Item = usize> {
        let is_first = |at: usize| self.items.range(..at).all(|earlier| earlier.sender != self.items[at].sender);
        (0..self.items.len()).filter(move |at| is_first(*at))
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
        self.items.remove(place?)
    }

    /// A message of this sender is about to be added, and it matters whether it has others here.
    #[inline]
    pub(super) fn comes_from(&self, sender: Process) {
        if self.looked.is_open() {
            self.looked.note(Seen::From(self.object, sender));
        }
    }

    /// All of them.
    pub(super) fn iter(&self) -> vec_deque::Iter<'_, Queued> {
        if self.looked.is_open() {
            self.looked.note(Seen::All(self.object));
        }
        self.items.iter()
    }

    #[inline]
    pub(super) fn push_back(&mut self, message: Queued) {
        if self.looked.is_open() {
            self.note_added(message);
        }
        self.items.push_back(message);
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
        self.items.pop_front()
    }

    /// The first is about to be taken, if there is one.
    #[cold]
    fn note_taken(&self) {
        self.saw(0);
        let done = self.done();
        if !self.items.is_empty() {
            let is_found = self.found(done) > 0;
            let (taken, added) = (done.taken + u32::from(is_found), done.added - u32::from(!is_found));
            self.done.set(Done { taken, added, beyond_heads: true, ..done });
            self.looked.moved(self.object, Moved::Taken(0));
        }
    }

    pub(super) fn remove(&mut self, place: usize) -> Option<Queued> {
        if place == 0 {
            return self.pop_front();
        }
        if self.looked.is_open() {
            self.saw(place as u32);
            self.done.set(Done { order: Order::Shifted, beyond_heads: true, ..self.done() });
            self.looked.moved(self.object, Moved::Taken(place as u32));
        }
        self.items.remove(place)
    }

    /// The message that the step has taken from this place is there again, and was all that it took or added.
    #[cfg(feature = "test-hooks")]
    pub(super) fn take_back(&mut self, place: u32, message: Queued) {
        if self.looked.is_open() {
            self.done.set(Done { watch: self.looked.watch(), ..Done::default() });
            self.looked.not_moved(self.object);
        }
        self.items.insert(place as usize, message);
    }

    pub(super) fn insert(&mut self, place: usize, message: Queued) {
        if self.looked.is_open() {
            self.muddle();
        }
        self.items.insert(place, message);
    }

    pub(super) fn retain(&mut self, keep: impl FnMut(&Queued) -> bool) {
        if self.looked.is_open() {
            self.muddle();
        }
        self.items.retain(keep);
    }

    pub(super) fn clear(&mut self) {
        if self.looked.is_open() {
            self.muddle();
        }
        self.items.clear();
    }

    pub(super) fn range_mut(&mut self, places: RangeFrom<usize>) -> vec_deque::IterMut<'_, Queued> {
        if self.looked.is_open() {
            self.muddle();
        }
        self.items.range_mut(places)
    }
}

impl Index<usize> for Queue {
    type Output = Queued;

    #[inline]
    fn index(&self, place: usize) -> &Queued {
        self.get(place).unwrap_or_else(|| crate::bug!("no message at place {place}"))
    }
}

//! The values of the messages in a mailbox, in the order they were put in.
//!
//! Most mailboxes never hold more than one: that one stands apart, so that they allocate nothing.

use crate::ids::Message;
use std::{collections::VecDeque, mem};

/// So many bytes are asked for where there is more than one value, so that there is soon room for all: it grows with every execution anew.
const ROOM: usize = 512;

/// See the module. The first is before all others.
pub(super) struct Values<T> {
    first: Option<(Message, T)>,
    others: VecDeque<(Message, T)>,
}

impl<T> Values<T> {
    pub(super) fn new() -> Self {
        Self { first: None, others: VecDeque::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none() && self.others.is_empty()
    }

    #[inline]
    pub(super) fn put(&mut self, message: Message, value: T) {
        if self.first.is_none() && self.others.is_empty() {
            self.first = Some((message, value));
        } else {
            if self.others.capacity() == 0 {
                self.others.reserve(ROOM / size_of::<(Message, T)>());
            }
            self.others.push_back((message, value));
        }
    }

    /// The value of a message, which is nearly always the one that was put in first.
    #[inline]
    pub(super) fn take(&mut self, message: Message) -> Option<T> {
        let first = self.first.take().or_else(|| self.others.pop_front());
        match first {
            Some((of, value)) if of == message => Some(value),
            first => self.take_further(message, first),
        }
    }

    /// The same, of one that is not the first, which was taken out.
    #[cold]
    fn take_further(&mut self, message: Message, first: Option<(Message, T)>) -> Option<T> {
        self.first = first;
        let at = self.others.iter().position(|(of, _)| *of == message)?;
        self.others.remove(at).map(|(_, value)| value)
    }

    /// The messages whose values are here.
    pub(super) fn messages(&self) -> impl Iterator<Item = Message> {
        self.first.iter().chain(&self.others).map(|(message, _)| *message)
    }

    /// Takes all but those that are to be kept.
    pub(super) fn take_unless(&mut self, is_kept: impl Fn(Message) -> bool) -> Self {
        let all = mem::replace(self, Self::new());
        let mut gone = Self::new();
        for (message, value) in all.first.into_iter().chain(all.others) {
            let whither = if is_kept(message) { &mut *self } else { &mut gone };
            whither.put(message, value);
        }
        gone
    }
}

//! The handles that an object tells apart: receivers, and futures that listen.
//!
//! A ticket is a number within one execution and no name. What names a handle is its creator and its rank among the
//! creator's handles that are left: which those are is a function of the histories of those who hold them.

use crate::{
    hash::{Domain, Print},
    ids::Process,
    name::Names,
};

/// One of the handles of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Ticket(u32);

/// The handles of an object and where each stands. Invariant: ascending by ticket.
#[derive(Clone, Debug)]
pub(super) struct Roster<S> {
    entries: Vec<Entry<S>>,
    issued: u32,
}

#[derive(Clone, Debug)]
struct Entry<S> {
    ticket: Ticket,
    creator: Process,
    stand: S,
}

impl<S> Default for Roster<S> {
    fn default() -> Self {
        Self { entries: Vec::new(), issued: 0 }
    }
}

impl<S: Copy> Roster<S> {
    pub(super) fn enter(&mut self, creator: Process, stand: S) -> Ticket {
        let ticket = Ticket(self.issued);
        self.issued += 1;
        self.entries.push(Entry { ticket, creator, stand });
        ticket
    }

    /// The handle is gone; where it stood.
    pub(super) fn leave(&mut self, ticket: Ticket) -> Option<S> {
        let at = self.place(ticket)?;
        Some(self.entries.remove(at).stand)
    }

    pub(super) fn get(&self, ticket: Ticket) -> S {
        self.place(ticket).map_or_else(|| crate::bug!("{ticket:?} has left"), |at| self.entries[at].stand)
    }

    pub(super) fn set(&mut self, ticket: Ticket, stand: S) {
        match self.place(ticket) {
            Some(at) => self.entries[at].stand = stand,
            None => crate::bug!("{ticket:?} has left"),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn stands(&self) -> impl Iterator<Item = S> {
        self.entries.iter().map(|entry| entry.stand)
    }

    pub(super) fn stands_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.entries.iter_mut().map(|entry| &mut entry.stand)
    }

    /// Its number among its creator's.
    pub(super) fn rank(&self, ticket: Ticket) -> u64 {
        self.place(ticket).map_or(0, |at| self.rank_at(at))
    }

    /// What names a handle.
    pub(super) fn mark(&self, ticket: Ticket, names: &Names) -> Print {
        self.place(ticket).map_or_else(Print::default, |at| self.mark_at(at, names))
    }

    /// All of them, in no order.
    pub(super) fn fingerprint(&self, names: &Names, word: impl Fn(S) -> u64) -> Print {
        let mark = |(at, entry): (usize, &Entry<S>)| self.mark_at(at, names).with(word(entry.stand));
        self.entries.iter().enumerate().map(mark).fold(Print::default(), Print::plus)
    }

    fn place(&self, ticket: Ticket) -> Option<usize> {
        self.entries.binary_search_by_key(&ticket, |entry| entry.ticket).ok()
    }

    fn rank_at(&self, at: usize) -> u64 {
        let creator = self.entries[at].creator;
        self.entries[..at].iter().filter(|entry| entry.creator == creator).count() as u64
    }

    fn mark_at(&self, at: usize, names: &Names) -> Print {
        Print::of(Domain::Shared).and(names.process_print(self.entries[at].creator)).with(self.rank_at(at))
    }
}

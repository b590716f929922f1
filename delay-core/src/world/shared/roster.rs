//! The handles that an object tells apart: receivers, and futures that listen.
//!
//! A ticket is its creator and how many the creator made before. What names a handle is its creator and its rank among the creator's handles that
//! are left: which those are is a function of the histories of those who hold them.

use crate::{
    hash::{Domain, Print},
    ids::Process,
    name::Names,
    world::World,
};

/// One of the handles of an object. Invariant: ascending in the order in which its creator made them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Ticket {
    creator: Process,
    number: u32,
}

impl Ticket {
    /// Set in the number of one that was made in a step, not while the test was set up.
    const IN_STEP: u32 = 1 << 31;

    /// All that steps can tell.
    pub(super) fn identity(self) -> Print {
        Print::of_value(Domain::Shared, &(self.creator.number(), self.number))
    }
}

/// The handles of an object and where each stands. Invariant: ascending by ticket.
#[derive(Clone, Debug)]
pub(super) struct Roster<S>(Vec<Entry<S>>);

#[derive(Clone, Debug)]
struct Entry<S> {
    ticket: Ticket,
    stand: S,
}

impl<S> Default for Roster<S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<S: Copy> Roster<S> {
    pub(super) fn enter(&mut self, ticket: Ticket, stand: S) {
        let at = self.0.partition_point(|entry| entry.ticket < ticket);
        self.0.insert(at, Entry { ticket, stand });
    }

    /// The handle is gone; where it stood.
    pub(super) fn leave(&mut self, ticket: Ticket) -> Option<S> {
        let at = self.place(ticket)?;
        Some(self.0.remove(at).stand)
    }

    pub(super) fn get(&self, ticket: Ticket) -> S {
        self.place(ticket).map_or_else(|| crate::bug!("{ticket:?} has left"), |at| self.0[at].stand)
    }

    pub(super) fn set(&mut self, ticket: Ticket, stand: S) {
        match self.place(ticket) {
            Some(at) => self.0[at].stand = stand,
            None => crate::bug!("{ticket:?} has left"),
        }
    }

    pub(super) fn has(&self, ticket: Ticket) -> bool {
        self.place(ticket).is_some()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn stands(&self) -> impl Iterator<Item = S> {
        self.0.iter().map(|entry| entry.stand)
    }

    pub(super) fn stands_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.0.iter_mut().map(|entry| &mut entry.stand)
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
        self.0.iter().enumerate().map(mark).fold(Print::default(), Print::plus)
    }

    /// All that steps can tell.
    pub(super) fn identity(&self, word: impl Fn(S) -> u64) -> Print {
        let count = Print::of(Domain::Shared).with(self.0.len() as u64);
        self.0.iter().fold(count, |print, entry| print.and(entry.ticket.identity()).with(word(entry.stand)))
    }

    fn place(&self, ticket: Ticket) -> Option<usize> {
        self.0.binary_search_by_key(&ticket, |entry| entry.ticket).ok()
    }

    fn rank_at(&self, at: usize) -> u64 {
        let creator = self.0[at].ticket.creator;
        self.0[..at].iter().filter(|entry| entry.ticket.creator == creator).count() as u64
    }

    fn mark_at(&self, at: usize, names: &Names) -> Print {
        Print::of(Domain::Shared).and(names.process_print(self.0[at].ticket.creator)).with(self.rank_at(at))
    }
}

impl World {
    /// The ticket of a handle that the actor makes.
    pub(super) fn next_ticket(&mut self) -> Ticket {
        let (creator, in_step) = (self.actor, self.choices > 0);
        let number = self.histories[creator.index()].hand_out(in_step);
        Ticket { creator, number: number | if in_step { Ticket::IN_STEP } else { 0 } }
    }

    /// Whether which handle this is may be no function of what the actor has seen: it has it from another process, and whoever made it or handed
    /// it on may have forgotten how many there were before.
    pub(in crate::world) fn is_of_forgotten_origin(&self, ticket: Ticket) -> bool {
        let Ticket { creator, number } = ticket;
        if !self.notes.forgotten || number & Ticket::IN_STEP == 0 || creator == self.actor {
            return false;
        }
        let inherited = self.histories[self.actor.index()].inherited;
        creator != self.names.parent(self.actor) || number & !Ticket::IN_STEP >= inherited
    }
}

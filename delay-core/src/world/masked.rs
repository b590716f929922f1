//! Test hooks: the fingerprint with one part left out, so that tests can show what would be missed without it.
//!
//! Only under the feature `test-hooks`, which no user's build has. One part a search, from its options: searches that
//! run at the same time do not disturb each other.

use super::{World, history::History};
use crate::{
    hash::{Domain, Print},
    ids::{Object, Process},
};

/// What can be left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Part {
    /// The states of monitors.
    Monitors,
    /// The observed values.
    Observed,
    /// The order of the messages in a FIFO mailbox.
    Order,
    /// How often a message is queued: contents are combined by XOR.
    Multiplicity,
    /// That a receive found nothing, and that a process had its turn.
    Empty,
    /// That a mailbox is closed, or its senders are gone.
    Closed,
    /// The sender's history, where it names an opaque message.
    Origin,
    /// Pending timers and when they run out.
    Timers,
    /// How many processes and objects a process has made, and how often it drew.
    Counters,
    /// What is stored.
    Storage,
    /// How many faults of each kind can still happen.
    Budgets,
    /// Canonical names: processes are named by their order of creation instead.
    Names,
    /// What the value behind a lock, or a watched value, is a function of.
    Version,
    /// Looking at violations before the cache: only states that are new are looked at.
    Violations,
    /// The fewest delays a state was met with: it is not expanded again.
    Delays,
}

impl World {
    /// Leaves a part out, from the next step on.
    pub fn mask(&mut self, part: Option<Part>) {
        self.masked = part;
    }

    /// Whether a part is left out.
    pub fn masks(&self, part: Part) -> bool {
        self.masked == Some(part)
    }

    /// The list, or nothing if the part is left out.
    pub(super) fn unless<'a, T>(&self, part: Part, list: &'a [T]) -> &'a [T] {
        if self.masks(part) { &[] } else { list }
    }

    pub(super) fn masked_name(&self, process: Process, name: Print) -> Print {
        if !self.masks(Part::Names) {
            return name;
        }
        let order = self.present.iter().position(|other| *other == process);
        Print::of(Domain::Process).with(order.unwrap_or(0) as u64)
    }

    pub(super) fn masked_history(&self, history: History) -> History {
        if self.masks(Part::Counters) { History::begin(history.local) } else { history }
    }

    pub(super) fn masked_shared(&self, object: Object, print: Print) -> Print {
        if self.masks(Part::Version) {
            return self.shared(object).without_version().fingerprint(self.names.object_print(object), &self.names);
        }
        print
    }

    pub(super) fn masked_mailbox(&self, object: Object, print: Print) -> Print {
        let mailbox = &self.mailboxes[object.index()];
        let kept = Print::of(Domain::Mailbox).and(self.names.object_print(object));
        let contents = mailbox.queue.iter().map(|queued| Print::of(Domain::Mailbox).and(queued.id));
        if self.masks(Part::Order) {
            return kept.and(contents.fold(Print::default(), Print::plus));
        }
        if self.masks(Part::Multiplicity) {
            return kept.with(contents.fold(0, |all, print| all ^ print.short()));
        }
        if self.masks(Part::Closed) {
            return kept.and(contents.fold(kept, Print::and));
        }
        print
    }
}

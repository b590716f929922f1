//! The parts a state is made of, for those who know a state by numbers: processes, mailboxes, and the rest.
//!
//! A step is a function of the parts it looks at and changes only such parts; so what it did once, it does wherever these are
//! the same ([`crate::learned::steps`]).
//!
//! Invariant: two parts with one [`Look::identity`] are the same to every step, but for the numbers of messages, which only tie
//! values to them. So it has every field that is not a copy of others; the fingerprint leaves more out.

use super::{
    World,
    mailbox::{Mailbox, Queued},
    op::{Grant, Outcomes, Pending},
    process::{ProcessState, Status},
};
use crate::{
    hash::{Domain, Print},
    ids::{Object, Process, Slot},
};
use std::cell::RefCell;

/// A process or a mailbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part(u32);

impl Part {
    /// What belongs to no process and no mailbox, and is looked at by every step.
    pub const REST: Self = Self(u32::MAX);

    /// A process's part, by its index.
    #[inline]
    pub const fn process(index: usize) -> Self {
        Self((index as u32) << 1)
    }

    /// A mailbox's part, by its index.
    #[inline]
    pub const fn mailbox(index: usize) -> Self {
        Self((index as u32) << 1 | 1)
    }

    /// The index of the process whose part it is.
    #[inline]
    pub const fn process_index(self) -> Option<usize> {
        if self.0 & 1 == 0 { Some((self.0 >> 1) as usize) } else { None }
    }

    /// Index into tables kept per part.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which parts were looked at, in order, each once.
#[derive(Debug, Default)]
pub(super) struct Looked(RefCell<Vec<Part>>);

impl Looked {
    pub(super) fn note(&self, part: Part) {
        let mut looked = self.0.borrow_mut();
        if !looked.contains(&part) {
            looked.push(part);
        }
    }
}

/// What belongs to no part, as far as steps are learnt that touch it: the states of monitors, and what is to be chosen first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rest {
    monitors: Vec<Print>,
    choosing: Vec<(Process, Slot, Outcomes)>,
}

impl Rest {
    /// Whether there is nothing.
    pub fn is_nothing(&self) -> bool {
        self.monitors.is_empty() && self.choosing.is_empty()
    }

    /// All that steps can tell.
    pub fn identity(&self) -> Print {
        let Self { monitors, choosing } = self;
        let first = Print::of(Domain::Part).with(monitors.len() as u64);
        let print = monitors.iter().fold(first, |print, monitor| print.and(*monitor));
        choosing.iter().fold(print, |print, (process, slot, outcomes)| {
            print.and(Print::of_value(Domain::Part, &(process.number(), slot.0, outcomes)))
        })
    }

    /// Whose explicit choice is being resolved, and among how many outcomes.
    #[inline]
    pub fn choosing(&self) -> Option<(Process, u32)> {
        self.choosing.first().map(|(process, _, outcomes)| (*process, outcomes.count))
    }
}

/// What is to be known of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    /// All that steps can tell.
    pub identity: Print,
    /// What it adds to the fingerprint.
    pub print: Print,
    /// What it adds to the order of arrivals.
    pub arrivals: Print,
    /// Alternatives of a process.
    pub alternatives: u32,
    /// Whether it is a process that has not ended.
    pub is_live: bool,
    /// Whether it has to be looked at where an execution ends: it waits for something unknown, or has messages and no name.
    pub is_peculiar: bool,
}

impl World {
    /// From here on it is noted which parts are looked at.
    pub fn begin_looking(&mut self) {
        self.looked.0.borrow_mut().clear();
        self.watch_parts(true);
    }

    /// The parts that were looked at, in order.
    pub fn end_looking(&mut self, parts: &mut Vec<Part>) {
        self.watch_parts(false);
        parts.clear();
        parts.extend_from_slice(&self.looked.0.borrow());
    }

    fn watch_parts(&mut self, is_watched: bool) {
        self.processes.watch(is_watched);
        self.mailboxes.watch(is_watched);
    }

    /// The parts of the present state. Its fingerprint must be current.
    pub fn parts(&self) -> impl Iterator<Item = Part> {
        let processes = self.present.iter().map(|process| Part::process(process.index()));
        processes.chain(self.present_mailboxes.iter().map(|object| Part::mailbox(object.index())))
    }

    /// The parts that the last kept step changed, some more than once.
    pub fn changed_parts(&self) -> impl Iterator<Item = Part> {
        let (processes, mailboxes) = self.last_marks();
        self.processes.changed_since(processes).chain(self.mailboxes.changed_since(mailboxes))
    }

    /// Looks at a part; none where it is not there. Its print must be current.
    pub fn look_at_part(&self, part: Part) -> Option<Look> {
        let index = part.index() >> 1;
        if part.process_index().is_some() {
            let state = &self.processes[index];
            (state.status != Status::Absent).then(|| self.look_at_state(Process::new(index as u32), state))
        } else {
            let object = Object::new(index as u32);
            let is_there = self.present_mailboxes.contains(&object);
            is_there.then(|| self.look_at_mailbox(object, &self.mailboxes[index]))
        }
    }

    /// What belongs to no part.
    pub fn rest_of_parts(&self) -> Rest {
        Rest { monitors: self.monitors.clone(), choosing: self.choosing.clone() }
    }

    /// The fingerprint of a state with this sum of the prints of its parts, and this rest, where nothing else can be told of it.
    pub fn print_with_rest(&self, sum: Print, rest: &Rest) -> Print {
        self.print_of_rest(sum, &rest.monitors, &rest.choosing)
    }

    fn look_at_state(&self, process: Process, state: &ProcessState) -> Look {
        let ProcessState {
            status,
            local,
            pending,
            in_use,
            unseen,
            alternatives,
            cancelled,
            node,
            handles,
            joiners,
            spawned,
            created,
            drawn,
            print,
            stale: _,
        } = state;
        let counted = (alternatives, in_use, unseen, handles, spawned, created, drawn);
        let flags = (*status as u8, cancelled, node.map(Process::number));
        let mut identity = Print::of_value(Domain::Part, &(process.number(), flags, counted)).and(*local);
        for pending in pending {
            identity = identity.and(identity_of_op(pending));
        }
        for joiner in joiners {
            identity = identity.with(u64::from(joiner.number()) | 1 << 32);
        }
        Look {
            identity,
            print: *print,
            arrivals: Print::default(),
            alternatives: *alternatives,
            is_live: state.is_live(),
            is_peculiar: state.is_live() && state.waiting().next().is_none(),
        }
    }

    fn look_at_mailbox(&self, object: Object, mailbox: &Mailbox) -> Look {
        let Mailbox {
            delivery,
            capacity,
            queue,
            senders,
            reserved,
            closed,
            abandoned,
            is_networked,
            copies,
            is_bound,
            host,
            reader,
            readers,
            writers,
            print,
            stale: _,
        } = mailbox;
        let counted = (object.index() as u32, capacity, senders, reserved);
        let flags = (*delivery as u8, closed, abandoned, is_networked, copies, is_bound);
        let of = (host.map(Process::number), reader.map(Process::number), queue.len() as u32, readers.len() as u32);
        let mut identity = Print::of_value(Domain::Part, &(counted, flags, of));
        for queued in queue {
            identity = identity_of_message(identity, queued);
        }
        for process in readers.iter().chain(writers) {
            identity = identity.with(u64::from(process.number()));
        }
        Look {
            identity,
            print: *print,
            arrivals: self.arrivals_of(object),
            alternatives: 0,
            is_live: false,
            is_peculiar: *is_networked && !is_bound && host.is_none(),
        }
    }
}

fn identity_of_message(identity: Print, queued: &Queued) -> Print {
    let Queued { message: _, arrival: _, sender, rule, id } = queued;
    identity.and(*id).and(Print::of_value(Domain::Part, &(sender.number(), rule)))
}

fn identity_of_op(pending: &Pending) -> Print {
    let Pending { op, site, state, taken } = pending;
    if *state == Grant::Free {
        return Print::of(Domain::Part);
    }
    let identity = Print::of_value(Domain::Part, &(op, site, pending.stage()));
    taken.as_ref().map_or(identity, |queued| identity_of_message(identity, queued))
}

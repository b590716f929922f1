//! Re-execution: comes to a position again by its path, and notices where the program does something else.

use super::{Live, Status};
use crate::{
    hash::{Domain, Print},
    ids::{Object, Process},
    name::{Histories, Order},
    verdict::Divergence,
    world::{Choice, op::Op, parts::Rest, process::Status as ProcessStatus, words::Delivery},
};

/// What a process looked like after one of its steps: compared when a path is re-executed.
#[derive(Clone, Copy, Debug)]
pub struct Footprint {
    /// Which process it is, and all it has seen.
    pub(crate) history: u64,
    /// What it waits for, or how it ended: a function of its history, if it is deterministic and shares nothing.
    pub(crate) shape: u64,
    /// One of the ops it waits for, for words.
    waits_for: Option<Op>,
    /// Its shape was decided by somebody else: it was aborted, or waits for something the engine does not control.
    pub(crate) is_foreign: bool,
}

impl PartialEq for Footprint {
    fn eq(&self, other: &Self) -> bool {
        (self.history, self.shape) == (other.history, other.shape)
    }
}

impl Eq for Footprint {}

impl Live<'_> {
    /// From the next execution on, hashes what processes have seen, by which footprints are told apart, or only if it has to.
    pub fn keep_histories(&mut self, kept: Histories) {
        self.outside_mut().world.keep_histories(kept);
    }

    /// From here on the explorer is told of messages that are sent, or it is not.
    #[inline]
    pub fn tell_sent(&mut self, tells: bool) {
        self.outside_mut().world.tell_sent(tells);
    }

    /// The same for states that differ only in which copy of a task is which, where copies are exchanged.
    #[inline]
    pub fn key(&mut self) -> Print {
        self.outside_mut().world.key()
    }

    /// That of a state elsewhere: see [`crate::world::World::key_elsewhere`].
    pub fn key_elsewhere<Q: Iterator<Item = (Process, Print)>>(
        &mut self,
        parts: impl Iterator<Item = Print>,
        queues: impl Iterator<Item = (Object, Print, Delivery, Q)>,
        rest: Option<&Rest>,
    ) -> Option<Print> {
        self.outside_mut().world.key_elsewhere(parts, queues, rest)
    }

    /// From the next execution on, exchanges copies of a task, or does not, for this reason.
    pub fn exchange_copies(&mut self, no: Option<&'static str>) {
        self.outside_mut().world.names.exchange_copies(no);
    }

    /// Copies of a task turn out to be told apart: all that was visited counts for nothing.
    pub fn tell_copies_apart(&mut self, why: &'static str) {
        self.outside_mut().world.names.tell_copies_apart(why);
    }

    /// Gives names the ids that they have in another search. Nothing was executed yet.
    pub fn follow_names(&mut self, order: &Order) {
        self.outside_mut().world.names.follow(order);
    }

    /// Re-executes a path from the start. From step `from` on, each step is compared with what the process did the
    /// first time.
    ///
    /// # Errors
    /// The first step at which the program did something else.
    pub fn go_to(
        &mut self,
        path: &[Choice],
        from: usize,
        footprints: &[Option<Footprint>],
    ) -> Result<Status, Divergence> {
        if self.learning.is_some() {
            return self.go_on_to(path);
        }
        self.restart();
        for (index, choice) in path.iter().enumerate() {
            let expected = index.checked_sub(from).and_then(|at| footprints.get(at)?.as_ref());
            if self.status != Status::Running {
                return Err(self.divergence(index, *choice, expected, "the end of the execution"));
            }
            if self.step(*choice) == Status::Diverged {
                return Err(self.divergence(index, *choice, expected, "that it cannot make this step"));
            }
            if let Some(expected) = expected
                && self.footprint(*choice) != *expected
            {
                let seen = self.words(self.footprint(*choice), Some(*expected));
                return Err(self.divergence(index, *choice, Some(expected), &seen));
            }
        }
        Ok(self.status)
    }

    /// A divergence at the end of the present path.
    #[cold]
    pub fn divergence_here(&self, expected: &str, seen: &str) -> Divergence {
        let step = self.path.len();
        let process = self.path.last().map_or("main".to_owned(), |choice| self.label(choice.process));
        Divergence { step, process, expected: expected.to_owned(), seen: seen.to_owned() }
    }

    #[cold]
    pub(super) fn divergence(
        &self,
        index: usize,
        choice: Choice,
        expected: Option<&Footprint>,
        seen: &str,
    ) -> Divergence {
        Divergence {
            step: index + 1,
            process: self.label(choice.process),
            expected: expected.map_or("a step".to_owned(), |footprint| self.words(*footprint, None)),
            seen: seen.to_owned(),
        }
    }

    fn words(&self, footprint: Footprint, instead_of: Option<Footprint>) -> String {
        let context = self.outside();
        if instead_of.is_some_and(|other| other.waits_for == footprint.waits_for) {
            return "the same op after observing something else".to_owned();
        }
        footprint
            .waits_for
            .map_or("its end".to_owned(), |op| format!("that it waits for {}", context.labels.op(&context.world, op)))
    }

    /// What the process of the last step looks like now.
    #[inline]
    pub fn footprint(&self, choice: Choice) -> Footprint {
        let world = self.world();
        let process = if choice.process == Process::CLOCK { world.actor() } else { choice.process };
        if process.is_environment() {
            // No task's step: what it did shows in what follows.
            return Footprint { history: u64::from(process.number()), shape: 0, waits_for: None, is_foreign: true };
        }
        let state = world.process(process);
        let waits_for = state.waiting().next().map(|pending| pending.op);
        // In no order: a combinator may ask in any.
        let shape = state.waiting().fold(Print::default(), |bag, pending| {
            bag.plus(Print::of_value(Domain::Process, &std::mem::discriminant(&pending.op)))
        });
        Footprint {
            history: world.history(process).of(world.names.process_print(process)).short(),
            shape: shape.with(state.status() as u64).short(),
            waits_for,
            is_foreign: state.status() == ProcessStatus::Cancelled || state.is_live() && waits_for.is_none(),
        }
    }
}

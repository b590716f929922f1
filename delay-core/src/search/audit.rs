//! Audit of an exhausted search: is what counted as visited what it seemed?
//!
//! Two states with one fingerprint must have one future. They have not if tasks share memory that the engine does not
//! see, or if a checkpoint leaves part of the state out. Executing a path again cannot show that: it does the same again.
//! So some of the executions that were cut short at a visited state are walked to their end after all, and every state
//! on the way must have been visited. And a process that has seen the same must wait for the same.
//!
//! Invariant: the audit changes no count of the coverage statement; it can only take the statement back.

use super::{cursor::Cursor, run::Deviation, visited::Visited, worker::Halt};
use crate::{
    explorer::{self, Explorer},
    hash::IdMap,
    live::{Footprint, Live, Status},
    world::Choice,
};

/// Most executions kept for the audit.
const HITS_MAX: usize = 256;

/// Most histories whose shapes are remembered; those met later are not compared.
const SHAPES_MAX: usize = 1 << 20;

/// Steps an execution is walked on.
const WALK_MAX: u32 = 10_000;

/// Steps it is walked on where it goes round, at least.
const ROUND: u32 = 100;

/// An execution that was cut short at a visited state.
#[derive(Debug)]
pub(super) struct Hit<E> {
    pub(super) path: Box<[Choice]>,
    pub(super) spent: Box<[Deviation]>,
    /// The explorer at its end.
    pub(super) explorer: E,
}

impl<E: Explorer> Hit<E> {
    /// Walks it to its end along the explorer, or until it has gone round for as long as it took to get there: what is left out of the
    /// states may be how often. Says where the execution stands then.
    ///
    /// # Errors
    /// A state on the way was not visited.
    pub(super) fn walk_on(&self, live: &mut Live<'_>, visited: &impl Visited) -> Result<Status, Halt> {
        let mut explorer = self.explorer.clone();
        live.go_to(&self.path, 0, &[]).map_err(Halt::Diverged)?;
        let (mut met, mut last_new) = (IdMap::default(), 0);
        for steps in 0..WALK_MAX {
            if live.status() != Status::Running || steps > 2 * last_new + ROUND {
                break;
            }
            let cursor = Cursor::at(live.world(), explorer).map_err(Halt::Unsound)?;
            let status = live.step(cursor.choice());
            explorer = cursor.into_explorer();
            explorer::tell(&mut explorer, live.world().events());
            let state = live.key();
            if met.insert(state, steps).is_none() {
                last_new = steps;
            }
            if status != Status::Violated && !visited.contains(state) {
                let expected = "a state that was visited, as after the same state before";
                return Err(Halt::Diverged(live.divergence_here(expected, "another state")));
            }
        }
        Ok(live.status())
    }
}

/// A sample of the executions that were cut short, evenly spread.
#[derive(Debug)]
pub(super) struct Audit<E> {
    pub(super) hits: Vec<Hit<E>>,
    seen: u64,
    /// One of so many is kept, next this one.
    stride: u64,
    next_hit: u64,
    /// What a process waits for after each history.
    shapes: IdMap<u64, u64>,
    /// The number of the next state whose path is executed live.
    next: u64,
}

/// Of the states that are reached by what was learnt, the first so many are reached live too; later, one for each so many
/// of those before it.
const VERIFIED: u64 = 64;

impl<E> Default for Audit<E> {
    fn default() -> Self {
        Self { hits: Vec::new(), seen: 0, stride: 1, next_hit: 1, shapes: IdMap::default(), next: 0 }
    }
}

impl<E> Audit<E> {
    /// Whether a process waits for what it waited for when it had seen the same before.
    #[inline]
    pub(super) fn agrees(&mut self, footprint: &Footprint) -> bool {
        if footprint.is_foreign || self.shapes.len() >= SHAPES_MAX {
            return true;
        }
        *self.shapes.entry(footprint.history).or_insert(footprint.shape) == footprint.shape
    }

    /// Whether the path to the state with this number is to be executed live: many at first, then ever fewer.
    #[inline]
    pub(super) fn is_due(&mut self, states: u64) -> bool {
        let is_due = states >= self.next;
        if is_due {
            self.next = states + 1 + states / VERIFIED;
        }
        is_due
    }

    /// An execution is cut short here.
    #[inline]
    pub(super) fn hit(&mut self, hit: impl FnOnce() -> Hit<E>) {
        self.seen += 1;
        if self.seen == self.next_hit {
            self.next_hit += self.stride;
            self.keep(hit());
        }
    }

    fn keep(&mut self, hit: Hit<E>) {
        if self.hits.len() == HITS_MAX {
            let mut kept = 0;
            self.hits.retain(|_| {
                kept += 1;
                kept % 2 == 0
            });
            self.stride *= 2;
        }
        self.hits.push(hit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounded_number_of_hits_is_kept_from_all_over() {
        let mut audit = Audit::default();
        for number in 1..=10_000u64 {
            audit.hit(|| Hit { path: Box::default(), spent: Box::default(), explorer: number });
        }
        let kept: Vec<u64> = audit.hits.iter().map(|hit| hit.explorer).collect();
        assert!(kept.len() <= HITS_MAX && kept.len() >= HITS_MAX / 2 - 1, "{}", kept.len());
        assert!(kept.is_sorted() && kept[0] < 200 && kept[kept.len() - 1] > 9_800, "{kept:?}");
    }
}

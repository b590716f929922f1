//! A stratum of SES, or what is left of one: entries that its workers take up between two meetings.

use super::frontier::Frontier;
use crate::coverage::Coverage;
use std::{
    ops::Range,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

/// What executions and transitions were counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Sums {
    pub(super) executions: u64,
    pub(super) transitions: u64,
}

/// Into how many ranges a frontier is cut, at most. A worker that begins another goes a long way, within one it is a step or two from entry to
/// entry; and nobody may wait long for the last.
const RANGES: usize = 64;
/// Fewer entries are not worth a way of their own.
const RANGE_MIN: usize = 32;

/// A stratum, and who is given which of its entries.
#[derive(Debug, Default)]
pub(super) struct Round {
    pub(super) bound: u32,
    pub(super) frontiers: Vec<Frontier>,
    /// Ranges of entries, by frontier.
    chunks: Vec<(u32, Range<usize>)>,
    next: AtomicUsize,
    /// Ranges that were taken and not searched.
    left: Mutex<Vec<(u32, Range<usize>)>>,
    halted: AtomicBool,
    executions: AtomicU64,
    transitions: AtomicU64,
}

impl Round {
    /// What was counted before is told with what is counted in it.
    pub(super) fn new(bound: u32, frontiers: Vec<Frontier>, before: Sums) -> Self {
        let cut = |(number, frontier): (usize, &Frontier)| {
            let length = frontier.entries.len();
            let size = (length / RANGES).max(RANGE_MIN);
            let starts = (0..length).step_by(size);
            starts.map(move |from| (number as u32, from..length.min(from + size))).collect::<Vec<_>>()
        };
        let chunks = frontiers.iter().enumerate().flat_map(cut).collect();
        let (executions, transitions) = (before.executions.into(), before.transitions.into());
        Self { bound, frontiers, chunks, executions, transitions, ..Self::default() }
    }

    /// Entries to search on from: of which frontier, and which.
    pub(super) fn take(&self) -> Option<(u32, Range<usize>)> {
        self.chunks.get(self.next.fetch_add(1, Relaxed)).cloned()
    }

    /// These were taken and not searched.
    pub(super) fn give_back(&self, number: u32, entries: Range<usize>) {
        locked(&self.left).push((number, entries));
    }

    /// Whether some worker was halted.
    #[inline]
    pub(super) fn is_halted(&self) -> bool {
        self.halted.load(Relaxed)
    }

    /// A worker has counted so much in all, of which it told some. Says what all of them have.
    pub(super) fn tell(&self, counted: &Coverage, told: &mut Sums) -> Sums {
        let Coverage { executions, transitions, .. } = *counted;
        let add = |sum: &AtomicU64, now: u64, told: u64| sum.fetch_add(now - told, Relaxed) + now - told;
        let sums = Sums {
            executions: add(&self.executions, executions, told.executions),
            transitions: add(&self.transitions, transitions, told.transitions),
        };
        *told = Sums { executions, transitions };
        sums
    }

    /// Whether there was nothing to take from the start.
    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// A worker was halted: the others are not to go on.
    pub(super) fn halt(&self) {
        self.halted.store(true, Relaxed);
    }

    /// What was counted until now.
    pub(super) fn sums(&self) -> Sums {
        Sums { executions: self.executions.load(Relaxed), transitions: self.transitions.load(Relaxed) }
    }

    /// What is left of its frontiers.
    pub(super) fn left(self) -> Vec<Frontier> {
        let Self { mut frontiers, chunks, next, left, .. } = self;
        let mut left = left.into_inner().unwrap_or_else(PoisonError::into_inner);
        left.extend(chunks.into_iter().skip(next.into_inner()));
        for (number, frontier) in frontiers.iter_mut().enumerate() {
            let of_it = left.iter().filter(|(of, _)| *of as usize == number);
            frontier.keep(&of_it.map(|(_, range)| range.clone()).collect::<Vec<_>>());
        }
        frontiers.retain(|frontier| !frontier.entries.is_empty());
        frontiers
    }
}

/// What the workers share. One that panics leaves it as it was between two of its changes.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! A search as it can be gone on with in another process: what was visited, what is left, what was counted.
//!
//! Data alone; how it is written to a file is the harness's business. Paths stand here as delays, which the explorer turns into choices again.
//!
//! Invariants: what is saved is a whole search: everything that was not visited is reachable from an entry, or among the samples that
//! were not taken. Going on from it comes to what the search would have come to that was never stopped.
//!
//! What is not saved: what was learnt of processes. It is ids, and values of the World, by the million; learning it again takes a live execution for each reaction, which are few,
//! and it is checked as it is learnt. Nor the sample of executions that the audit walks on: one that goes on audits what it visits itself.

pub use super::ss::Start;
use super::{Deviation, Settings, Stop, budget::Budget, parallel::Numbers, visited::Prints};
use crate::{coverage::Coverage, name::Order};
use std::{
    cell::{Cell, RefCell},
    sync::Arc,
    time::Duration,
};

/// A search that was stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Saved {
    /// An exhaustive one, or the exhaustive part of one.
    Exhaustive(Position),
    /// One that samples.
    Sampling(Sampled),
}

/// How far an exhaustive search has come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Position {
    /// What was counted.
    pub coverage: Coverage,
    /// The present delay bound.
    pub bound: u32,
    /// What is to be taken up under it, in this order.
    pub now: Vec<Entry>,
    /// What waits for a larger one.
    pub next: Vec<Entry>,
    /// What was visited.
    pub visited: Prints,
    /// The ids of processes and objects, and what tells states apart.
    pub names: Order,
}

/// A state with choices left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The delays on the way to it.
    pub deviations: Vec<Deviation>,
    /// The steps of the way.
    pub steps: u32,
    /// How many of its choices were made.
    pub executed: u32,
    /// Half of the short fingerprint that it must turn out to have again.
    pub check: u32,
}

/// How far a sampling search has come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sampled {
    /// What was counted.
    pub coverage: Coverage,
    /// The present stratum.
    pub delays: u32,
    /// Its samples below this number were taken.
    pub next: u64,
    /// Where samples start.
    pub starts: Arc<[Start]>,
    /// What the exhaustive part before had covered, if there was one.
    pub before: Option<Box<Coverage>>,
}

/// How many samples are taken before it is looked whether it is time to save. One that is stopped loses what it has taken of the last
/// so many.
const BLOCK: u64 = 1 << 12;

impl Sampled {
    /// Before the first sample.
    pub(super) fn from_starts(coverage: Coverage, starts: impl Into<Arc<[Start]>>) -> Self {
        Self { coverage, delays: 0, next: 0, starts: starts.into(), before: None }
    }

    /// Takes the samples of the present stratum that are left, up to number `to`. Says why to stop, if the search has to.
    pub(super) fn take(
        &mut self,
        to: u64,
        settings: &Settings,
        budget: &Budget<'_>,
        keep: &Keep<'_>,
        take: impl Fn(Numbers) -> (Coverage, Option<Stop>),
    ) -> Option<Stop> {
        while self.next < to {
            let end = if keep.is_nowhere() { to } else { self.next.saturating_add(BLOCK).min(to) };
            let whole = self.coverage.clone();
            let (covered, stop) = take(Numbers { from: self.next, to: end, shard: settings.shard });
            self.coverage.merge(&covered);
            if let Some(stop) = stop {
                if stop.is_open() {
                    keep.save(budget, || Saved::Sampling(Self { coverage: whole, ..self.clone() }));
                }
                return Some(stop);
            }
            self.next = end;
            if keep.is_due(budget) {
                keep.save(budget, || Saved::Sampling(self.clone()));
            }
        }
        None
    }
}

/// Where a search is saved, and what it goes on from.
pub struct Keep<'k> {
    from: RefCell<Option<Saved>>,
    save: Option<&'k dyn Fn(&Saved)>,
    every: Duration,
    /// When the next time is.
    due: Cell<Duration>,
}

impl std::fmt::Debug for Keep<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keep").field("every", &self.every).field("due", &self.due).finish_non_exhaustive()
    }
}

/// Saving takes at most one part in so many of the time, unless it is to be saved whenever it can be.
const SHARE: u32 = 20;

impl<'k> Keep<'k> {
    /// Nothing is saved, and nothing gone on from.
    pub fn nowhere() -> Self {
        Self { from: RefCell::new(None), save: None, every: Duration::MAX, due: Cell::new(Duration::MAX) }
    }

    /// Saved by `save` about this often, and at its end. Goes on from what there is.
    pub fn by(save: &'k dyn Fn(&Saved), every: Duration, from: Option<Saved>) -> Self {
        Self { from: RefCell::new(from), save: Some(save), every, due: Cell::new(every) }
    }

    /// Whether nothing is saved.
    pub(super) fn is_nowhere(&self) -> bool {
        self.save.is_none()
    }

    /// What an exhaustive search goes on from. One that begins anew after that begins at the beginning.
    pub(super) fn position(&self) -> Option<Position> {
        match self.from.take()? {
            Saved::Exhaustive(position) => Some(position),
            Saved::Sampling(_) => crate::bug!("an exhaustive search cannot go on from samples"),
        }
    }

    /// What a sampling search goes on from, if that is what was saved.
    pub(super) fn sampled(&self, settings: &Settings) -> Option<Sampled> {
        match self.from.take()? {
            Saved::Sampling(mut sampled) => {
                sampled.coverage.max_delays = settings.max_delays;
                Some(sampled)
            }
            exhaustive @ Saved::Exhaustive(_) => {
                self.from.replace(Some(exhaustive));
                None
            }
        }
    }

    /// Whether it is time to save.
    #[inline]
    pub(super) fn is_due(&self, budget: &Budget<'_>) -> bool {
        self.save.is_some() && budget.elapsed() >= self.due.get()
    }

    /// Saves what is made to be saved, which takes its time, too.
    pub(super) fn save(&self, budget: &Budget<'_>, saved: impl FnOnce() -> Saved) {
        let Some(save) = self.save else { return };
        let began = budget.elapsed();
        save(&saved());
        let ended = budget.elapsed();
        let share = ended.saturating_sub(began).saturating_mul(SHARE);
        let pause = if self.every.is_zero() { self.every } else { self.every.max(share) };
        self.due.set(ended.saturating_add(pause));
    }
}

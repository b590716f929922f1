//! `Checker`: configures a check and runs it. The attribute macro expands to it.

use super::{
    Erased, Report,
    config::{Config, Expect},
    outcome::Outcome,
    registry::Registry,
};
use crate::{
    explorer::Explorer,
    live::{End, Waiting},
    search::{Cache, Delta, Execution, Fingerprints, Mode, Reduction, Shard},
    trace::Trace,
    world::{
        Granularity,
        fault::{Faults, Kind, Time},
    },
};
use std::{future::Future, marker::PhantomData, time::Duration};

/// Configures a check of a test body. A `const` can hold one and the attribute can name it (`config = SHARED`).
#[derive(Debug)]
pub struct Checker<R> {
    pub(super) config: Config,
    registry: PhantomData<fn() -> R>,
}

impl<R> Clone for Checker<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Checker<R> {}

impl<R> Default for Checker<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R> Checker<R> {
    /// The defaults: explorer `rtc`, mode `ses` without a delay bound, 10 seconds.
    #[must_use]
    pub const fn new() -> Self {
        Self { config: Config::DEFAULT, registry: PhantomData }
    }

    /// The explorer, by name.
    #[must_use]
    pub const fn explorer(mut self, name: &'static str) -> Self {
        self.config.explorer = name;
        self
    }

    /// Seed of samplers, of seeded explorers and of `delay::rng`.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.config.seed = seed;
        self
    }

    /// How the executions are visited.
    #[must_use]
    pub const fn mode(mut self, mode: Mode) -> Self {
        self.config.mode = mode;
        self
    }

    /// Most delays of an execution. Without it the bound rises until nothing is left or the budget ends.
    #[must_use]
    pub const fn max_delays(mut self, delays: u32) -> Self {
        self.config.max_delays = Some(delays);
        self
    }

    /// By how much the delay bound rises from one stratum to the next: by one unless told otherwise, and from 8 delays on by a quarter of the
    /// bound. More is faster where all is to be visited, and what is found may take more delays than it needs.
    ///
    /// # Panics
    /// If 0.
    #[must_use]
    pub const fn delta(mut self, delta: u32) -> Self {
        assert!(delta > 0, "delta must be at least 1");
        self.config.delta = Delta::By(delta);
        self
    }

    /// Most steps of an execution; a longer one is cut and counted as truncated.
    ///
    /// # Panics
    /// If 0.
    #[must_use]
    pub const fn max_steps(mut self, steps: u32) -> Self {
        assert!(steps > 0, "max_steps must be at least 1");
        self.config.max_steps = steps;
        self
    }

    /// Where scheduling points stand.
    #[must_use]
    pub const fn granularity(mut self, granularity: Granularity) -> Self {
        self.config.granularity = granularity;
        self
    }

    /// What ends an execution whose body has returned.
    #[must_use]
    pub const fn end(mut self, end: End) -> Self {
        self.config.end = end;
        self
    }

    /// What counts as visited.
    #[must_use]
    pub const fn cache(mut self, cache: Cache) -> Self {
        self.config.cache = cache;
        self
    }

    /// How many bits of a fingerprint are kept of what was visited.
    #[must_use]
    pub const fn fingerprints(mut self, fingerprints: Fingerprints) -> Self {
        self.config.fingerprints = fingerprints;
        self
    }

    /// Which executions an exhaustive search leaves out because others stand for them. See [`Reduction`].
    #[must_use]
    pub const fn reduction(mut self, reduction: Reduction) -> Self {
        self.config.reduction = reduction;
        self
    }

    /// How an exhaustive search knows what a task does next. See [`Execution`].
    #[must_use]
    pub const fn execution(mut self, execution: Execution) -> Self {
        self.config.execution = execution;
        self
    }

    /// Longest time to search.
    #[must_use]
    pub const fn budget(mut self, budget: Duration) -> Self {
        self.config.budget = budget;
        self
    }

    /// Most states to visit.
    #[must_use]
    pub const fn max_states(mut self, states: u64) -> Self {
        self.config.max_states = Some(states);
        self
    }

    /// Most bytes for what was visited, 4 GiB by default. The frontier and what was learnt of the program come on top. A search
    /// that has used them up stops and says so, or goes over to sampling.
    ///
    /// # Panics
    /// If 0.
    #[must_use]
    pub const fn max_cache(mut self, bytes: u64) -> Self {
        assert!(bytes > 0, "max_cache must be at least 1");
        self.config.max_cache = Some(bytes);
        self
    }

    /// Samples per stratum, or in all for mode `random`.
    #[must_use]
    pub const fn samples(mut self, samples: u64) -> Self {
        self.config.samples = Some(samples);
        self
    }

    /// Whether several threads come to what one does: what they find is searched for once more by one. The totals of a search that is
    /// exhausted, and samples, do not depend on the number of threads anyway.
    #[must_use]
    pub const fn deterministic(mut self, deterministic: bool) -> Self {
        self.config.deterministic = deterministic;
        self
    }

    /// Threads that search.
    ///
    /// # Panics
    /// If 0.
    #[must_use]
    pub const fn jobs(mut self, jobs: u32) -> Self {
        assert!(jobs > 0, "jobs must be at least 1");
        self.config.jobs = jobs;
        self
    }

    /// Only one of several parts of the search, by its number from 1: all together come to the whole. In mode `ses` by the frontier, in
    /// the others by the number of the sample.
    ///
    /// # Panics
    /// If there is no such part.
    #[must_use]
    pub const fn shard(mut self, number: u32, of: u32) -> Self {
        self.config.shard = Shard::new(number, of).expect("there is such a shard: 1 <= number <= of");
        self
    }

    /// Whether a bug is expected.
    #[must_use]
    pub const fn expect(mut self, expect: Expect) -> Self {
        self.config.expect = expect;
        self
    }

    /// What may go wrong, and how often.
    ///
    /// # Panics
    /// If nodes may restart and none may crash.
    #[must_use]
    pub const fn faults(mut self, faults: Faults) -> Self {
        assert!(
            faults.left(Kind::Restart) == 0 || faults.left(Kind::Crash) > 0,
            "faults: nothing can restart where nothing may crash; add crash(1)"
        );
        self.config.faults = faults;
        self
    }

    /// Which timers may fire when.
    #[must_use]
    pub const fn time(mut self, time: Time) -> Self {
        self.config.time = time;
        self
    }

    /// How far the clocks of two nodes may differ.
    #[must_use]
    pub const fn skew(mut self, skew: Duration) -> Self {
        self.config.skew = skew;
        self
    }

    /// Leaves a part of the state out of its fingerprint: for this repository's own tests.
    #[cfg(feature = "test-hooks")]
    #[must_use]
    pub const fn mask(mut self, part: crate::world::masked::Part) -> Self {
        self.config.masked = Some(part);
        self
    }

    /// Has messages carried as another checker's network does: for this repository's own tests.
    #[cfg(feature = "test-hooks")]
    #[must_use]
    pub const fn wire(mut self, wire: crate::world::as_set::Wire) -> Self {
        self.config.wire = Some(wire);
        self
    }

    /// For how many choices at most a monitor may be hot without a break. A heuristic for programs whose states do not
    /// repeat, in mode `random` only: a uniform choice is fair with probability 1. A program that needs more choices than
    /// that to do what it owes is reported all the same.
    #[must_use]
    pub const fn temperature(mut self, choices: u32) -> Self {
        self.config.temperature = Some(choices);
        self
    }

    /// Whether processes may be left waiting at the end.
    #[must_use]
    pub const fn waiting(mut self, waiting: Waiting) -> Self {
        self.config.waiting = waiting;
        self
    }
}

impl<R: Registry> Checker<R> {
    /// Checks a test body and says what was covered and found. Prints and saves nothing, and does not panic for what it
    /// finds.
    ///
    /// # Panics
    /// If a setting cannot be: an unknown explorer, say.
    pub fn check<F, Fut>(&self, body: F) -> Report
    where
        F: Fn() -> Fut + Send + Sync,
        Fut: Future,
        Fut::Output: Outcome,
    {
        let erased = Erased(&body);
        super::check::<R>(self, &erased)
    }

    /// As [`Checker::check`], with an explorer of your own. `make` gives it in its initial state, from the seed.
    pub fn check_with<E, F, Fut>(&self, make: impl Fn(u64) -> E + Sync, body: F) -> Report
    where
        E: Explorer,
        F: Fn() -> Fut + Send + Sync,
        Fut: Future,
        Fut::Output: Outcome,
    {
        let erased = Erased(&body);
        super::check_with(self, make, &erased)
    }

    /// Follows a trace of this body once more and returns it as it is now: the same, if nothing has changed.
    ///
    /// # Panics
    /// If the trace's explorer is none of the built-in ones.
    pub fn replay<F, Fut>(&self, trace: &Trace, body: F) -> Trace
    where
        F: Fn() -> Fut + Send + Sync,
        Fut: Future,
        Fut::Output: Outcome,
    {
        let erased = Erased(&body);
        super::replay::<R>(self, trace, &erased)
    }
}

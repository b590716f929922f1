//! When to stop: time, states, memory, Ctrl-C. The only clock of core is here.
//!
//! The loop calls [`Meter::tick`] once a step; the clock itself is looked at rarely, more often where steps are slow.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// The bounds of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// Longest time.
    pub time: Option<Duration>,
    /// Most states in the cache, or visited where there is none.
    pub states: Option<u64>,
    /// Most bytes of the cache.
    pub cache: Option<u64>,
}

impl Limits {
    /// Most bytes of the cache.
    pub fn cache_max(&self) -> u64 {
        self.cache.unwrap_or(crate::limits::CACHE_BYTES_DEFAULT)
    }
}

/// How far a search has come, for a person who waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Executions so far, re-executions included.
    pub executions: u64,
    /// Steps so far.
    pub steps: u64,
    /// States so far.
    pub states: u64,
    /// Frontier so far.
    pub frontier: u64,
    /// Present delay bound.
    pub delays: u32,
}

/// A started budget, shared by all workers of a search.
pub struct Budget<'a> {
    started: Instant,
    limits: Limits,
    interrupted: &'a AtomicBool,
    report: &'a (dyn Fn(Duration, &Progress) + Sync),
}

impl std::fmt::Debug for Budget<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Why a budget says stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spent {
    /// The time is up.
    Time,
    /// Ctrl-C, or another worker found something.
    Interrupted,
}

impl<'a> Budget<'a> {
    /// Starts now. `report` is called now and then with the time passed.
    #[expect(clippy::disallowed_methods, reason = "the one place that looks at the real clock")]
    pub fn start(
        limits: Limits,
        interrupted: &'a AtomicBool,
        report: &'a (dyn Fn(Duration, &Progress) + Sync),
    ) -> Self {
        Self { started: Instant::now(), limits, interrupted, report }
    }

    /// The same clock under other limits.
    #[must_use]
    pub fn with_limits(&self, limits: Limits) -> Self {
        Self { limits, ..*self }
    }

    /// Most states.
    pub fn states_max(&self) -> u64 {
        self.limits.states.unwrap_or(u64::MAX)
    }

    /// Most bytes of the cache.
    pub fn cache_max(&self) -> u64 {
        self.limits.cache_max()
    }

    /// The bounds.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// A meter for one worker.
    pub fn meter(&self) -> Meter<'_> {
        Meter { budget: self, left: 1, interval: 16, looked: Duration::ZERO, told: Duration::ZERO }
    }
}

/// One worker's view of the budget.
pub struct Meter<'a> {
    budget: &'a Budget<'a>,
    left: u32,
    interval: u32,
    looked: Duration,
    told: Duration,
}

impl std::fmt::Debug for Meter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meter").finish_non_exhaustive()
    }
}

/// How long the loop may go without looking at the clock, and how often progress is told.
const LOOK: Duration = Duration::from_millis(2);
const TELL: Duration = Duration::from_millis(100);

impl Meter<'_> {
    /// One more step. Says why to stop, if it is time to.
    #[inline]
    pub fn tick(&mut self, progress: impl FnOnce() -> Progress) -> Option<Spent> {
        self.left -= 1;
        if self.left > 0 { None } else { self.look(&progress()) }
    }

    #[cold]
    fn look(&mut self, progress: &Progress) -> Option<Spent> {
        let now = self.budget.elapsed();
        let passed = now.saturating_sub(self.looked);
        self.looked = now;
        self.interval =
            if passed > LOOK { (self.interval / 2).max(1) } else { (self.interval * 2).min(crate::limits::TICK_STEPS) };
        self.left = self.interval;
        if now.saturating_sub(self.told) >= TELL {
            self.told = now;
            (self.budget.report)(now, progress);
        }
        if self.budget.interrupted.load(Ordering::Relaxed) {
            return Some(Spent::Interrupted);
        }
        self.budget.limits.time.is_some_and(|limit| now >= limit).then_some(Spent::Time)
    }
}

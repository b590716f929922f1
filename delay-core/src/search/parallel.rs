//! Sampling over threads: sample numbers are handed out in order, and the first finding by number wins. A shard hands out its own.
//!
//! Invariant: which finding is reported depends on the numbers only, never on how many threads there are.

use super::{
    Finding, Program, Settings, Shard, Stop,
    budget::{Budget, Meter, Spent},
    cursor::Unsound,
    run::{self, Deviation, Positions},
};
use crate::{
    coverage::Coverage,
    live::{Live, Status, traced},
    name::Histories,
    verdict::Divergence,
};
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

/// Samples whose last execution is repeated: the first few, then one of so many.
const REPEATED_FIRST: u64 = 4;
const REPEATED_EVERY: u64 = 256;

/// One thread's part of a sampling search.
pub(super) struct Worker<'b, 'm> {
    pub(super) live: Live<'b>,
    pub(super) meter: Meter<'m>,
    pub(super) coverage: Coverage,
    /// Of the last run. Kept for the room it has.
    pub(super) positions: Positions,
}

impl Worker<'_, '_> {
    /// A sample is over and went well. Now and then its last execution is repeated, to see that the program is a function
    /// of its choices.
    pub(super) fn taken(&mut self, number: u64) -> Sample {
        // Pitfall B.9: sampling meets a prefix again without knowing what it did before.
        if number < REPEATED_FIRST || number.is_multiple_of(REPEATED_EVERY) {
            return run::again(&mut self.live).map_or_else(Sample::Uncontrolled, |()| Sample::Taken);
        }
        Sample::Taken
    }

    /// Counts an execution.
    pub(super) fn note(&mut self, status: Status, choices: u32) {
        let coverage = &mut self.coverage;
        match status {
            Status::Truncated => coverage.truncated += 1,
            _ => coverage.executions += 1,
        }
        let steps = self.live.world().steps();
        coverage.transitions += steps;
        coverage.longest = coverage.longest.max(steps);
        coverage.choices = coverage.choices.max(choices);
        coverage.met_choice |= choices > 0;
    }
}

/// How one sample went.
pub(super) enum Sample {
    /// It is counted.
    Taken,
    /// The last execution violated something.
    Found(Vec<Deviation>),
    /// A prefix did not do what it did before, at this step.
    Diverged(u32),
    /// An execution that was repeated did something else.
    Uncontrolled(Divergence),
    /// The budget ran out.
    Spent(Spent),
    /// The explorer is unsound.
    Unsound(Unsound),
}

/// What ended a worker, by sample number.
struct Ended {
    number: u64,
    stop: Stop,
}

/// Which samples are to be taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub(super) from: u64,
    /// The first that is not.
    pub(super) to: u64,
    /// Of these, those of this shard.
    pub(super) shard: Shard,
}

/// Takes the samples with these numbers. Says why to stop, if the search has to.
pub(super) fn sample(
    program: Program<'_>,
    settings: &Settings,
    budget: &Budget<'_>,
    numbers: Numbers,
    sampler: &(impl Fn(&mut Worker<'_, '_>, u64) -> Sample + Sync),
) -> (Coverage, Option<Stop>) {
    let shared = Shared {
        next: AtomicU64::new(numbers.shard.first_from(numbers.from)),
        stride: u64::from(numbers.shard.of()),
        first: AtomicU64::new(numbers.to),
        spent: AtomicBool::new(false),
        ended: Mutex::new(Vec::new()),
        coverage: Mutex::new(Coverage::new(settings)),
    };
    let jobs = u64::from(settings.jobs.max(1)).min(numbers.to - numbers.from);
    let work = || shared.work(program, settings, budget, sampler);
    threads(jobs.saturating_sub(1) as u32, work, work);
    let ended = shared.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Pitfall B.17: not whoever was first.
    let first = ended.into_iter().min_by_key(|ended| ended.number);
    let coverage = shared.coverage.into_inner().unwrap_or_else(PoisonError::into_inner);
    (coverage, first.map(|ended| ended.stop))
}

/// Works here, and on so many threads beside.
#[expect(clippy::disallowed_methods, reason = "the one place that starts workers; they are joined here")]
pub(super) fn threads(beside: u32, work: impl Fn() + Sync, work_here: impl FnOnce()) {
    std::thread::scope(|scope| {
        for _ in 0..beside {
            let listener = traced::listener();
            scope.spawn(|| traced::silenced(listener, &work));
        }
        work_here();
    });
}

struct Shared {
    next: AtomicU64,
    /// From one number to the next.
    stride: u64,
    /// The lowest sample number that ended the search; samples past it are not needed.
    first: AtomicU64,
    spent: AtomicBool,
    ended: Mutex<Vec<Ended>>,
    coverage: Mutex<Coverage>,
}

impl Shared {
    fn work(
        &self,
        program: Program<'_>,
        settings: &Settings,
        budget: &Budget<'_>,
        sampler: &impl Fn(&mut Worker<'_, '_>, u64) -> Sample,
    ) {
        let mut live = program.live();
        live.keep_histories(Histories::IfNeeded);
        let mut worker =
            Worker { live, meter: budget.meter(), coverage: Coverage::new(settings), positions: Positions::default() };
        loop {
            let number = self.next.fetch_add(self.stride, Ordering::Relaxed);
            if number >= self.first.load(Ordering::Relaxed) || self.spent.load(Ordering::Relaxed) {
                break;
            }
            let stop = match sampler(&mut worker, number) {
                Sample::Taken => continue,
                Sample::Found(deviations) => Stop::Found(Finding::of(&worker.live, deviations)),
                Sample::Diverged(step) => Stop::Nondeterministic(diverged(&worker.live, step)),
                Sample::Uncontrolled(divergence) => Stop::Nondeterministic(divergence),
                Sample::Unsound(Unsound(process)) => Stop::Unsound(worker.live.label(process)),
                Sample::Spent(spent) => {
                    self.spent.store(true, Ordering::Relaxed);
                    let stop = if spent == Spent::Time { Stop::Time } else { Stop::Interrupted };
                    // Findings come before running out, whatever their number.
                    self.end(u64::MAX, stop);
                    break;
                }
            };
            self.first.fetch_min(number, Ordering::Relaxed);
            self.end(number, stop);
        }
        worker.coverage.absorb(&worker.live.totals());
        self.coverage.lock().unwrap_or_else(PoisonError::into_inner).merge(&worker.coverage);
    }

    fn end(&self, number: u64, stop: Stop) {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(Ended { number, stop });
    }
}

fn diverged(live: &Live<'_>, step: u32) -> Divergence {
    let mut divergence = live.divergence_here("another choice, as before", "no further choice");
    divergence.step = step as usize + 1;
    divergence
}

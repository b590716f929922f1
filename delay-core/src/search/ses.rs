//! SES: stratified exhaustive search, Figure 5 of the paper.
//!
//! Stratum by stratum: the workers take up the entries of the frontier and search on from them within the delay bound
//! (`worker.rs`); what exceeds it is the next frontier. Between two strata all workers meet.
//!
//! Invariants:
//! - The frontier is a list: without a cache two entries may share a state, and both matter. One worker takes it up in order.
//! - A state is expanded by the worker that was the first to insert it. So at exhaustion the totals do not depend on how many
//!   workers there were, or who was faster; what was visited under each bound may.
//! - A stopped search leaves everything unvisited reachable from its frontiers.

use super::{
    Cache, Execution, Outcome, Program, Settings, Stop,
    budget::{Budget, Spent},
    cursor::Unsound,
    frontier::Frontier,
    parallel,
    visited::{Nothing, Pairs, States, Visited},
    worker::{Halt, Worker},
};
use crate::{coverage::Coverage, explorer::Explorer, live::Live};
use std::{
    any::Any,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Barrier, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

/// Runs SES.
pub(super) fn search<E: Explorer>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
) -> Outcome {
    let (outcome, _) = explore(program, explorer, settings, budget);
    outcome
}

/// Runs SES and hands out what is left in the frontiers.
pub(super) fn explore<E: Explorer>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
) -> (Outcome, Vec<Frontier>) {
    match settings.cache {
        Cache::State => sweep::<E, States>(program, explorer, settings, budget),
        Cache::StateExplorer => sweep::<E, Pairs>(program, explorer, settings, budget),
        Cache::Off => sweep::<E, Nothing>(program, explorer, settings, budget),
    }
}

fn sweep<E: Explorer, V: Visited>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
) -> (Outcome, Vec<Frontier>) {
    let mut live = program.live();
    let mut settings = *settings;
    loop {
        let search = Search::<V> {
            program,
            settings: &settings,
            budget,
            visited: V::nothing(settings.fingerprints, budget.cache_max()),
            round: Mutex::default(),
            then: Mutex::default(),
            coverage: Mutex::new(Coverage::new(&settings)),
            ended: Mutex::default(),
            frontiers: Mutex::default(),
            panicked: Mutex::default(),
        };
        let stop = search.run(&mut live, explorer);
        let is_found = matches!(stop, Ok(Stop::Found(_) | Stop::Nondeterministic(_)));
        match stop {
            // Learnt that states were told apart too little: all of it again. What one worker has learnt the others do not know.
            Err(Halt::Anew) => settings.jobs = 1,
            // Which one is found first depends on who was faster.
            _ if is_found && settings.deterministic && settings.jobs > 1 => settings.jobs = 1,
            Err(halt) => crate::bug!("a search ends with {halt:?}"),
            Ok(stop) => return search.outcome(stop),
        }
    }
}

/// What executions and transitions were counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) executions: u64,
    pub(super) transitions: u64,
}

/// How many entries a worker takes at a time.
const CHUNK: usize = 256;

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
    fn new(bound: u32, frontiers: Vec<Frontier>, before: &Self) -> Self {
        let cut = |(number, frontier): (usize, &Frontier)| {
            let length = frontier.entries.len();
            let starts = (0..length).step_by(CHUNK);
            starts.map(move |from| (number as u32, from..length.min(from + CHUNK))).collect::<Vec<_>>()
        };
        let chunks = frontiers.iter().enumerate().flat_map(cut).collect();
        let (executions, transitions) = (before.executions.load(Relaxed), before.transitions.load(Relaxed));
        let (executions, transitions) = (executions.into(), transitions.into());
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

    /// What is left of its frontiers.
    fn left(self) -> Vec<Frontier> {
        let Self { mut frontiers, chunks, next, left, .. } = self;
        let mut left = left.into_inner().unwrap_or_else(PoisonError::into_inner);
        left.extend(chunks.into_iter().skip(next.into_inner()));
        for (number, frontier) in frontiers.iter_mut().enumerate() {
            let of_it = left.iter().filter(|(of, _)| *of as usize == number);
            frontier.keep(&of_it.map(|(_, range)| range.clone()).collect::<Vec<_>>());
        }
        frontiers
    }
}

fn caught<R>(f: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(f))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A search and what its workers share.
struct Search<'a, 'b, V: Visited> {
    program: Program<'b>,
    settings: &'a Settings,
    budget: &'a Budget<'a>,
    visited: V::Set,
    round: Mutex<Arc<Round>>,
    then: Mutex<Then>,
    coverage: Mutex<Coverage>,
    /// Why workers cannot go on.
    ended: Mutex<Vec<(Halt, Option<Stop>)>>,
    /// What waits for the next bound, or for ever.
    frontiers: Mutex<Vec<Frontier>>,
    panicked: Mutex<Option<Box<dyn Any + Send>>>,
}

/// What comes after a round.
#[derive(Clone, Debug, Default)]
enum Then {
    #[default]
    Round,
    /// The last look at what was visited.
    Check(Stop),
    End(Stop),
    /// Some worker could not go on.
    Halt,
}

impl<'b, V: Visited> Search<'_, 'b, V> {
    fn run<E: Explorer>(&self, live: &mut Live<'b>, explorer: &E) -> Result<Stop, Halt> {
        self.learn(live);
        let mut worker = Worker::new(live, explorer, self.settings, self.budget);
        let first = worker.first(&mut V::of(&self.visited));
        let jobs = match &first {
            // A graph that is searched for loops, and pairs that can be met with fewer delays, are one worker's.
            Ok(first) if worker.lassos.is_some() || V::ORDERED || first.entries.is_empty() => 1,
            _ => self.settings.jobs.max(1),
        };
        match first {
            Ok(first) => *locked(&self.round) = Arc::new(Round::new(0, vec![first], &Round::default())),
            Err(halt) => self.end(halt, &mut worker),
        }
        if locked(&self.ended).is_empty() {
            let barrier = Barrier::new(jobs as usize);
            let other = || self.beside(explorer, &barrier);
            parallel::threads(jobs - 1, other, || self.rounds(Some(&mut worker), explorer, &barrier, true));
        }
        if let Some(panic) = locked(&self.panicked).take() {
            resume_unwind(panic);
        }
        let stop = self.stop();
        // One that its budget has stopped looks once more at what it knows.
        let stop = match stop {
            Ok(Stop::Time | Stop::Interrupted | Stop::States | Stop::Memory) => {
                match worker.look_for_lassos(explorer) {
                    Ok(()) => stop,
                    Err(_) => worker.take_found().map_or(stop, |finding| Ok(Stop::Found(finding))),
                }
            }
            stop => stop,
        };
        locked(&self.coverage).join(&worker.finish());
        stop
    }

    fn learn(&self, live: &mut Live<'_>) {
        // Where nothing is merged, every execution is to be executed. A test that masks a part wants to see what is missed.
        if V::MERGES && live.is_unmasked() && self.settings.execution == Execution::Learned {
            live.learn();
        }
    }

    /// A worker beside the first.
    fn beside<E: Explorer>(&self, explorer: &E, barrier: &Barrier) {
        let mut live = self.program.live();
        self.learn(&mut live);
        let begun = caught(|| Worker::new(&mut live, explorer, self.settings, self.budget));
        let mut worker = begun.map_err(|panic| self.panicked(panic)).ok();
        self.rounds(worker.as_mut(), explorer, barrier, false);
        if let Some(worker) = worker {
            locked(&self.coverage).join(&worker.finish());
        }
    }

    /// Takes part in all rounds. Nobody may leave before the others.
    fn rounds<E: Explorer>(
        &self,
        mut worker: Option<&mut Worker<'_, '_, E>>,
        explorer: &E,
        barrier: &Barrier,
        is_first: bool,
    ) {
        loop {
            self.try_part(worker.as_deref_mut(), |worker| self.stratum(worker));
            barrier.wait();
            if is_first {
                self.try_part(worker.as_deref_mut(), |worker| self.meet(worker, explorer));
            }
            barrier.wait();
            let then = locked(&self.then).clone();
            if let Then::Check(_) = then {
                self.try_part(worker.as_deref_mut(), |worker| worker.check_hits(&V::of(&self.visited)));
            }
            if !matches!(then, Then::Round) {
                return;
            }
        }
    }

    /// Does a worker's part. If that goes wrong, the others have to know.
    fn try_part<E: Explorer>(
        &self,
        worker: Option<&mut Worker<'_, '_, E>>,
        part: impl FnOnce(&mut Worker<'_, '_, E>) -> Result<(), Halt>,
    ) {
        let Some(worker) = worker else { return };
        match caught(|| part(worker)) {
            Ok(Ok(())) => {}
            Ok(Err(halt)) => self.end(halt, worker),
            Err(panic) => self.panicked(panic),
        }
    }

    fn panicked(&self, panic: Box<dyn Any + Send>) {
        *locked(&self.panicked) = Some(panic);
        *locked(&self.then) = Then::Halt;
        locked(&self.round).halted.store(true, Relaxed);
    }

    fn stratum<E: Explorer>(&self, worker: &mut Worker<'_, '_, E>) -> Result<(), Halt> {
        let round = Arc::clone(&locked(&self.round));
        let searched = worker.stratum(&round, &mut V::of(&self.visited));
        locked(&self.frontiers).push(worker.take_frontier());
        searched
    }

    /// A worker cannot go on.
    fn end<E: Explorer>(&self, halt: Halt, worker: &mut Worker<'_, '_, E>) {
        let stop = match &halt {
            Halt::Spent(Spent::Time) => Some(Stop::Time),
            Halt::Spent(Spent::Interrupted) => Some(Stop::Interrupted),
            Halt::States => Some(Stop::States),
            Halt::Memory => Some(Stop::Memory),
            Halt::Found => worker.take_found().map(Stop::Found),
            Halt::Diverged(divergence) => Some(Stop::Nondeterministic(divergence.clone())),
            Halt::Unsound(Unsound(process)) => Some(Stop::Unsound(worker.live().label(*process))),
            Halt::Anew => None,
            Halt::Other => return,
        };
        locked(&self.ended).push((halt, stop));
        locked(&self.round).halted.store(true, Relaxed);
    }

    /// A round is over: what comes next. Nobody else is at work.
    fn meet<E: Explorer>(&self, worker: &mut Worker<'_, '_, E>, explorer: &E) -> Result<(), Halt> {
        let round = std::mem::take(&mut *locked(&self.round));
        let Ok(round) = Arc::try_unwrap(round) else { crate::bug!("a round that is over is somebody's") };
        let mut frontiers = std::mem::take(&mut *locked(&self.frontiers));
        let bound = round.bound;
        let mut coverage = locked(&self.coverage);
        coverage.bound = bound;
        if !locked(&self.ended).is_empty() || locked(&self.panicked).is_some() {
            *locked(&self.then) = Then::Halt;
            frontiers.extend(round.left());
            *locked(&self.frontiers) = frontiers;
            return Ok(());
        }
        coverage.completed_bound = Some(bound);
        coverage.states_per_bound.push(V::of(&self.visited).count());
        frontiers.retain(|frontier| !frontier.entries.is_empty());
        let next = bound.saturating_add(self.settings.delta);
        let is_past = self.settings.max_delays.is_some_and(|max| next > max);
        let then = match (frontiers.is_empty(), is_past) {
            (true, _) => Then::Check(Stop::Exhausted),
            (false, true) if V::ORDERED => Then::Check(Stop::Delays),
            (false, true) => Then::End(Stop::Delays),
            (false, false) => Then::Round,
        };
        *locked(&self.then) = if locked(&self.ended).is_empty() { then.clone() } else { Then::Halt };
        if let Then::Round = then {
            let begins = Round::new(next, frontiers, &round);
            *locked(&self.round) = Arc::new(begins);
        } else {
            *locked(&self.frontiers) = frontiers;
        }
        let found = worker.look_for_lassos(explorer);
        if found.is_err() {
            *locked(&self.then) = Then::Halt;
            let round = std::mem::take(&mut *locked(&self.round));
            locked(&self.frontiers).extend(Arc::try_unwrap(round).map(Round::left).unwrap_or_default());
        }
        found
    }

    /// Why it stops. Of several reasons the one that says most.
    fn stop(&self) -> Result<Stop, Halt> {
        let ended = std::mem::take(&mut *locked(&self.ended));
        let rank = |halt: &Halt| match halt {
            Halt::Found => 0,
            Halt::Anew => 1,
            Halt::Unsound(_) => 2,
            Halt::Diverged(_) => 3,
            Halt::Spent(_) => 4,
            Halt::Memory => 5,
            Halt::States => 6,
            Halt::Other => 7,
        };
        let least = |stop: &Option<Stop>| match stop {
            Some(Stop::Found(finding)) => (finding.delays(), finding.steps),
            _ => (0, 0),
        };
        match ended.into_iter().min_by_key(|(halt, stop)| (rank(halt), least(stop))) {
            Some((halt, None)) => Err(halt),
            Some((_, Some(stop))) => Ok(stop),
            None => match std::mem::take(&mut *locked(&self.then)) {
                Then::Check(stop) | Then::End(stop) => Ok(stop),
                then => crate::bug!("a search ends with {then:?}"),
            },
        }
    }

    fn outcome(self, stop: Stop) -> (Outcome, Vec<Frontier>) {
        let frontiers = self.frontiers.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut coverage = self.coverage.into_inner().unwrap_or_else(PoisonError::into_inner);
        coverage.states = V::of(&self.visited).count();
        coverage.frontier = frontiers.iter().map(|frontier| frontier.entries.len() as u64).sum();
        (Outcome { coverage, stop }, frontiers)
    }
}

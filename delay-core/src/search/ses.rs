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
//! - A search that is saved on its way ends a round early, and another of the same bound goes on with what is left of it. With one worker
//!   that is the same search: in the same order.

use super::{
    Cache, Execution, Mode, Outcome, Program, Settings, Stop,
    budget::{Budget, Spent},
    cursor::Unsound,
    divide::divide,
    frontier::Frontier,
    parallel,
    round::{Round, Sums, locked},
    saved::Keep,
    visited::{Nothing, Pairs, States, Visited},
    worker::{Halt, Worker},
};
use crate::{
    coverage::Coverage,
    explorer::Explorer,
    live::{Live, Options},
    name::{Copies, Order},
};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Arc, Barrier, Mutex, PoisonError},
};

/// Runs SES.
pub(super) fn search<E: Explorer>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
    keep: &Keep<'_>,
) -> Outcome {
    let (outcome, _) = explore(program, explorer, settings, budget, keep);
    outcome
}

/// Runs SES and hands out what is left in the frontiers.
pub(super) fn explore<E: Explorer>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
    keep: &Keep<'_>,
) -> (Outcome, Vec<Frontier>) {
    match settings.cache {
        Cache::State => sweep::<E, States>(program, explorer, settings, budget, keep),
        Cache::StateExplorer => sweep::<E, Pairs>(program, explorer, settings, budget, keep),
        Cache::Off => sweep::<E, Nothing>(program, explorer, settings, budget, keep),
    }
}

fn sweep<E: Explorer, V: Visited>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
    keep: &Keep<'_>,
) -> (Outcome, Vec<Frontier>) {
    let mut live = program.live();
    let mut settings = *settings;
    // What several threads have found, while one looks for what it finds first.
    let mut found: Option<(Outcome, Vec<Frontier>)> = None;
    let nowhere = Keep::nowhere();
    let mut apart = no_exchange(&program.options, &settings, keep);
    loop {
        // What was found is not saved, nor what was visited since then.
        let keep = if found.is_some() { &nowhere } else { keep };
        let mut search = Search::<V>::new(program, &settings, budget);
        search.apart = apart;
        let stop = match keep.position().map_or(Ok(()), |saved| search.take_up(saved)) {
            Ok(()) => search.run(&mut live, explorer, keep),
            // What was saved stays as it is.
            Err(coverage) => return (Outcome { coverage: *coverage, stop: Stop::Memory }, Vec::new()),
        };
        let is_found = matches!(stop, Ok(Stop::Found(_) | Stop::Nondeterministic(_)));
        let seen_apart = locked(&search.seen_apart).take();
        match stop {
            // That can be said to all workers.
            Err(Halt::Anew) if apart.is_none() && seen_apart.is_some() => apart = seen_apart,
            // Learnt that states were told apart too little: all of it again. What one worker has learnt the others do not know.
            Err(Halt::Anew) => settings.jobs = 1,
            // Which one is found first depends on who was faster.
            Ok(stop) if is_found && settings.deterministic && settings.jobs > 1 => {
                found = Some(search.outcome(stop));
                settings.jobs = 1;
            }
            Err(halt) => crate::bug!("a search ends with {halt:?}"),
            Ok(stop) => {
                // Its time may be up before it comes to anything: what was found was found.
                if let Some(found) = found.filter(|_| !is_found) {
                    return found;
                }
                if stop.is_open() {
                    let coverage = locked(&search.coverage).clone();
                    search.save(Some(keep), coverage, live.world().names.order());
                }
                return search.outcome(stop);
            }
        }
    }
}

/// Why copies of a task are told apart, whatever they do.
fn no_exchange(options: &Options, settings: &Settings, keep: &Keep<'_>) -> Option<&'static str> {
    #[cfg(feature = "test-hooks")]
    if options.masked.is_some() || options.wire.is_some() {
        return Some("a test looks at other states");
    }
    if settings.cache != Cache::State {
        Some("what counts as visited is not the state alone (cache)")
    } else if settings.mode != Mode::Ses {
        Some("the search samples, too (mode)")
    } else if !settings.shard.is_whole() {
        Some("the search is divided into shards, which would not notice the same")
    } else if !keep.is_nowhere() {
        Some("the search is saved, without what was noticed of them (checkpoint)")
    } else if options.temperature.is_some() {
        Some("how a state was reached counts (temperature)")
    } else {
        None
    }
}

fn caught<R>(f: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(f))
}

/// A search and what its workers share.
pub(super) struct Search<'a, 'b, V: Visited> {
    program: Program<'b>,
    pub(super) settings: &'a Settings,
    pub(super) budget: &'a Budget<'a>,
    pub(super) visited: V::Set,
    /// The ids that a search has given to names from which this one goes on.
    pub(super) names: Option<Order>,
    /// Why copies of a task are told apart, if they are.
    apart: Option<&'static str>,
    /// Some worker has seen what tells them apart.
    seen_apart: Mutex<Option<&'static str>>,
    pub(super) round: Mutex<Arc<Round>>,
    then: Mutex<Then>,
    /// What was covered by workers that have ended, and before.
    pub(super) coverage: Mutex<Coverage>,
    /// What the workers beside the first have covered, once a round is over.
    others: Mutex<Vec<Coverage>>,
    /// Why workers cannot go on.
    ended: Mutex<Vec<(Halt, Option<Stop>)>>,
    /// What is left of the present bound, once it was stopped.
    pub(super) unfinished: Mutex<Vec<Frontier>>,
    /// What waits for the next bound, or for ever.
    pub(super) frontiers: Mutex<Vec<Frontier>>,
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

impl<'a, 'b, V: Visited> Search<'a, 'b, V> {
    fn new(program: Program<'b>, settings: &'a Settings, budget: &'a Budget<'a>) -> Self {
        Self {
            program,
            settings,
            budget,
            visited: V::nothing(settings.fingerprints, budget.cache_max()),
            names: None,
            apart: None,
            seen_apart: Mutex::default(),
            round: Mutex::default(),
            then: Mutex::default(),
            coverage: Mutex::new(Coverage::new(settings)),
            others: Mutex::default(),
            ended: Mutex::default(),
            unfinished: Mutex::default(),
            frontiers: Mutex::default(),
            panicked: Mutex::default(),
        }
    }

    fn run<E: Explorer>(&self, live: &mut Live<'b>, explorer: &E, keep: &Keep<'_>) -> Result<Stop, Halt> {
        self.prepare(live);
        let mut worker = Worker::new(live, explorer, self.settings, self.budget);
        worker.keep = Some(keep);
        let jobs = self.begin(&mut worker);
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
        locked(&self.coverage).join(&worker.covered());
        stop
    }

    fn prepare(&self, live: &mut Live<'_>) {
        if let Some(names) = &self.names {
            live.follow_names(names);
        }
        live.exchange_copies(self.apart);
        // Where nothing is merged, every execution is to be executed. A test that masks a part wants to see what is missed.
        if V::MERGES && live.is_unmasked() && self.settings.execution == Execution::Learned {
            live.learn();
        }
    }

    /// Comes to where the search begins, and says how many workers take part.
    fn begin<E: Explorer>(&self, worker: &mut Worker<'_, '_, E>) -> u32 {
        let is_resumed = self.names.is_some();
        if !is_resumed {
            match worker.first(&mut V::of(&self.visited)) {
                Ok(first) => *locked(&self.round) = Arc::new(Round::new(0, vec![first], Sums::default())),
                Err(halt) => self.end(halt, worker),
            }
        }
        // A graph that is searched for loops, and pairs that can be met with fewer delays, are one worker's. What all shards do before
        // they divide the frontier has to be the same, in the same order.
        // Two tables cannot grow while others use one of them: `Visited::ORDERED` has two.
        let is_one = worker.lassos.is_some() || V::ORDERED || !self.settings.shard.is_whole();
        let has_nothing = !is_resumed && locked(&self.round).is_empty();
        if is_one || has_nothing { 1 } else { self.settings.jobs.max(1) }
    }

    /// A worker beside the first.
    fn beside<E: Explorer>(&self, explorer: &E, barrier: &Barrier) {
        let mut live = self.program.live();
        self.prepare(&mut live);
        let begun = caught(|| Worker::new(&mut live, explorer, self.settings, self.budget));
        let mut worker = begun.map_err(|panic| self.panicked(panic)).ok();
        self.rounds(worker.as_mut(), explorer, barrier, false);
        if let Some(mut worker) = worker {
            locked(&self.coverage).join(&worker.covered());
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
            self.try_part(worker.as_deref_mut(), |worker| self.stratum(worker, is_first));
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
        locked(&self.round).halt();
    }

    fn stratum<E: Explorer>(&self, worker: &mut Worker<'_, '_, E>, is_first: bool) -> Result<(), Halt> {
        let round = Arc::clone(&locked(&self.round));
        let searched = worker.stratum(&round, &mut V::of(&self.visited));
        let [unfinished, next] = worker.take_frontiers();
        for (frontier, of) in [(unfinished, &self.unfinished), (next, &self.frontiers)] {
            if !frontier.entries.is_empty() {
                locked(of).push(frontier);
            }
        }
        if !is_first {
            locked(&self.others).push(worker.covered());
        }
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
            Halt::Anew => {
                if let Copies::Apart(_, why) = worker.live().world().names.copies() {
                    locked(&self.seen_apart).get_or_insert(why);
                }
                None
            }
            Halt::Save => None,
            Halt::Other => return,
        };
        locked(&self.ended).push((halt, stop));
        locked(&self.round).halt();
    }

    /// A round is over: what comes next. Nobody else is at work.
    fn meet<E: Explorer>(&self, worker: &mut Worker<'_, '_, E>, explorer: &E) -> Result<(), Halt> {
        let round = std::mem::take(&mut *locked(&self.round));
        let Ok(round) = Arc::try_unwrap(round) else { crate::bug!("a round that is over is somebody's") };
        let mut so_far = self.so_far(worker);
        so_far.bound = round.bound;
        locked(&self.coverage).bound = round.bound;
        if !locked(&self.ended).is_empty() || locked(&self.panicked).is_some() {
            self.stopped(worker, round, so_far);
            return Ok(());
        }
        self.completed(round.bound, &mut so_far);
        *locked(&self.then) = Then::Halt;
        worker.look_for_lassos(explorer)?;
        *locked(&self.then) = self.next(&round, &so_far);
        Ok(())
    }

    /// A round was ended early: the search is saved and goes on, or some worker cannot.
    fn stopped<E: Explorer>(&self, worker: &Worker<'_, '_, E>, round: Round, so_far: Coverage) {
        let (bound, sums) = (round.bound, round.sums());
        locked(&self.unfinished).extend(round.left());
        let is_paused = self.is_paused();
        *locked(&self.then) = if is_paused { Then::Round } else { Then::Halt };
        if is_paused {
            self.save(worker.keep, so_far, worker.names());
            let left = std::mem::take(&mut *locked(&self.unfinished));
            *locked(&self.round) = Arc::new(Round::new(bound, left, sums));
        }
    }

    /// All that was to be visited under the bound was.
    fn completed(&self, bound: u32, so_far: &mut Coverage) {
        debug_assert!(locked(&self.unfinished).is_empty(), "nobody was halted");
        let mut frontiers = locked(&self.frontiers);
        // Else one goes on that had come to its end.
        if so_far.completed_bound != Some(bound) {
            so_far.states = V::of(&self.visited).count();
            let mut coverage = locked(&self.coverage);
            coverage.completed_bound = Some(bound);
            coverage.states_per_bound.push(so_far.states);
            if so_far.shared.is_none() {
                so_far.shared = divide(self.settings.shard, bound, so_far, &mut frontiers);
                coverage.shared = so_far.shared;
            }
        }
        frontiers.retain(|frontier| !frontier.entries.is_empty());
    }

    /// What comes after a bound that is completed.
    fn next(&self, round: &Round, so_far: &Coverage) -> Then {
        let mut frontiers = locked(&self.frontiers);
        // What was cut short can be claimed to be known, unless some worker has left out what follows, or another shard has it.
        let claims = so_far.shared.is_none() && so_far.truncated == 0 && so_far.totals.foreign_wakes == 0;
        if frontiers.is_empty() {
            return if claims { Then::Check(Stop::Exhausted) } else { Then::End(Stop::Exhausted) };
        }
        let Some(next) = self.settings.delta.next(round.bound, self.settings.max_delays) else {
            return if claims && V::ORDERED { Then::Check(Stop::Delays) } else { Then::End(Stop::Delays) };
        };
        *locked(&self.round) = Arc::new(Round::new(next, std::mem::take(&mut *frontiers), round.sums()));
        Then::Round
    }

    /// What all have covered so far. Nobody else is at work.
    fn so_far<E: Explorer>(&self, worker: &mut Worker<'_, '_, E>) -> Coverage {
        let mut coverage = locked(&self.coverage).clone();
        for other in std::mem::take(&mut *locked(&self.others)) {
            coverage.join(&other);
        }
        coverage.join(&worker.covered());
        coverage
    }

    /// Whether the round ended for nothing but to be saved.
    fn is_paused(&self) -> bool {
        let mut ended = locked(&self.ended);
        let is_paused = locked(&self.panicked).is_none() && ended.iter().all(|(halt, _)| *halt == Halt::Save);
        if is_paused {
            ended.clear();
        }
        is_paused
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
            Halt::Save | Halt::Other => 7,
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
        let mut frontiers = self.unfinished.into_inner().unwrap_or_else(PoisonError::into_inner);
        frontiers.extend(self.frontiers.into_inner().unwrap_or_else(PoisonError::into_inner));
        let mut coverage = self.coverage.into_inner().unwrap_or_else(PoisonError::into_inner);
        coverage.states = V::of(&self.visited).count();
        coverage.frontier = frontiers.iter().map(|frontier| frontier.entries.len() as u64).sum();
        (Outcome { coverage, stop }, frontiers)
    }
}

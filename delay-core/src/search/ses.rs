//! SES: stratified exhaustive search, Figure 5 of the paper.
//!
//! Depth-first from the initial state; stratum by stratum, what would exceed the delay bound waits in the frontier. The
//! stack is explicit; a state is reached again by re-executing its path.
//!
//! Invariants:
//! - With delta = 1 every state found under bound b was found with exactly b delays (asserted).
//! - The frontier is a list: without a cache two entries may share a state, and both matter.
//! - A stopped search leaves everything unvisited reachable from its frontier: the stack and the rest of the stratum
//!   are flushed into it.
//!
//! Differs from Figure 5: a violation is looked at before the cache is, and an explicit choice's outcomes
//! are alternatives like any other.

use super::{
    Cache, Execution, Outcome, Program, Settings, Stop,
    audit::Audit,
    budget::{Budget, Meter, Progress, Spent},
    cursor::Unsound,
    frontier::{Entry, Frame, Frontier},
    lasso::Lassos,
    paths::Paths,
    trail::Trail,
    visited::{Nothing, Pairs, States, Visited},
};
use crate::{
    coverage::Coverage,
    explorer::Explorer,
    hash::Print,
    live::{Live, Status},
    search::Finding,
    verdict::Divergence,
};

/// Below so many states it is not worth clearing up paths.
const PATHS_MIN: usize = 1 << 20;

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

/// Runs SES and hands out what is left in the frontier.
pub(super) fn explore<E: Explorer>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
) -> (Outcome, Frontier) {
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
) -> (Outcome, Frontier) {
    let mut live = program.live();
    loop {
        // Where nothing is merged, every execution is to be executed. A test that masks a part wants to see what is missed.
        if V::MERGES && live.is_unmasked() && settings.execution == Execution::Learned {
            live.learn();
        }
        let mut ses = Ses::<E, V>::new(&mut live, explorer, settings, budget);
        let stop = ses.strata(explorer);
        if stop == Err(Halt::Anew) {
            // Learnt that states were told apart too little. All of it again.
            continue;
        }
        let stop = match ses.at_last(stop, explorer) {
            Ok(stop) => stop,
            Err(halt) => ses.stopped(halt),
        };
        let (coverage, frontier) = ses.finish();
        return (Outcome { coverage, stop }, frontier);
    }
}

/// Why the search cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Halt {
    Spent(Spent),
    States,
    Memory,
    Found,
    Diverged(Divergence),
    Unsound(Unsound),
    Anew,
}

struct Ses<'s, 'b, E, V> {
    trail: Trail<'s, 'b, E>,
    settings: &'s Settings,
    meter: Meter<'s>,
    states_max: u64,
    visited: V,
    /// States on the way down, each below the one before. The trail ends at the last.
    stack: Vec<Frame>,
    /// How much was known of what tells states apart when the search began.
    revision: u32,
    bound: u32,
    frontier: Vec<Entry>,
    paths: Paths,
    /// How many states `paths` held after it was last cleared up.
    paths_kept: usize,
    audit: Audit<E>,
    /// Where a monitor can be hot, what to look for loops in.
    lassos: Option<Lassos>,
    coverage: Coverage,
    found: Option<Finding>,
}

impl<'s, 'b, E: Explorer, V: Visited> Ses<'s, 'b, E, V> {
    fn new(live: &'s mut Live<'b>, explorer: &E, settings: &'s Settings, budget: &'s Budget<'_>) -> Self {
        let trail = Trail::begin(live, explorer);
        Self {
            revision: trail.walk.live().world().revision(),
            trail,
            settings,
            meter: budget.meter(),
            states_max: budget.states_max(),
            visited: V::new(settings.fingerprints, budget.cache_max()),
            stack: Vec::new(),
            bound: 0,
            frontier: Vec::new(),
            paths: Paths::default(),
            paths_kept: 0,
            audit: Audit::default(),
            lassos: None,
            coverage: Coverage::new(settings),
            found: None,
        }
    }

    /// The outer loop of Figure 5.
    fn strata(&mut self, explorer: &E) -> Result<Stop, Halt> {
        let state = self.trail.walk.fingerprint();
        self.lassos = Lassos::begin(state, self.trail.walk.live().world());
        self.is_new(state, 0);
        match self.trail.walk.live().status() {
            Status::Running => self.arrive(state, 0),
            Status::Violated => return Err(self.violated()),
            status => {
                self.ended(status);
            }
        }
        if let Err(halt) = self.search() {
            self.flush();
            return Err(halt);
        }
        self.end_stratum(explorer)?;
        while !self.frontier.is_empty() {
            let next = self.bound.saturating_add(self.settings.delta);
            if self.settings.max_delays.is_some_and(|max| next > max) {
                if V::ORDERED {
                    self.check_hits()?;
                }
                return Ok(Stop::Delays);
            }
            self.bound = next;
            let mut waiting = std::mem::take(&mut self.frontier).into_iter();
            while let Some(entry) = waiting.next() {
                if let Err(halt) = self.resume(entry).and_then(|()| self.search()) {
                    self.flush();
                    self.frontier.extend(waiting);
                    return Err(halt);
                }
            }
            self.end_stratum(explorer)?;
        }
        self.check_hits()?;
        Ok(Stop::Exhausted)
    }

    /// Walks on from states that counted as visited, to see that they were. Under a delay bound this can only be said
    /// where explorer states are told apart: else what follows may need more delays than are left.
    fn check_hits(&mut self) -> Result<(), Halt> {
        // Where something was cut or not controlled, nothing is claimed.
        let walk = &mut self.trail.walk;
        let is_controlled = walk.aside(|live| live.is_unmasked() && live.totals().foreign_wakes == 0);
        if !is_controlled || self.coverage.truncated > 0 {
            return Ok(());
        }
        for hit in std::mem::take(&mut self.audit).hits {
            let visited = &self.visited;
            let found = self.trail.walk.aside(|live| {
                let status = hit.walk_on(live, visited)?;
                Ok((status == Status::Violated).then(|| Finding::of(live, hit.spent.into_vec())))
            });
            self.found = found?;
            if self.found.is_some() {
                return Err(Halt::Found);
            }
            self.tick().map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    fn end_stratum(&mut self, explorer: &E) -> Result<(), Halt> {
        self.coverage.completed_bound = Some(self.bound);
        self.coverage.states_per_bound.push(self.visited.count());
        if self.paths.len() > self.paths_kept.saturating_mul(2).max(PATHS_MIN) {
            self.trail.back_to(0);
            self.paths.retain(self.frontier.iter_mut().map(|entry| &mut entry.node));
            self.paths_kept = self.paths.len();
        }
        self.look_for_lassos(explorer)
    }

    /// Looks for a loop in which a monitor stays hot in what is known so far.
    fn look_for_lassos(&mut self, explorer: &E) -> Result<(), Halt> {
        let Some(lassos) = &mut self.lassos else { return Ok(()) };
        self.found = self.trail.walk.aside(|live| lassos.find(live, explorer));
        if self.found.is_some() { Err(Halt::Found) } else { Ok(()) }
    }

    /// A search that its budget has stopped looks once more at what it knows.
    fn at_last(&mut self, stop: Result<Stop, Halt>, explorer: &E) -> Result<Stop, Halt> {
        if let Err(Halt::Spent(_) | Halt::States | Halt::Memory) = stop {
            self.look_for_lassos(explorer)?;
        }
        stop
    }

    /// Takes up an entry of the frontier.
    fn resume(&mut self, entry: Entry) -> Result<(), Halt> {
        let Entry { node, executed, delays, .. } = entry;
        self.trail.go_to(&self.paths, node)?;
        self.trail.walk.stand().map_err(|divergence| self.trail.diverged(divergence))?;
        let state = self.trail.walk.fingerprint();
        if !entry.may_be(state) {
            return Err(self.trail.diverged_here("the state it came to before", "another state"));
        }
        let choices = self.trail.walk.choice_count();
        self.stack.push(Frame { state, node, executed, choices, delays });
        Ok(())
    }

    /// DelayBoundedDFS, its recursion on an explicit stack.
    fn search(&mut self) -> Result<(), Halt> {
        while let Some(frame) = self.stack.last_mut() {
            if frame.executed == frame.choices {
                self.pop();
                continue;
            }
            let resumes = frame.executed > 0;
            if resumes && frame.delays == self.bound {
                self.postpone();
                continue;
            }
            if self.visited.count() >= self.states_max {
                return Err(Halt::States);
            }
            if !self.visited.has_room() {
                return Err(Halt::Memory);
            }
            let state = frame.state;
            let (spent, delays) = (frame.executed, frame.delays + u32::from(resumes));
            (frame.executed, frame.delays) = (spent + 1, delays);
            self.stand_at(state)?;
            self.execute(spent, delays)?;
        }
        Ok(())
    }

    /// Brings the live execution to the top of the stack, if that is what makes the next step.
    #[inline]
    fn stand_at(&mut self, state: Print) -> Result<(), Halt> {
        let came = self.trail.walk.stand().map_err(|divergence| self.trail.diverged(divergence))?;
        if came && self.trail.walk.fingerprint() != state {
            return Err(self.trail.diverged_here("the state it came to before", "another state"));
        }
        Ok(())
    }

    /// Executes one transition of the top state and arrives at its successor.
    fn execute(&mut self, spent: u32, delays: u32) -> Result<(), Halt> {
        let choice = self.trail.turn(spent)?;
        let moved = self.lassos.as_ref().and_then(|_| self.trail.walk.world().moved_by(choice));
        let status = self.trail.step(choice, spent)?;
        self.coverage.transitions += 1;
        if self.trail.walk.live().world().revision() != self.revision {
            return Err(Halt::Anew);
        }
        self.look_at_footprint(status)?;
        // Pitfall B.22: before the cache, which may know the state from an execution that did nothing wrong.
        if status == Status::Violated && self.trail.walk.live().shows_violations() {
            return Err(self.violated());
        }
        self.trail.tell();
        let state = self.trail.walk.fingerprint();
        if let (Some(lassos), Some(frame)) = (&mut self.lassos, self.stack.last()) {
            lassos.step(frame.state, choice, moved, state, self.trail.walk.world());
        }
        let is_new = self.is_new(state, delays);
        if is_new && self.audit.is_due(self.visited.count()) && !self.verify()? {
            return Err(self.trail.diverged_here("what it did before", "something else"));
        }
        let ended = self.ended(status);
        if is_new && !ended {
            let node = self.paths.add(self.trail.node(), choice, spent);
            self.trail.come_to(node);
            self.arrive(state, delays);
        } else {
            if !is_new && !ended {
                let trail = &self.trail;
                self.audit.hit(|| trail.hit());
            }
            self.trail.back_to(self.trail.length() - 1);
        }
        self.tick().map_or(Ok(()), Err)
    }

    /// Executes the path live, if the steps on it were learnt.
    fn verify(&mut self) -> Result<bool, Halt> {
        self.trail.walk.verify().map_err(|divergence| self.trail.diverged(divergence))
    }

    /// What a process looks like after a step is a function of what it has seen. What was learnt was compared already.
    #[inline]
    fn look_at_footprint(&mut self, status: Status) -> Result<(), Halt> {
        let Some(footprint) = self.trail.walk.footprint() else { return Ok(()) };
        let is_compared = V::MERGES && self.trail.walk.live().is_unmasked() && status != Status::Violated;
        if is_compared && !self.audit.agrees(footprint) {
            let expected = "that it waits for what it waited for before, having seen the same";
            return Err(Halt::Diverged(self.trail.walk.live().divergence_here(expected, "something else")));
        }
        Ok(())
    }

    /// Whether the state where the trail ends must be expanded. The explorer was told how it was reached.
    #[inline]
    fn is_new(&mut self, state: Print, delays: u32) -> bool {
        let walk = &self.trail.walk;
        #[cfg(feature = "test-hooks")]
        let delays = if walk.live().world().masks(crate::world::masked::Part::Delays) { 0 } else { delays };
        let explorer = self.trail.told();
        if V::ORDERED {
            // Pitfall B.1: how many delays a choice costs is decided by the explorer and, within a receive, by arrival.
            return self.visited.insert(state, &(explorer, walk.arrivals()), delays);
        }
        self.visited.insert(state, explorer, delays)
    }

    /// Counts an execution that has come to its end.
    fn ended(&mut self, status: Status) -> bool {
        match status {
            Status::Running => return false,
            Status::Truncated => self.coverage.truncated += 1,
            Status::Finished | Status::Violated | Status::Diverged => self.coverage.executions += 1,
        }
        self.coverage.longest = self.coverage.longest.max(self.trail.walk.ops());
        true
    }

    fn tick(&mut self) -> Option<Halt> {
        let states = self.visited.count();
        let (transitions, frontier, delays) = (self.coverage.transitions, self.frontier.len() as u64, self.bound);
        let executions = self.coverage.executions;
        let progress = || Progress { executions, steps: transitions, states, frontier, delays };
        self.meter.tick(progress).map(Halt::Spent)
    }

    /// A state was reached for the first time: the trail ends there.
    fn arrive(&mut self, state: Print, delays: u32) {
        debug_assert!(
            self.settings.delta > 1 || delays == self.bound,
            "delta 1: found with exactly the bound's delays"
        );
        let choices = self.trail.walk.choice_count();
        self.coverage.met_choice |= choices > 1;
        self.stack.push(Frame { state, node: self.trail.node(), executed: 0, choices, delays });
    }

    fn violated(&mut self) -> Halt {
        let spent = self.trail.spent().to_vec();
        match self.trail.walk.here() {
            Ok(live) => {
                self.found = Some(Finding::of(live, spent));
                Halt::Found
            }
            Err(divergence) => self.trail.diverged(divergence),
        }
    }

    /// Leaves the top of the stack for the state below it. Nothing is left of it.
    fn pop(&mut self) {
        let Some(frame) = self.stack.pop() else { return };
        // Also where nothing is below: another state may get its node.
        if let Some(below) = self.trail.length().checked_sub(1) {
            self.trail.back_to(below);
            self.paths.leave(frame.node);
        }
    }

    /// What is left of the top state waits for a larger bound.
    fn postpone(&mut self) {
        let Some(frame) = self.stack.pop() else { return };
        self.frontier.push(Entry::of(&frame));
        if !self.stack.is_empty() {
            self.trail.back_to(self.trail.length() - 1);
        }
    }

    /// Puts all that is unfinished into the frontier.
    fn flush(&mut self) {
        while let Some(frame) = self.stack.pop() {
            if frame.executed < frame.choices {
                self.frontier.push(Entry::of(&frame));
            }
        }
    }

    fn stopped(&mut self, halt: Halt) -> Stop {
        match halt {
            Halt::Spent(Spent::Time) => Stop::Time,
            Halt::Spent(Spent::Interrupted) => Stop::Interrupted,
            Halt::States => Stop::States,
            Halt::Memory => Stop::Memory,
            Halt::Found => match self.found.take() {
                Some(finding) => Stop::Found(finding),
                None => crate::bug!("found nothing"),
            },
            Halt::Diverged(divergence) => Stop::Nondeterministic(divergence),
            Halt::Unsound(Unsound(process)) => Stop::Unsound(self.trail.walk.live().label(process)),
            Halt::Anew => crate::bug!("a search that starts anew does not stop"),
        }
    }

    fn finish(mut self) -> (Coverage, Frontier) {
        self.coverage.bound = self.bound;
        self.coverage.states = self.visited.count();
        self.coverage.frontier = self.frontier.len() as u64;
        self.coverage.lassos = self.lassos.as_ref().map(Lassos::looked);
        self.coverage.absorb(&self.trail.walk.totals());
        (self.coverage, Frontier { entries: self.frontier, paths: self.paths })
    }
}

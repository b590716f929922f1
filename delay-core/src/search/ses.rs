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
    cursor::{Cursor, Unsound},
    frontier::{Frame, Frontier},
    lasso::Lassos,
    paths::{Node, Paths},
    run::Deviation,
    visited::{Nothing, Pairs, States, Visited},
};
use crate::{
    coverage::Coverage,
    explorer::{self, Explorer},
    hash::Print,
    live::{Footprint, GaveUp, Live, Status},
    search::Finding,
    verdict::Divergence,
    world::Choice,
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
) -> (Outcome, Frontier<E>) {
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
) -> (Outcome, Frontier<E>) {
    let mut live = program.live();
    loop {
        // Where nothing is merged, every execution is to be executed. A test that masks a part wants to see what is missed.
        if V::MERGES && live.is_unmasked() && settings.execution == Execution::Learned {
            live.learn();
        }
        let mut ses = Ses::<E, V>::new(&mut live, settings, budget);
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
    Found,
    Diverged(Divergence),
    Unsound(Unsound),
    Anew,
}

struct Ses<'s, 'b, E, V> {
    live: &'s mut Live<'b>,
    settings: &'s Settings,
    meter: Meter<'s>,
    states_max: u64,
    visited: V,
    /// States on the way down, each below the one before.
    stack: Vec<Frame<E>>,
    /// The choices that lead to the top of the stack, and what each process looked like after them.
    path: Vec<Choice>,
    /// None after a step that was made by what was learnt.
    footprints: Vec<Option<Footprint>>,
    /// Delays spent on the path.
    spent: Vec<Deviation>,
    /// Length of `path` at the bottom of the stack.
    base: usize,
    /// The live execution stands at the top of the stack.
    at_top: bool,
    /// Steps are made by what was learnt.
    learns: bool,
    /// How much was known of what tells states apart when the search began.
    revision: u32,
    bound: u32,
    frontier: Vec<Frame<E>>,
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
    fn new(live: &'s mut Live<'b>, settings: &'s Settings, budget: &'s Budget<'_>) -> Self {
        Self {
            learns: live.is_learning(),
            live,
            settings,
            meter: budget.meter(),
            states_max: budget.states_max(),
            visited: V::default(),
            stack: Vec::new(),
            path: Vec::new(),
            footprints: Vec::new(),
            spent: Vec::new(),
            base: 0,
            at_top: false,
            revision: 0,
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
        self.live.restart();
        let mut first = explorer.clone();
        explorer::tell(&mut first, self.live.world().events());
        self.revision = self.live.world().revision();
        let state = self.live.fingerprint();
        self.lassos = Lassos::begin(self.live);
        self.is_new(state, &first, 0);
        self.arrive(first, state, 0, Paths::ROOT)?;
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
            let resumed = self.bound + 1;
            self.bound = next;
            let mut waiting = std::mem::take(&mut self.frontier).into_iter();
            while let Some(frame) = waiting.next() {
                self.resume(frame, resumed);
                if let Err(halt) = self.search() {
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
        if !self.live.is_unmasked() || self.coverage.truncated > 0 || self.live.totals().foreign_wakes > 0 {
            return Ok(());
        }
        for hit in std::mem::take(&mut self.audit).hits {
            let visited = &self.visited;
            if self.live.without_learning(|live| hit.walk_on(live, visited))? == Status::Violated {
                self.spent = hit.spent.into_vec();
                return Err(self.violated());
            }
            self.tick().map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    fn end_stratum(&mut self, explorer: &E) -> Result<(), Halt> {
        self.coverage.completed_bound = Some(self.bound);
        self.coverage.states_per_bound.push(self.visited.count());
        if self.paths.len() > self.paths_kept.saturating_mul(2).max(PATHS_MIN) {
            self.paths.retain(self.frontier.iter_mut().map(|frame| &mut frame.node));
            self.paths_kept = self.paths.len();
        }
        self.look_for_lassos(explorer)
    }

    /// Looks for a loop in which a monitor stays hot in what is known so far.
    fn look_for_lassos(&mut self, explorer: &E) -> Result<(), Halt> {
        let Some(lassos) = &mut self.lassos else { return Ok(()) };
        self.found = self.live.without_learning(|live| lassos.find(live, explorer));
        if self.found.is_some() { Err(Halt::Found) } else { Ok(()) }
    }

    /// A search that its budget has stopped looks once more at what it knows.
    fn at_last(&mut self, stop: Result<Stop, Halt>, explorer: &E) -> Result<Stop, Halt> {
        if let Err(Halt::Spent(_) | Halt::States) = stop {
            self.look_for_lassos(explorer)?;
        }
        stop
    }

    /// Takes up an entry of the frontier: its next transition costs one delay more than the last.
    fn resume(&mut self, mut frame: Frame<E>, delays: u32) {
        self.path = self.paths.choices(frame.node);
        self.spent = self.paths.deviations(frame.node).0;
        self.footprints.clear();
        self.base = self.path.len();
        frame.delays = delays - 1;
        self.stack.push(frame);
        self.at_top = false;
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
            self.go_to_top()?;
            let world = self.live.world();
            let Some(frame) = self.stack.last_mut() else { break };
            if resumes {
                frame.delays += 1;
                match frame.cursor.delay(world) {
                    Ok(true) => {}
                    Ok(false) => return Err(Halt::Unsound(Unsound(frame.cursor.choice().process))),
                    Err(unsound) => return Err(Halt::Unsound(unsound)),
                }
            }
            frame.executed += 1;
            let (choice, delays, explorer) = (frame.cursor.choice(), frame.delays, frame.cursor.explorer().clone());
            let spent = frame.cursor.spent();
            self.execute(choice, spent, delays, explorer)?;
        }
        Ok(())
    }

    /// Executes one transition of the top state and arrives at its successor.
    fn execute(&mut self, choice: Choice, spent: u32, delays: u32, mut explorer: E) -> Result<(), Halt> {
        let step = self.path.len() as u32;
        let moved = self.lassos.as_ref().and_then(|_| self.live.world().moved_by(choice));
        let status = self.live.step(choice);
        self.at_top = false;
        if status == Status::Diverged {
            return Err(self.diverged(|live| live.divergence_here("a choice", "no such choice")));
        }
        self.coverage.transitions += 1;
        if self.live.world().revision() != self.revision {
            return Err(Halt::Anew);
        }
        self.path.push(choice);
        self.look_at_footprint(choice, status)?;
        if spent > 0 {
            self.spent.push(Deviation { step, delays: spent });
        }
        // Pitfall B.22: before the cache, which may know the state from an execution that did nothing wrong.
        if status == Status::Violated && self.live.shows_violations() {
            return Err(self.violated());
        }
        explorer::tell(&mut explorer, self.live.world().events());
        let state = self.live.fingerprint();
        if let (Some(lassos), Some(frame)) = (&mut self.lassos, self.stack.last()) {
            lassos.step(frame.state, choice, moved, state, self.live.world());
        }
        let is_new = self.is_new(state, &explorer, delays);
        if is_new && self.audit.is_due(self.visited.count()) && !self.live.verify() {
            return Err(self.diverged(|live| live.divergence_here("what it did before", "something else")));
        }
        let ended = self.ended(status);
        if let Some(parent) = self.stack.last().filter(|_| is_new && !ended).map(|frame| frame.node) {
            let node = self.paths.add(parent, choice, spent);
            self.arrive(explorer, state, delays, node)?;
        } else {
            if !is_new && !ended {
                self.audit.hit(&self.path, &self.spent, explorer);
            }
            self.step_back();
        }
        self.tick().map_or(Ok(()), Err)
    }

    /// What a process looks like after a step is a function of what it has seen. What was learnt was compared already.
    #[inline]
    fn look_at_footprint(&mut self, choice: Choice, status: Status) -> Result<(), Halt> {
        if self.live.is_learning() {
            self.footprints.push(None);
            return Ok(());
        }
        let footprint = self.live.footprint(choice);
        if V::MERGES && self.live.is_unmasked() && status != Status::Violated && !self.audit.agrees(&footprint) {
            let expected = "that it waits for what it waited for before, having seen the same";
            return Err(Halt::Diverged(self.live.divergence_here(expected, "something else")));
        }
        self.footprints.push(Some(footprint));
        Ok(())
    }

    /// The program did something else than before. Where that was seen by what was learnt, live execution has to see it too.
    #[cold]
    fn diverged(&self, divergence: impl FnOnce(&Live<'b>) -> Divergence) -> Halt {
        if self.live.gave_up() == Some(GaveUp::Differs) && self.learns {
            Halt::Anew
        } else {
            Halt::Diverged(divergence(self.live))
        }
    }

    /// Whether the state the live execution stands at must be expanded.
    #[inline]
    fn is_new(&mut self, state: Print, explorer: &E, delays: u32) -> bool {
        #[cfg(feature = "test-hooks")]
        let delays = if self.live.world().masks(crate::world::masked::Part::Delays) { 0 } else { delays };
        if V::ORDERED {
            // Pitfall B.1: how many delays a choice costs is decided by the explorer and, within a receive, by arrival.
            return self.visited.insert(state, &(explorer, self.live.world().arrivals()), delays);
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
        self.coverage.longest = self.coverage.longest.max(self.live.world().steps());
        true
    }

    fn tick(&mut self) -> Option<Halt> {
        let states = self.visited.count();
        let (transitions, frontier, delays) = (self.coverage.transitions, self.frontier.len() as u64, self.bound);
        let executions = self.coverage.executions;
        let progress = || Progress { executions, steps: transitions, states, frontier, delays };
        self.meter.tick(progress).map(Halt::Spent)
    }

    /// A state was reached for the first time: the live execution stands at it.
    fn arrive(&mut self, explorer: E, state: Print, delays: u32, node: Node) -> Result<(), Halt> {
        match self.live.status() {
            Status::Running => {}
            Status::Violated => return Err(self.violated()),
            status => {
                self.ended(status);
                return Ok(());
            }
        }
        debug_assert!(
            self.settings.delta > 1 || delays == self.bound,
            "delta 1: found with exactly the bound's delays"
        );
        let choices = self.live.world().choice_count();
        self.coverage.met_choice |= choices > 1;
        let cursor = Cursor::at(self.live.world(), explorer).map_err(Halt::Unsound)?;
        self.stack.push(Frame { cursor, executed: 0, choices, delays, state, node });
        self.at_top = true;
        Ok(())
    }

    fn violated(&mut self) -> Halt {
        self.found = Some(Finding::of(self.live, self.spent.clone()));
        Halt::Found
    }

    /// Brings the live execution to the top of the stack, by re-executing its path if it stands elsewhere.
    fn go_to_top(&mut self) -> Result<(), Halt> {
        if self.at_top {
            return Ok(());
        }
        let came_to = self.live.go_to(&self.path, self.base, &self.footprints);
        let status = came_to.map_err(|divergence| self.diverged(|_| divergence))?;
        let expected = self.stack.last().map(|frame| frame.state);
        if status != Status::Running || Some(self.live.fingerprint()) != expected {
            return Err(self.diverged(|live| live.divergence_here("the state it came to before", "another state")));
        }
        self.at_top = true;
        Ok(())
    }

    /// Leaves the top of the stack for the state below it.
    fn pop(&mut self) -> Option<Frame<E>> {
        let frame = self.stack.pop();
        self.at_top = false;
        if !self.stack.is_empty() {
            self.step_back();
        }
        frame
    }

    /// Takes the last transition off the path.
    fn step_back(&mut self) {
        self.at_top = false;
        self.path.pop();
        self.footprints.pop();
        if self.spent.last().is_some_and(|deviation| deviation.step as usize == self.path.len()) {
            self.spent.pop();
        }
    }

    /// What is left of the top state waits for a larger bound.
    fn postpone(&mut self) {
        let frame = self.pop();
        self.frontier.extend(frame);
    }

    /// Puts all that is unfinished into the frontier.
    fn flush(&mut self) {
        while let Some(frame) = self.stack.last() {
            if frame.executed < frame.choices {
                self.postpone();
            } else {
                self.pop();
            }
        }
    }

    fn stopped(&mut self, halt: Halt) -> Stop {
        match halt {
            Halt::Spent(Spent::Time) => Stop::Time,
            Halt::Spent(Spent::Interrupted) => Stop::Interrupted,
            Halt::States => Stop::States,
            Halt::Found => match self.found.take() {
                Some(finding) => Stop::Found(finding),
                None => crate::bug!("found nothing"),
            },
            Halt::Diverged(divergence) => Stop::Nondeterministic(divergence),
            Halt::Unsound(Unsound(process)) => Stop::Unsound(self.live.label(process)),
            Halt::Anew => crate::bug!("a search that starts anew does not stop"),
        }
    }

    fn finish(mut self) -> (Coverage, Frontier<E>) {
        self.coverage.bound = self.bound;
        self.coverage.states = self.visited.count();
        self.coverage.frontier = self.frontier.len() as u64;
        self.coverage.lassos = self.lassos.as_ref().map(Lassos::looked);
        self.coverage.absorb(&self.live.totals());
        (self.coverage, Frontier { entries: self.frontier, paths: self.paths })
    }
}

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
//! Differs from Figure 5: a violation is looked at before the cache is (pitfall B.22), and an explicit choice's outcomes
//! are alternatives like any other.

use super::{
    Cache, Outcome, Program, Settings, Stop,
    budget::{Budget, Meter, Progress, Spent},
    cursor::{Cursor, Unsound},
    run::Deviation,
    visited::{Nothing, Pairs, States, Visited},
};
use crate::{
    coverage::Coverage,
    explorer::{self, Explorer},
    hash::Print,
    live::{Footprint, Live, Status},
    search::Finding,
    world::Choice,
};

/// A state with choices left.
#[derive(Debug)]
struct Frame<E> {
    /// Where in Choices(s) the last executed transition stands; the first, if none was.
    cursor: Cursor<E>,
    /// Transitions of this state executed so far: i in Figure 5.
    executed: u32,
    /// |Choices(s)|.
    choices: u32,
    /// Delays to the next transition: n in Figure 5.
    delays: u32,
    state: Print,
}

/// A state that waits for a larger bound: an entry of the frontier.
#[derive(Debug)]
pub(super) struct Postponed<E> {
    pub(super) path: Box<[Choice]>,
    pub(super) spent: Box<[Deviation]>,
    frame: Frame<E>,
}

impl<E: Explorer> Postponed<E> {
    /// Delays spent on the path to the state.
    pub(super) fn deviations(&self) -> &[Deviation] {
        &self.spent
    }

    /// Where the next transition of the state stands: one delay past the cursor, or the cursor itself if nothing was
    /// executed.
    pub(super) fn next_delays(&self) -> u32 {
        self.frame.cursor.spent() + u32::from(self.frame.executed > 0)
    }
}

/// Runs SES.
pub(super) fn search<E: Explorer>(program: Program<'_>, explorer: &E, settings: &Settings, budget: &Budget<'_>) -> Outcome {
    let (outcome, _) = explore(program, explorer, settings, budget);
    outcome
}

/// Runs SES and hands out what is left in the frontier.
pub(super) fn explore<E: Explorer>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
) -> (Outcome, Vec<Postponed<E>>) {
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
) -> (Outcome, Vec<Postponed<E>>) {
    let mut live = program.live();
    loop {
        let mut ses = Ses::<E, V>::new(&mut live, settings, budget);
        let stop = ses.strata(explorer);
        if stop == Err(Halt::Anew) {
            // Learnt that an abort can hit a process whose receives were taken inside steps: all of it again.
            continue;
        }
        let stop = match stop {
            Ok(stop) => stop,
            Err(halt) => ses.stopped(halt),
        };
        let (coverage, frontier) = ses.finish();
        return (Outcome { coverage, stop }, frontier);
    }
}

/// Why the search cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Halt {
    Spent(Spent),
    States,
    Found,
    Diverged(crate::verdict::Divergence),
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
    footprints: Vec<Footprint>,
    /// Delays spent on the path.
    spent: Vec<Deviation>,
    /// Length of `path` at the bottom of the stack.
    base: usize,
    /// The live execution stands at the top of the stack.
    at_top: bool,
    bound: u32,
    frontier: Vec<Postponed<E>>,
    coverage: Coverage,
    found: Option<Finding>,
}

impl<'s, 'b, E: Explorer, V: Visited> Ses<'s, 'b, E, V> {
    fn new(live: &'s mut Live<'b>, settings: &'s Settings, budget: &'s Budget<'_>) -> Self {
        Self {
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
            bound: 0,
            frontier: Vec::new(),
            coverage: Coverage::new(settings),
            found: None,
        }
    }

    /// The outer loop of Figure 5.
    fn strata(&mut self, explorer: &E) -> Result<Stop, Halt> {
        self.live.restart();
        let mut first = explorer.clone();
        explorer::tell(&mut first, self.live.world().events());
        let state = self.live.fingerprint();
        self.visited.insert(state, &first, 0);
        self.arrive(first, state, 0)?;
        if let Err(halt) = self.search() {
            self.flush();
            return Err(halt);
        }
        self.end_stratum();
        while !self.frontier.is_empty() {
            let next = self.bound.saturating_add(self.settings.delta);
            if self.settings.max_delays.is_some_and(|max| next > max) {
                return Ok(Stop::Delays);
            }
            let resumed = self.bound + 1;
            self.bound = next;
            let mut waiting = std::mem::take(&mut self.frontier).into_iter();
            while let Some(postponed) = waiting.next() {
                self.resume(postponed, resumed);
                if let Err(halt) = self.search() {
                    self.flush();
                    self.frontier.extend(waiting);
                    return Err(halt);
                }
            }
            self.end_stratum();
        }
        Ok(Stop::Exhausted)
    }

    fn end_stratum(&mut self) {
        self.coverage.completed_bound = Some(self.bound);
        self.coverage.states_per_bound.push(self.visited.len());
    }

    /// Takes up an entry of the frontier: its next transition costs one delay more than the last.
    fn resume(&mut self, postponed: Postponed<E>, delays: u32) {
        let Postponed { path, spent, mut frame } = postponed;
        (self.path, self.spent) = (path.into_vec(), spent.into_vec());
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
        let status = self.live.step(choice);
        self.at_top = false;
        if status == Status::Diverged {
            return Err(Halt::Diverged(self.live.divergence_here("a choice", "no such choice")));
        }
        self.coverage.transitions += 1;
        if self.live.world().notes().new_abort {
            return Err(Halt::Anew);
        }
        self.path.push(choice);
        self.footprints.push(self.live.footprint(choice));
        if spent > 0 {
            self.spent.push(Deviation { step, delays: spent });
        }
        if status == Status::Violated {
            return Err(self.violated());
        }
        explorer::tell(&mut explorer, self.live.world().events());
        let state = self.live.fingerprint();
        let is_new = self.visited.insert(state, &explorer, delays);
        let ended = self.ended(status);
        if let Some(spent) = self.tick() {
            // The successor is flushed with the rest if it has to be visited still.
            if is_new && !ended {
                self.arrive(explorer, state, delays)?;
            } else {
                self.step_back();
            }
            return Err(spent);
        }
        if is_new && !ended {
            return self.arrive(explorer, state, delays);
        }
        self.step_back();
        Ok(())
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
        let states = self.visited.len();
        let (transitions, frontier, delays) = (self.coverage.transitions, self.frontier.len() as u64, self.bound);
        let executions = self.coverage.executions;
        let progress = || Progress { executions, steps: transitions, states, frontier, delays };
        if states > self.states_max {
            return Some(Halt::States);
        }
        self.meter.tick(progress).map(Halt::Spent)
    }

    /// A state was reached for the first time: the live execution stands at it.
    fn arrive(&mut self, explorer: E, state: Print, delays: u32) -> Result<(), Halt> {
        match self.live.status() {
            Status::Running => {}
            Status::Violated => return Err(self.violated()),
            status => {
                self.ended(status);
                return Ok(());
            }
        }
        debug_assert!(self.settings.delta > 1 || delays == self.bound, "delta 1: found with exactly the bound's delays");
        let choices = self.live.world().choice_count();
        self.coverage.met_choice |= choices > 1;
        let cursor = Cursor::at(self.live.world(), explorer).map_err(Halt::Unsound)?;
        self.stack.push(Frame { cursor, executed: 0, choices, delays, state });
        self.at_top = true;
        Ok(())
    }

    fn violated(&mut self) -> Halt {
        let violation = self.live.violation().cloned();
        let Some(violation) = violation else { crate::bug!("violated without a violation") };
        let steps = self.path.len() as u64;
        self.found = Some(Finding { deviations: self.spent.clone(), violation, steps });
        Halt::Found
    }

    /// Brings the live execution to the top of the stack, by re-executing its path if it stands elsewhere.
    fn go_to_top(&mut self) -> Result<(), Halt> {
        if self.at_top {
            return Ok(());
        }
        let status = self.live.go_to(&self.path, self.base, &self.footprints).map_err(Halt::Diverged)?;
        let expected = self.stack.last().map(|frame| frame.state);
        if status != Status::Running || Some(self.live.fingerprint()) != expected {
            return Err(Halt::Diverged(self.live.divergence_here("the state it came to before", "another state")));
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
        let (path, spent) = (self.path.as_slice().into(), self.spent.as_slice().into());
        if let Some(frame) = self.pop() {
            self.frontier.push(Postponed { path, spent, frame });
        }
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

    fn finish(mut self) -> (Coverage, Vec<Postponed<E>>) {
        self.coverage.bound = self.bound;
        self.coverage.states = self.visited.len();
        self.coverage.frontier = self.frontier.len() as u64;
        self.coverage.absorb(&self.live.totals());
        (self.coverage, self.frontier)
    }
}

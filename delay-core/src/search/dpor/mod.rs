//! SES with partial-order reduction: of executions that differ only in the order of steps that commute, one.
//!
//! Two executions are of one class if one becomes the other by exchanging neighbours that come to the same in either order
//! (`world/access.rs` says which). Every step is looked at for earlier ones that it races with; where the other order is not visited
//! from the state before the earlier one, a step that leads there is wanted at that state. What was begun at a state sleeps below its later
//! siblings until a step comes in its way: so no class is executed twice.
//!
//! The delay bound decides when a step is made, not whether: what would exceed it waits in the tree until the bound has risen. Leaving it
//! out would lose classes within the bound, since the race that asks for them may only show in an execution that was left out.
//!
//! Invariants:
//! - An exhausted search has executed every class of complete executions exactly once.
//! - Of a bound, nothing more is promised than that what was executed has at most so many delays: a class may be represented by an
//!   execution with more delays than another of its class.
//! - Each alternative of a process whose step is wanted is wanted: what a process chooses, or receives, is no order.
//! - Which execution of a class is visited depends on the explorer and the bound; how many there are does not.
//!
//! Source: Abdulla, Aronis, Jonsson, Sagonas, "Source sets: a foundation for optimal dynamic partial order reduction" (JACM 2017), source-DPOR
//! with sleep sets. Differs: the delay bound above; several alternatives of one process (`trace/mod.rs`).

mod trace;
mod tree;
mod wants;

use super::{
    Outcome, Program, Settings, Stop,
    budget::{Budget, Meter, Progress, Spent},
    cursor::{Cursor, Unsound},
    run::Deviation,
};
use crate::{
    coverage::Coverage,
    explorer::{self, Event, Explorer},
    ids::Process,
    live::{Live, Status},
    search::Finding,
    world::{
        Choice,
        access::{Access, Kind},
    },
};
use trace::{Race, Stands, Trace};
use tree::{NEVER, Node, Tree, What};
use wants::{cost_of, want};

/// Runs SES with partial-order reduction.
pub(super) fn search<E: Explorer>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
) -> Outcome {
    let mut live = program.live();
    live.note_accesses();
    let mut dpor = Dpor::new(&mut live, explorer, settings, budget);
    let (Ok(stop) | Err(Halt(stop))) = dpor.strata();
    // What is found is real. But classes were seen to be left out there, and it is not known which.
    let stop = match (stop, dpor.doubtful) {
        (Stop::Exhausted | Stop::Delays, Some(what)) => {
            Stop::Irreducible(format!("{what} (it looks for violations, and cannot say that there are none)"))
        }
        (stop, _) => stop,
    };
    Outcome { coverage: dpor.finish(), stop }
}

/// Why nothing is promised where it has found nothing.
const CHOICES: &str = "choose(..) and flip()";
const CROWDS: &str = "sends that may wait for room for ever";

/// Why the search cannot go on.
struct Halt(Stop);

struct Dpor<'s, 'b, E> {
    live: &'s mut Live<'b>,
    settings: &'s Settings,
    meter: Meter<'s>,
    states_max: u64,
    tree: Tree<E>,
    /// States on the path, each below the one before; the live execution stands at the last, or is to be taken back to it.
    stack: Vec<Node>,
    /// The choices of the live execution, and the delays spent at each.
    path: Vec<Choice>,
    spent: Vec<u32>,
    trace: Trace,
    bound: u32,
    coverage: Coverage,
    /// Something was met for which it may leave classes out.
    doubtful: Option<&'static str>,
    /// An explorer of no meaning, to be used again.
    spare: Option<E>,
    /// Another, to find out with what a step costs.
    scout: E,
    /// Scratch.
    races: Vec<Race>,
}

impl<'s, 'b, E: Explorer> Dpor<'s, 'b, E> {
    fn new(live: &'s mut Live<'b>, explorer: &E, settings: &'s Settings, budget: &'s Budget<'_>) -> Self {
        Self {
            live,
            settings,
            meter: budget.meter(),
            states_max: budget.states_max(),
            tree: Tree::new(),
            stack: Vec::new(),
            path: Vec::new(),
            spent: Vec::new(),
            trace: Trace::default(),
            bound: 0,
            coverage: Coverage::new(settings),
            doubtful: None,
            spare: Some(explorer.clone()),
            scout: explorer.clone(),
            races: Vec::new(),
        }
    }

    /// Bound after bound, all that is within it.
    fn strata(&mut self) -> Result<Stop, Halt> {
        self.live.restart();
        self.check_reducible()?;
        let mut first = self.spare.take().unwrap_or_else(|| crate::bug!("no explorer"));
        explorer::tell(&mut first, self.live.world().events());
        self.trace.begin(self.live.world().accesses());
        self.coverage.states = 1;
        let start = Choice { process: Process::BODY, alternative: 0 };
        let root = self.tree.add(start, 0, 0, 0, &mut first);
        self.note_state(root);
        self.spare = Some(first);
        match self.live.status() {
            Status::Running => {}
            Status::Violated => return Err(self.violated()),
            status => {
                self.end(status);
                return Ok(Stop::Exhausted);
            }
        }
        loop {
            self.stack.push(root);
            self.visit()?;
            self.coverage.completed_bound = Some(self.bound);
            self.coverage.states_per_bound.push(self.coverage.states);
            if self.tree.at(root).least_of_all() == NEVER {
                return Ok(Stop::Exhausted);
            }
            let Some(next) = self.settings.delta.next(self.bound, self.settings.max_delays) else {
                return Ok(Stop::Delays);
            };
            self.bound = next;
        }
    }

    /// All that is within the bound, depth first, below the root on the stack.
    fn visit(&mut self) -> Result<(), Halt> {
        while let Some(&top) = self.stack.last() {
            let state = self.tree.at(top);
            if state.least_below <= self.bound {
                self.go_on(top)?;
            } else if !((state.is_open || state.least <= self.bound) && self.begin(top)?) {
                self.leave(top);
            }
        }
        Ok(())
    }

    /// Leaves a state for the one above. It is kept there if something is left for a larger bound.
    fn leave(&mut self, top: Node) {
        self.stack.pop();
        let least = self.tree.at(top).least_of_all();
        let Some(above) = self.stack.last() else { return };
        if least == NEVER {
            self.tree.remove(top);
        } else {
            let above = self.tree.at_mut(*above);
            above.below.push(top);
            above.least_below = above.least_below.min(least);
        }
    }

    /// Goes down to a state below that was left unfinished and has something within the bound.
    fn go_on(&mut self, top: Node) -> Result<(), Halt> {
        let within = |node: &Node| self.tree.at(*node).least_of_all() <= self.bound;
        let Some(at) = self.tree.at(top).below.iter().position(within) else { crate::bug!("nothing is left below") };
        let below = self.tree.at_mut(top).below.remove(at);
        let left = self.tree.at(top).below.iter().map(|node| self.tree.at(*node).least_of_all()).min();
        self.tree.at_mut(top).least_below = left.unwrap_or(NEVER);
        let (choice, key, spent) = {
            let state = self.tree.at(below);
            (state.choice, state.key, state.spent)
        };
        self.come_back()?;
        let status = self.make(choice, key, spent, false)?;
        self.check_state(status, below)?;
        self.stack.push(below);
        Ok(())
    }

    /// Makes a step that was not made from the top state. False if there is none within the bound.
    fn begin(&mut self, top: Node) -> Result<bool, Halt> {
        if self.coverage.states >= self.states_max {
            return Err(Halt(Stop::States));
        }
        self.come_back()?;
        let Some((cursor, key)) = self.choose(top)? else { return Ok(false) };
        let (choice, spent) = (cursor.choice(), cursor.spent());
        let delays = self.tree.at(top).delays + spent;
        self.look_for_more(top, choice, spent);
        let status = self.make(choice, key, spent, true)?;
        self.coverage.transitions += 1;
        let opens = status == Status::Running && self.live.world().choosing().is_some();
        if opens {
            self.doubtful.get_or_insert(CHOICES);
        }
        let what = if opens { What::Opening } else { What::Step };
        self.tree.begin(top, choice.process, key, what, self.live.world().accesses());
        self.want_disabled(top, choice.process);
        let mut explorer = cursor.into_explorer();
        // Pitfall B.22: whatever else there is to say of the state.
        if status == Status::Violated && self.live.shows_violations() {
            return Err(self.violated());
        }
        if !opens {
            // A choice, and what led to it, are one.
            self.races.extend_from_slice(&self.tree.at(top).races);
            self.reverse_races();
        }
        if status == Status::Running {
            explorer::tell(&mut explorer, self.live.world().events());
            self.coverage.states += 1;
            let below = self.tree.add(choice, key, spent, delays, &mut explorer);
            if opens {
                self.defer_races(top, below);
                self.tree.open(top, below, choice, key, self.live.world().accesses());
            } else {
                let from = self.close(top, choice);
                self.tree.hand_down(from, below);
            }
            self.note_state(below);
            self.stack.push(below);
        } else {
            self.close(top, choice);
            self.end(status);
        }
        self.spare = Some(explorer);
        self.tick().map_or(Ok(true), |stop| Err(Halt(stop)))
    }

    /// A step that leads to no choice was made from the top state: says where it began, with the choices that were made.
    #[inline]
    fn close(&mut self, top: Node, choice: Choice) -> Node {
        let state = self.tree.at_mut(top);
        state.is_fruitful = true;
        match state.unit {
            None => top,
            Some(unit) => self.tree.close(top, unit, choice, self.live.world().accesses()),
        }
    }

    /// The next step to make from the top state, which the live execution stands at: where nothing is wanted, the first that does not sleep.
    fn choose(&mut self, top: Node) -> Result<Option<(Cursor<E>, u64)>, Halt> {
        let mut explorer = self.spare.take().unwrap_or_else(|| crate::bug!("no explorer"));
        explorer.clone_from(&self.tree.at(top).explorer);
        let mut cursor = Cursor::at(self.live.world(), explorer).map_err(|unsound| self.unsound(unsound))?;
        self.coverage.met_choice |= self.live.world().choice_count() > 1;
        loop {
            let (choice, state) = (cursor.choice(), self.tree.at(top));
            if !state.is_fruitful || state.wanted.contains(&choice.process) {
                let key = self.live.alternative(choice);
                let sleeps = state.unit.is_some_and(|unit| self.tree.sleeps_with(&unit, choice));
                if !sleeps && !self.tree.is_settled(top, choice.process, key) {
                    let delays = state.delays + cursor.spent();
                    if delays <= self.bound {
                        return Ok(Some((cursor, key)));
                    }
                    if let Some(unit) = state.unit {
                        self.tree.at_mut(unit.from).is_fruitful = true;
                    }
                    return Ok(self.give_up(top, delays, cursor));
                }
            }
            if !cursor.delay(self.live.world()).map_err(|unsound| self.unsound(unsound))? {
                // All that can happen is visited elsewhere.
                let from = self.tree.at(top).unit.map_or(top, |unit| unit.from);
                let from = self.tree.at_mut(from);
                self.coverage.asleep += u64::from(!from.is_fruitful);
                // Something else may not sleep where it began.
                from.is_open |= !from.is_fruitful;
                return Ok(self.give_up(top, NEVER, cursor));
            }
        }
    }

    /// Nothing is left to do at a state before the bound is so large.
    fn give_up(&mut self, top: Node, least: u32, cursor: Cursor<E>) -> Option<(Cursor<E>, u64)> {
        let state = self.tree.at_mut(top);
        (state.is_open, state.least) = (false, least);
        self.spare = Some(cursor.into_explorer());
        None
    }

    /// A step of a process is made from the top state: whether another may be left to make there.
    fn look_for_more(&mut self, top: Node, choice: Choice, spent: u32) {
        let (world, process) = (self.live.world(), choice.process);
        let state = self.tree.at_mut(top);
        if !state.wanted.contains(&process) {
            state.wanted.push(process);
        }
        if let Some((_, outcomes)) = world.choosing() {
            let is_more = choice.alternative + 1 < outcomes;
            (state.is_open, state.least) = (false, if is_more { state.delays + spent + 1 } else { NEVER });
            return;
        }
        let alternatives = |process: &Process| world.alternatives(*process);
        let wanted: u32 = state.wanted.iter().map(alternatives).sum();
        let is_more = wanted > state.steps() + 1;
        (state.is_open, state.least) = (is_more, NEVER);
        if is_more && state.enabled.is_some() {
            let wants = |tree: &Tree<E>, other| {
                other != process && tree.at(top).wanted.contains(&other) && !tree.is_settled_for(top, other)
            };
            let least = cost_of(&self.tree, &mut self.scout, top, wants).unwrap_or(NEVER);
            let state = self.tree.at_mut(top);
            (state.is_open, state.least) = (false, least);
        }
    }

    /// Makes a step, the live execution standing at the top state. Its races stand in `races`.
    fn make(&mut self, choice: Choice, key: u64, spent: u32, is_new: bool) -> Result<Status, Halt> {
        let stands = if self.live.world().choosing().is_some() { Stands::Chosen } else { Stands::Alone };
        let status = self.live.step(choice);
        if status == Status::Diverged {
            let divergence = self.live.divergence_here("a choice", "no such choice");
            return Err(Halt(Stop::Nondeterministic(divergence)));
        }
        self.check_reducible()?;
        self.races.clear();
        let (races, touched) = (is_new.then_some(&mut self.races), self.live.world().accesses());
        self.trace.push((choice.process, key), Some(self.path.len() as u32), stands, touched, races);
        self.path.push(choice);
        self.spent.push(spent);
        Ok(status)
    }

    /// Brings the live execution to the top state.
    fn come_back(&mut self) -> Result<(), Halt> {
        let depth = self.stack.len() - 1;
        if self.path.len() == depth {
            return Ok(());
        }
        self.path.truncate(depth);
        self.spent.truncate(depth);
        self.trace.back_to_step(depth as u32);
        let came_to = self.live.come_back_to(&self.path);
        let status = came_to.map_err(|divergence| Halt(Stop::Nondeterministic(divergence)))?;
        self.check_state(status, self.stack[depth])
    }

    /// What is known of a state the live execution has come to for the first time.
    #[inline]
    fn note_state(&mut self, node: Node) {
        let (world, state) = (self.live.world(), self.tree.at_mut(node));
        (state.enabled, state.seen) = (world.plainly_enabled(), world.seen());
    }

    /// The live execution has come to a state again: to the same, if the program does what it did.
    #[inline]
    fn check_state(&self, status: Status, node: Node) -> Result<(), Halt> {
        if status == Status::Running && self.live.world().seen() == self.tree.at(node).seen {
            return Ok(());
        }
        let divergence = self.live.divergence_here("the state it came to before", "another state");
        Err(Halt(Stop::Nondeterministic(divergence)))
    }

    /// Wants a step where one has kept a process from making it: in the other order it may be made.
    fn want_disabled(&mut self, top: Node, process: Process) {
        for event in self.live.world().events() {
            if let Event::Blocked(other) = event
                && *other != process
            {
                want(&mut self.tree, &mut self.scout, top, *other);
            }
        }
        for access in self.live.world().accesses().iter().filter(|access| access.kind == Kind::Abort) {
            want(&mut self.tree, &mut self.scout, top, access.place.as_process());
        }
    }

    /// A step from `top` leads to a choice at `below`: what comes first in the other order of its races is known when that is made.
    fn defer_races(&mut self, top: Node, below: Node) {
        let mut races = std::mem::take(&mut self.tree.at_mut(below).races);
        races.extend_from_slice(&self.tree.at(top).races);
        races.append(&mut self.races);
        self.tree.at_mut(below).races = races;
    }

    /// Sees to it that for each race of the last step the other order is visited too.
    fn reverse_races(&mut self) {
        let mut races = std::mem::take(&mut self.races);
        for race in races.drain(..) {
            self.reverse(race);
        }
        self.races = races;
    }

    fn reverse(&mut self, race: Race) {
        let Some(step) = self.trace.event(race.first).step else { return };
        let node = self.stack[step as usize];
        let last = self.trace.event(self.trace.led_by(race.second)).process;
        let (mut is_wanted, mut first) = (false, None);
        let Self { tree, trace, scout, .. } = self;
        let state = tree.at(node);
        trace.initials(race, |event| {
            // A step that sleeps was begun above: whatever begins with it is visited from there.
            is_wanted = state.wanted.contains(&event.process) || tree.sleeps(node, event.process, event.key);
            if first.is_none() || event.process == last {
                first = Some(event.process);
            }
            !is_wanted
        });
        if !is_wanted && let Some(process) = first {
            want(tree, scout, node, process);
        }
    }

    /// An execution has come to its end.
    fn end(&mut self, status: Status) {
        if status == Status::Truncated {
            self.coverage.truncated += 1;
        } else {
            self.coverage.executions += 1;
        }
        self.coverage.longest = self.coverage.longest.max(self.live.world().steps());
        self.let_in();
    }

    /// What waits in vain for room might have come first.
    fn let_in(&mut self) {
        let crowded_out: Vec<(Process, Access)> = self.live.world().crowded_out().collect();
        if !crowded_out.is_empty() {
            self.doubtful.get_or_insert(CROWDS);
        }
        let step = self.path.len() as u32;
        for (process, access) in crowded_out {
            self.races.clear();
            self.trace.push((process, 0), Some(step), Stands::Alone, &[access], Some(&mut self.races));
            self.reverse_races();
            self.trace.back_to_step(step);
        }
    }

    fn check_reducible(&self) -> Result<(), Halt> {
        let Some(what) = self.live.world().irreducible() else { return Ok(()) };
        Err(Halt(Stop::Irreducible(what.to_owned())))
    }

    fn violated(&self) -> Halt {
        let spent = self.spent.iter().enumerate().filter(|(_, delays)| **delays > 0);
        let deviations = spent.map(|(step, delays)| Deviation { step: step as u32, delays: *delays }).collect();
        Halt(Stop::Found(Finding::of(self.live, deviations)))
    }

    #[cold]
    fn unsound(&self, Unsound(process): Unsound) -> Halt {
        Halt(Stop::Unsound(self.live.label(process)))
    }

    fn tick(&mut self) -> Option<Stop> {
        let Coverage { states, transitions, executions, .. } = self.coverage;
        let delays = self.bound;
        let progress = || Progress { executions, steps: transitions, states, frontier: 0, delays };
        self.meter.tick(progress).map(|spent| match spent {
            Spent::Time => Stop::Time,
            Spent::Interrupted => Stop::Interrupted,
        })
    }

    fn finish(mut self) -> Coverage {
        self.coverage.bound = self.bound;
        self.coverage.frontier = self.tree.unfinished();
        self.coverage.absorb(&self.live.totals());
        self.coverage
    }
}

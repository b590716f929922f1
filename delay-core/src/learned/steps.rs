//! Steps that were made before: what a choice does, by the parts of the World that it looks at.
//!
//! A step is a function of the parts it looks at. Which part it looks at next is a function of those before: so the steps of a choice are
//! a tree that branches by what the parts are, and at its leaves stands what was changed. The same step is thus known at every
//! state that differs elsewhere, and a state is little more than a number for each part.
//!
//! Invariants:
//! - A number stands for one part and one identity ([`crate::world::parts`]); 0 for a part that is not there.
//! - What a step changes, it has looked at before. So by how much it changes a sum over the parts is known, too.

use super::ways::Ways;
use crate::{
    explorer::Event,
    hash::{IdMap, Print},
    ids::Process,
    world::{
        Choice, World,
        parts::{Look, Part, Rest},
    },
};

/// What a state is made of, by numbers.
#[derive(Debug, Default)]
pub struct State {
    /// Per part, what it is.
    numbers: Vec<u32>,
    /// Per process.
    alternatives: Vec<u32>,
    sums: Sums,
    /// What it was before each step that can be taken back, and how much of `log` was there then.
    before: Vec<(usize, Sums)>,
    log: Vec<Change>,
}

/// Sums over the parts of a state, and what belongs to none.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    print: Print,
    arrivals: Print,
    /// The rest, by its number.
    rest: u32,
    /// Processes with an alternative.
    enabled: u32,
    /// Alternatives of all processes.
    alternatives: u32,
    /// Parts that have to be looked at where an execution ends.
    peculiar: u32,
    /// Granted ops.
    steps: u64,
}

impl Sums {
    /// By how much another is more.
    fn to(self, other: Self) -> Self {
        Self {
            print: other.print.minus(self.print),
            arrivals: other.arrivals.minus(self.arrivals),
            rest: other.rest,
            enabled: other.enabled.wrapping_sub(self.enabled),
            alternatives: other.alternatives.wrapping_sub(self.alternatives),
            peculiar: other.peculiar.wrapping_sub(self.peculiar),
            steps: other.steps - self.steps,
        }
    }

    #[inline]
    fn add(&mut self, more: &Self) {
        self.print = self.print.plus(more.print);
        self.arrivals = self.arrivals.plus(more.arrivals);
        self.rest = more.rest;
        self.enabled = self.enabled.wrapping_add(more.enabled);
        self.alternatives = self.alternatives.wrapping_add(more.alternatives);
        self.peculiar = self.peculiar.wrapping_add(more.peculiar);
        self.steps += more.steps;
    }

    fn count(&mut self, look: &Look) {
        self.print = self.print.plus(look.print);
        self.arrivals = self.arrivals.plus(look.arrivals);
        self.enabled += u32::from(look.alternatives > 0);
        self.alternatives += look.alternatives;
        self.peculiar += u32::from(look.is_peculiar);
    }

    fn discount(&mut self, look: &Look) {
        self.print = self.print.minus(look.print);
        self.arrivals = self.arrivals.minus(look.arrivals);
        self.enabled -= u32::from(look.alternatives > 0);
        self.alternatives -= look.alternatives;
        self.peculiar -= u32::from(look.is_peculiar);
    }
}

/// A part is something else from now on.
#[derive(Clone, Copy, Debug)]
struct Change {
    part: Part,
    number: u32,
    alternatives: u32,
}

/// What a known step does.
#[derive(Clone, Copy, Debug)]
struct Effect {
    /// Where its changes and events begin and end.
    changes: (u32, u32),
    events: (u32, u32),
    sums: Sums,
}

/// What a tree of steps says at a point: which part to look at next, or what the step does.
#[derive(Clone, Copy, Debug)]
enum Then {
    Look(Part),
    Do(u32),
}

/// All steps that are known.
#[derive(Debug, Default)]
pub struct Steps {
    by_identity: IdMap<Print, u32>,
    /// By number, from 1.
    looks: Vec<Look>,
    rest_by_identity: IdMap<Print, u32>,
    rests: Vec<Rest>,
    /// From a choice, or a point of a tree, and what the part there is, to the next point.
    ways: Ways,
    points: Vec<Then>,
    effects: Vec<Effect>,
    changes: Vec<Change>,
    events: Vec<Event>,
    /// How many points may be kept before no more steps are.
    points_max: usize,
}

impl Steps {
    /// Nothing is known yet; at most so many points of trees will be.
    pub fn new(points_max: usize) -> Self {
        Self { points_max, ..Self::default() }
    }

    /// Forgets all steps, for what decides them has changed.
    pub fn forget(&mut self) {
        self.ways = Ways::default();
        self.points.clear();
        self.effects.clear();
        self.changes.clear();
        self.events.clear();
    }

    /// The events of a step.
    #[inline]
    pub fn events(&self, step: Known) -> &[Event] {
        &self.events[step.events.0 as usize..step.events.1 as usize]
    }

    /// Makes a choice at a state, if what it does there is known.
    #[inline]
    pub fn make(&self, state: &mut State, choice: Choice) -> Option<Known> {
        let mut point = self.ways.get(start(state, choice))?;
        loop {
            match self.points[point as usize] {
                Then::Look(part) => point = self.ways.get(way(point, state.number_at(part)))?,
                Then::Do(effect) => {
                    let effect = &self.effects[effect as usize];
                    state.change(&self.changes[effect.changes.0 as usize..effect.changes.1 as usize], &effect.sums);
                    return Some(Known { events: effect.events });
                }
            }
        }
    }

    /// A choice was made on the World: it looked at these parts, and changed some. The state follows, and the step is known from now on.
    pub fn learn(&mut self, state: &mut State, choice: Choice, looked: &[Part], world: &World) {
        let first = start(state, choice);
        let mut point = self.ways.get(first);
        let mut last = first;
        let mut learns = self.points.len() + looked.len() < self.points_max;
        let has_rest = (state.sums.rest > 0).then_some(Part::REST);
        let who = Part::process(choice.process.index());
        for part in has_rest.iter().chain(looked).filter(|part| **part != who) {
            if !learns {
                break;
            }
            let at = point.unwrap_or_else(|| self.add(last, Then::Look(*part)));
            // What is looked at next is a function of what was seen before.
            learns = matches!(self.points[at as usize], Then::Look(known) if known == *part);
            debug_assert!(learns, "a step looked at {part:?} where it looked elsewhere before");
            last = way(at, state.number_at(*part));
            point = self.ways.get(last);
        }
        let before = state.sums;
        let changes = state.log.len();
        self.follow(state, world, world.changed_parts());
        if !learns || point.is_some() {
            return;
        }
        let from = self.changes.len() as u32;
        self.changes.extend(state.log[changes..].iter().map(|change| state.present(change.part)));
        let events = self.events.len() as u32;
        self.events.extend_from_slice(world.events());
        self.effects.push(Effect {
            changes: (from, self.changes.len() as u32),
            events: (events, self.events.len() as u32),
            sums: before.to(state.sums),
        });
        self.add(last, Then::Do(self.effects.len() as u32 - 1));
    }

    fn add(&mut self, way: u64, then: Then) -> u32 {
        let point = self.points.len() as u32;
        self.points.push(then);
        self.ways.insert(way, point);
        point
    }

    /// The World was brought to the state it stands at by a step in which these parts may have changed: so is the state.
    pub fn follow(&mut self, state: &mut State, world: &World, parts: impl Iterator<Item = Part>) {
        state.before.push((state.log.len(), state.sums));
        for part in parts {
            self.renew(state, world, part);
        }
        state.sums.rest = self.number_of_rest(world);
        state.sums.steps = world.steps();
    }

    /// The state is the one at which the World stands. No step can be taken back.
    pub fn begin(&mut self, state: &mut State, world: &World) {
        *state = State::default();
        self.follow(state, world, world.parts());
        state.before.clear();
        state.log.clear();
    }

    fn renew(&mut self, state: &mut State, world: &World, part: Part) {
        let look = world.look_at_part(part);
        let number = look.as_ref().map_or(0, |look| self.number(look));
        state.make_room(part);
        let known = state.number(part);
        if number == known {
            return;
        }
        state.log.push(state.present(part));
        if known > 0 {
            state.sums.discount(&self.looks[known as usize - 1]);
        }
        let alternatives = look.map_or(0, |look| {
            state.sums.count(&look);
            look.alternatives
        });
        state.set(Change { part, number, alternatives });
    }

    fn number(&mut self, look: &Look) -> u32 {
        *self.by_identity.entry(look.identity).or_insert_with(|| {
            self.looks.push(*look);
            self.looks.len() as u32
        })
    }

    fn number_of_rest(&mut self, world: &World) -> u32 {
        let rest = world.rest_of_parts();
        if rest.is_nothing() {
            return 0;
        }
        *self.rest_by_identity.entry(rest.identity()).or_insert_with(|| {
            self.rests.push(rest);
            self.rests.len() as u32
        })
    }

    /// What belongs to no part, if there is anything.
    #[inline]
    pub fn rest(&self, state: &State) -> Option<&Rest> {
        self.rests.get((state.sums.rest as usize).wrapping_sub(1))
    }

    /// Whether a process has ended.
    #[inline]
    pub fn has_ended(&self, state: &State, process: Process) -> bool {
        let number = state.number(Part::process(process.index()));
        number == 0 || !self.looks[number as usize - 1].is_live
    }
}

/// A step that was made by what is known.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    events: (u32, u32),
}

/// Where the tree of a choice begins: by who moves and what it is, and whether there is a rest.
#[inline]
fn start(state: &State, choice: Choice) -> u64 {
    let who = state.number(Part::process(choice.process.index()));
    let has_rest = state.sums.rest != 0;
    1 << 63 | u64::from(has_rest) << 62 | u64::from(choice.alternative) << 32 | u64::from(who)
}

/// The way on from a point, by what the part is.
#[inline]
fn way(point: u32, number: u32) -> u64 {
    u64::from(number) << 32 | u64::from(point)
}

impl State {
    /// What a part is, or the rest.
    #[inline]
    fn number_at(&self, part: Part) -> u32 {
        if part == Part::REST { self.sums.rest } else { self.number(part) }
    }

    #[inline]
    fn number(&self, part: Part) -> u32 {
        self.numbers.get(part.index()).copied().unwrap_or(0)
    }

    fn make_room(&mut self, part: Part) {
        if self.numbers.len() <= part.index() {
            self.numbers.resize(part.index() + 1, 0);
            self.alternatives.resize(part.index() / 2 + 1, 0);
        }
    }

    fn present(&self, part: Part) -> Change {
        let alternatives = part.process_index().map_or(0, |index| self.alternatives[index]);
        Change { part, number: self.number(part), alternatives }
    }

    #[inline]
    fn set(&mut self, change: Change) {
        self.numbers[change.part.index()] = change.number;
        if let Some(index) = change.part.process_index() {
            self.alternatives[index] = change.alternatives;
        }
    }

    #[inline]
    fn change(&mut self, changes: &[Change], sums: &Sums) {
        self.before.push((self.log.len(), self.sums));
        for change in changes {
            self.make_room(change.part);
            self.log.push(self.present(change.part));
            self.set(*change);
        }
        self.sums.add(sums);
    }

    /// Takes a step back.
    #[inline]
    pub fn step_back(&mut self) {
        let Some((log, sums)) = self.before.pop() else { crate::bug!("no step to take back") };
        while self.log.len() > log {
            let Some(change) = self.log.pop() else { break };
            self.set(change);
        }
        self.sums = sums;
    }

    /// The fingerprint, but for the rest.
    #[inline]
    pub fn print(&self) -> Print {
        self.sums.print
    }

    /// The order of arrivals.
    #[inline]
    pub fn arrivals(&self) -> Print {
        self.sums.arrivals
    }

    /// Granted ops so far.
    #[inline]
    pub fn steps(&self) -> u64 {
        self.sums.steps
    }

    /// Whether some part has to be looked at where an execution ends.
    #[inline]
    pub fn is_peculiar(&self) -> bool {
        self.sums.peculiar > 0
    }

    /// How many processes can make a step.
    #[inline]
    pub fn enabled(&self) -> u32 {
        self.sums.enabled
    }

    /// Alternatives of a process, and of all.
    #[inline]
    pub fn alternatives(&self, process: Process) -> u32 {
        self.alternatives.get(process.index()).copied().unwrap_or(0)
    }

    /// Alternatives of all processes.
    #[inline]
    pub fn all_alternatives(&self) -> u32 {
        self.sums.alternatives
    }

    /// The processes that can make a step.
    pub fn enabled_processes(&self) -> impl Iterator<Item = Process> {
        let enabled = self.alternatives.iter().enumerate().filter(|(_, alternatives)| **alternatives > 0);
        enabled.map(|(index, _)| Process::new(index as u32))
    }
}

//! Steps that were made before: what a choice does, by what it looks at.
//!
//! A step is a function of what it looks at. Where it looks next is a function of what it saw before: so the steps of a choice are
//! a tree that branches by what is seen, and at its leaves stands what was changed. The same step is thus known at every state that
//! differs elsewhere, and a state is little more than a number for each part.
//!
//! A step that takes further ops inside is several units, one after the other: what the second does depends on what the first took, not on all
//! that the first could have taken.
//!
//! Invariants:
//! - A number stands for one part and one identity ([`crate::world::parts`]); 0 for a part that is not there.
//! - What a step changes, it has looked at, but for messages that it adds or takes. So by how much it changes a sum over the
//!   parts is known, too.

use super::{
    queues::{Messages, Move, Queue},
    state::{Change, State, Sums},
    ways::Ways,
};
use crate::{
    explorer::Event,
    hash::{IdMap, Print},
    ids::{Object, Process},
    world::{
        Choice, World,
        parts::{Moved, Part, PartState, Rest, Seen, Unit},
    },
};

/// What a known unit of a step does.
#[derive(Clone, Copy, Debug)]
struct Effect {
    /// Where its changes, moves and events begin and end.
    changes: (u32, u32),
    moves: (u32, u32),
    events: (u32, u32),
    /// Of all parts but queues.
    sums: Sums,
    /// The step goes on no further.
    is_last: bool,
}

/// What a tree of steps says at a point: where to look next, or what the step does.
#[derive(Clone, Copy, Debug)]
enum Then {
    Look(Seen),
    Do(u32),
}

/// All steps that are known.
#[derive(Debug, Default)]
pub struct Steps {
    by_identity: IdMap<Print, u32>,
    /// By number, from 1.
    parts: Vec<PartState>,
    messages: Messages,
    rest_by_identity: IdMap<Print, u32>,
    rests: Vec<Rest>,
    /// From a choice, or a point of a tree, and what was seen there, to the next point.
    ways: Ways,
    points: Vec<Then>,
    effects: Vec<Effect>,
    changes: Vec<Change>,
    moves: Vec<(Object, Move)>,
    events: Vec<Event>,
    /// The events of the last step.
    present: Vec<Event>,
    /// How many points may be kept before no more steps are.
    points_max: usize,
}

/// Where the tree of a unit ends.
enum Leaf {
    /// What it does is known.
    Known(u32),
    /// It is to be added here.
    Open(u64),
    /// No more may be kept.
    Full,
}

fn range((from, to): (u32, u32)) -> std::ops::Range<usize> {
    from as usize..to as usize
}

/// Adds to a list, and says where it stands there.
fn append<T>(list: &mut Vec<T>, items: impl IntoIterator<Item = T>) -> (u32, u32) {
    let from = list.len() as u32;
    list.extend(items);
    (from, list.len() as u32)
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
        self.moves.clear();
        self.events.clear();
    }

    /// The events of the last step that was made here.
    #[inline]
    pub fn last_events(&self) -> &[Event] {
        &self.present
    }

    /// Makes a choice at a state, if what it does there is known. The World has the names.
    #[inline]
    pub fn make(&mut self, state: &mut State, choice: Choice, world: &World) -> bool {
        state.begin_step();
        self.present.clear();
        let mut point = self.ways.get(start(state, choice.process, choice.alternative));
        while let Some(at) = point {
            match self.points[at as usize] {
                Then::Look(seen) => {
                    point = self.see(state, seen).and_then(|seen| self.ways.get(way(at, seen)));
                }
                Then::Do(effect) => {
                    if self.have(state, effect, world) {
                        return true;
                    }
                    point = self.ways.get(start(state, choice.process, GOES_ON));
                }
            }
        }
        state.step_back();
        false
    }

    /// What is to be seen there; none if no step saw that.
    #[inline]
    fn see(&self, state: &State, what: Seen) -> Option<u32> {
        let queue = |object| state.queue(object);
        Some(match what {
            Seen::Part(Part::REST) => state.sums.rest,
            Seen::Part(part) => state.number(part),
            Seen::Has(object, place) => queue(object).map_or(0, |queue| u32::from(queue.count() > place)),
            Seen::At(object, place) => queue(object).map_or(0, |queue| queue.at(place)),
            Seen::Count(object) => queue(object).map_or(0, Queue::count),
            Seen::All(object) => return self.messages.whole(queue(object)),
        })
    }

    /// Has the state change as a unit does. Whether it is the last of its step.
    #[inline]
    fn have(&mut self, state: &mut State, effect: u32, world: &World) -> bool {
        let Self { effects, changes, moves, events, messages, present, .. } = self;
        let effect = &effects[effect as usize];
        for change in &changes[range(effect.changes)] {
            state.change(*change);
        }
        for (object, how) in &moves[range(effect.moves)] {
            state.move_messages(*object, *how, messages, world);
        }
        state.sums.add(&effect.sums);
        present.extend_from_slice(&events[range(effect.events)]);
        effect.is_last
    }

    /// A choice was made on the World, in these units. The state follows, and the step is known from now on.
    ///
    /// False if no more may be kept: then state and steps are of no use any more.
    pub fn learn(&mut self, state: &mut State, choice: Choice, units: &[Unit], world: &World) -> bool {
        state.begin_step();
        self.present.clear();
        for (index, unit) in units.iter().enumerate() {
            let alternative = if index == 0 { choice.alternative } else { GOES_ON };
            let is_last = index + 1 == units.len();
            let effect = match self.leaf(state, choice.process, alternative, unit) {
                Leaf::Known(effect) => effect,
                Leaf::Open(way) => {
                    let effect = self.add_effect(state, unit, is_last);
                    self.add(way, Then::Do(effect));
                    effect
                }
                Leaf::Full => return false,
            };
            self.have(state, effect, world);
        }
        true
    }

    fn add_effect(&mut self, state: &State, unit: &Unit, is_last: bool) -> u32 {
        let mut sums = state.sums;
        (sums.rest, sums.steps) = (self.number_of_rest(&unit.rest), unit.steps);
        let from = self.changes.len() as u32;
        for (part, looked) in &unit.parts {
            let (before, change) = (state.number(*part), self.number(*part, *looked));
            if change.number != before {
                self.exchange(&mut sums, before, change.number);
                self.changes.push(change);
            }
        }
        let is_muddled = |object: Object| unit.muddled.iter().any(|(muddled, _)| *muddled == object);
        let mut moves = Vec::new();
        for (object, how) in unit.moved.iter().filter(|(object, _)| !is_muddled(*object)) {
            match how {
                Moved::Added(queued) => moves.push((*object, Move::Add(self.messages.number(queued)))),
                Moved::Taken(place) => moves.push((*object, Move::Take(*place))),
                Moved::Muddled => {}
            }
        }
        // What is muddled was looked at, all of it: so what it is then is known.
        for (object, (delivery, queue)) in &unit.muddled {
            moves.push((*object, Move::Become(self.messages.list(*delivery, queue))));
        }
        self.effects.push(Effect {
            changes: (from, self.changes.len() as u32),
            moves: append(&mut self.moves, moves),
            events: append(&mut self.events, unit.events[self.present.len()..].iter().copied()),
            sums: state.sums.to(sums),
            is_last,
        });
        self.effects.len() as u32 - 1
    }

    /// Where a unit is in the trees. What is looked at on the way is added.
    fn leaf(&mut self, state: &State, process: Process, alternative: u32, unit: &Unit) -> Leaf {
        if self.points.len() + unit.seen.len() >= self.points_max {
            return Leaf::Full;
        }
        let rest = (state.sums.rest > 0).then_some(Seen::Part(Part::REST));
        let who = Seen::Part(Part::process(process.index()));
        let mut last = start(state, process, alternative);
        for seen in rest.iter().chain(&unit.seen).filter(|seen| **seen != who) {
            let at = self.ways.get(last).unwrap_or_else(|| self.add(last, Then::Look(*seen)));
            // Where it looks next is a function of what it saw before.
            let agrees = matches!(self.points[at as usize], Then::Look(known) if known == *seen);
            debug_assert!(agrees, "a step looked at {seen:?}, and did {:?} before", self.points[at as usize]);
            if !agrees {
                return Leaf::Full;
            }
            let what = match *seen {
                Seen::All(object) => self.messages.see_whole(state.queue(object)),
                seen => self.see(state, seen).unwrap_or_default(),
            };
            last = way(at, what);
        }
        match self.ways.get(last).map(|at| self.points[at as usize]) {
            None => Leaf::Open(last),
            Some(Then::Do(effect)) => Leaf::Known(effect),
            Some(Then::Look(_)) => Leaf::Full,
        }
    }

    fn add(&mut self, way: u64, then: Then) -> u32 {
        let point = self.points.len() as u32;
        self.points.push(then);
        self.ways.insert(way, point);
        point
    }

    /// The World stands at another state, and so does this from now on.
    pub fn follow(&mut self, state: &mut State, world: &World) {
        state.begin_step();
        let gone: Vec<Part> = state.parts().filter(|part| !world.has_part(*part)).collect();
        for part in world.parts().chain(gone) {
            let before = state.number(part);
            let change = self.number(part, world.look_at_part(part));
            if change.number != before {
                state.change(change);
                self.exchange(&mut state.sums, before, change.number);
            }
        }
        let gone: Vec<Object> = state.objects().filter(|object| !world.objects().contains(object)).collect();
        for object in world.objects().iter().copied().chain(gone) {
            let queue = world.queue_of(object).map(|(delivery, queue)| {
                let numbers = self.messages.numbers(&queue);
                Queue::of(object, delivery, &numbers, &self.messages, world)
            });
            state.replace_queue(object, queue);
        }
        (state.sums.rest, state.sums.steps) = (self.number_of_rest(&world.rest_of_parts()), world.steps());
    }

    /// The state at which the World stands. No step can be taken back.
    pub fn begin(&mut self, world: &World) -> State {
        let mut state = State::default();
        self.follow(&mut state, world);
        state.forget_steps();
        state
    }

    fn number(&mut self, part: Part, looked: Option<PartState>) -> Change {
        let Some(looked) = looked else { return Change { part, number: 0, alternatives: 0 } };
        let parts = &mut self.parts;
        let number = *self.by_identity.entry(looked.identity).or_insert_with(|| {
            parts.push(looked);
            parts.len() as u32
        });
        Change { part, number, alternatives: looked.alternatives }
    }

    /// What the sums are when a part is no more what it was.
    fn exchange(&self, sums: &mut Sums, before: u32, after: u32) {
        let part = |number: u32| self.parts.get((number as usize).wrapping_sub(1));
        if let Some(part) = part(before) {
            sums.discount(part);
        }
        if let Some(part) = part(after) {
            sums.count(part);
        }
    }

    fn number_of_rest(&mut self, rest: &Rest) -> u32 {
        if rest.is_nothing() {
            return 0;
        }
        *self.rest_by_identity.entry(rest.identity()).or_insert_with(|| {
            self.rests.push(rest.clone());
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
        number == 0 || !self.parts[number as usize - 1].is_live
    }
}

/// In place of an alternative: the step goes on.
const GOES_ON: u32 = 1 << 29;

/// Where the tree of a unit begins: by who moves and what it is, and whether there is a rest.
#[inline]
fn start(state: &State, process: Process, alternative: u32) -> u64 {
    let who = state.number(Part::process(process.index()));
    let has_rest = state.sums.rest != 0;
    1 << 63 | u64::from(has_rest) << 62 | u64::from(alternative) << 32 | u64::from(who)
}

/// The way on from a point, by what is seen there.
#[inline]
fn way(point: u32, seen: u32) -> u64 {
    u64::from(seen) << 32 | u64::from(point)
}

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
//! - What a step changes, it has looked at, but for messages that it adds or takes, and who begins or ends to wait. So by how much it changes a sum over the
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
        parts::{Alternatives, Line, Moved, Part, PartState, Rest, Seen, Unit, Waits},
        words::Delivery,
    },
};

/// What a known unit of a step does.
#[derive(Clone, Copy, Debug)]
struct Effect {
    /// By how much the sums are more, of all parts but queues; the rest that is there then.
    sums: Sums,
    /// Where its deeds begin, and how many they are.
    from: u32,
    count: u32,
    /// The step goes on no further.
    is_last: bool,
}

/// One thing that a unit does.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Change(Change),
    Move(Object, Move),
    Wait(Line, Waits),
    /// A process does not wait in a line any more, and then waits there again.
    WaitAgain(Line, Process),
    Tell(Event),
}

/// A point of a tree of steps: where to look, what was seen there the first time, and how it went on then. Other ways on stand in the
/// table: a step mostly finds what it found before, and the way on is then beside it in memory.
#[derive(Clone, Copy, Debug)]
struct Point {
    look: Seen,
    seen: u32,
    then: Then,
}

/// In place of what was seen: nothing was yet.
const NOTHING: u32 = u32::MAX;

/// How a tree goes on: at a point, or at its end with what the unit does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Then(u32);

impl Then {
    const END: u32 = 1 << 31;

    fn look(point: u32) -> Self {
        Self(point)
    }

    fn act(effect: u32) -> Self {
        Self(effect | Self::END)
    }

    /// The effect, at an end; else the point.
    #[inline]
    fn end(self) -> Result<u32, u32> {
        if self.0 & Self::END == 0 { Err(self.0) } else { Ok(self.0 & !Self::END) }
    }
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
    /// From a choice to where its tree begins.
    starts: Ways,
    /// From a point and what was seen there to how it goes on, unless that stands in the point.
    ways: Ways,
    points: Vec<Point>,
    effects: Vec<Effect>,
    deeds: Vec<Deed>,
    /// The events of the last step.
    present: Vec<Event>,
    /// How many points and ends of trees may be kept before no more steps are.
    points_max: usize,
}

/// What leads on in a tree.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// A choice: where the tree begins.
    Start(u64),
    /// A point, and what was seen there.
    Seen(u32, u32),
}

/// Where the tree of a unit ends.
enum Leaf {
    /// What it does is known.
    Known(u32),
    /// It is to be added here.
    Open(Way),
    /// No more may be kept.
    Full,
}

impl Steps {
    /// Nothing is known yet; at most so many points of trees will be.
    pub fn new(points_max: usize) -> Self {
        Self { points_max, ..Self::default() }
    }

    /// Forgets all steps, for what decides them has changed.
    pub fn forget(&mut self) {
        (self.starts, self.ways) = (Ways::default(), Ways::default());
        self.points.clear();
        self.effects.clear();
        self.deeds.clear();
        self.messages.forget_lists();
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
        let mut first = begins(choice);
        while let Some(effect) = self.find(state, choice.process, first) {
            if self.have(state, effect, world) {
                // What invariants have not seen yet, the World shows them.
                if state.news().is_none_or(|shown| world.invariants_hold_of(shown)) {
                    return true;
                }
                break;
            }
            first = GOES_ON;
        }
        state.step_back();
        false
    }

    /// What the next unit of a choice does, if that is known.
    #[inline]
    fn find(&self, state: &State, process: Process, first: u32) -> Option<u32> {
        let mut way = Way::Start(start(state, process, first)?);
        loop {
            match self.then(way)?.end() {
                Ok(effect) => return Some(effect),
                Err(at) => way = Way::Seen(at, self.see(state, self.points[at as usize].look)?),
            }
        }
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
            Seen::Senders(object) => queue(object).map_or(0, |queue| queue.senders(&self.messages)),
            Seen::From(object, sender) => {
                queue(object).map_or(0, |queue| u32::from(queue.has_from(sender, &self.messages)))
            }
            Seen::Head(object, head) => queue(object).map_or(0, |queue| queue.head(head, &self.messages)),
            Seen::Behind(object, head) => {
                queue(object).map_or(0, |queue| u32::from(queue.has_behind(head, &self.messages)))
            }
            Seen::Waiting(line) => return self.messages.waiting(state.line(line)),
        })
    }

    /// Has the state change as a unit does. Whether it is the last of its step.
    #[inline]
    fn have(&mut self, state: &mut State, effect: u32, world: &World) -> bool {
        let Self { effects, deeds, messages, present, .. } = self;
        let effect = &effects[effect as usize];
        for deed in &deeds[effect.from as usize..][..effect.count as usize] {
            match *deed {
                Deed::Change(change) => state.change(change),
                Deed::Move(object, how) => state.move_messages(object, how, messages, world),
                Deed::Wait(line, how) => state.wait(line, how),
                Deed::WaitAgain(line, process) => state.wait_again(line, process),
                Deed::Tell(event) => present.push(event),
            }
        }
        state.sums.add(&effect.sums);
        effect.is_last
    }

    /// A choice was made on the World, in these units. The state follows, and the step is known from now on.
    ///
    /// False if no more may be kept: then state and steps are of no use any more.
    pub fn learn(&mut self, state: &mut State, choice: Choice, units: &[Unit], world: &World) -> bool {
        state.begin_step();
        self.present.clear();
        for (index, unit) in units.iter().enumerate() {
            let first = if index == 0 { begins(choice) } else { GOES_ON };
            let is_last = index + 1 == units.len();
            let effect = match self.leaf(state, choice.process, first, unit) {
                Leaf::Known(effect) => effect,
                Leaf::Open(way) => {
                    let effect = self.add_effect(state, unit, is_last);
                    self.lead(way, Then::act(effect));
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
        let from = self.deeds.len();
        for (part, looked) in &unit.parts {
            let (before, change) = (state.number(*part), self.number(*part, *looked));
            if change.number != before {
                self.exchange(&mut sums, before, change.number);
                self.deeds.push(Deed::Change(change));
            }
        }
        let is_muddled = |object: Object| unit.muddled.iter().any(|(muddled, _)| *muddled == object);
        for (object, how) in unit.moved.iter().filter(|(object, _)| !is_muddled(*object)) {
            let how = match how {
                Moved::Added(queued) => Move::Add(self.messages.number(queued)),
                Moved::Taken(place) => Move::Take(*place),
                Moved::TakenHead(head) => Move::TakeHead(*head),
                Moved::Muddled => continue,
            };
            self.deeds.push(Deed::Move(*object, how));
        }
        // What is muddled was looked at, all of it: so what it is then is known.
        for (object, (delivery, queue)) in &unit.muddled {
            self.deeds.push(Deed::Move(*object, Move::Become(self.messages.list(*delivery, queue))));
        }
        for (line, how) in &unit.waited {
            self.add_waiting(from, *line, *how);
        }
        self.deeds.extend(unit.events[self.present.len()..].iter().map(|event| Deed::Tell(*event)));
        let count = (self.deeds.len() - from) as u32;
        self.effects.push(Effect { sums: state.sums.to(sums), from: from as u32, count, is_last });
        self.effects.len() as u32 - 1
    }

    /// One more deed of the unit whose deeds begin there.
    fn add_waiting(&mut self, from: usize, line: Line, how: Waits) {
        let is_of_line = |deed: &Deed| match deed {
            Deed::Wait(other, _) | Deed::WaitAgain(other, _) => *other == line,
            Deed::Change(_) | Deed::Move(..) | Deed::Tell(_) => false,
        };
        let last = self.deeds[from..].iter().rposition(is_of_line).map(|at| from + at);
        if let (Some(last), Waits::Begins(process)) = (last, how)
            && matches!(self.deeds[last], Deed::Wait(_, Waits::Ends(ended)) if ended == process)
        {
            self.deeds[last] = Deed::WaitAgain(line, process);
        } else {
            self.deeds.push(Deed::Wait(line, how));
        }
    }

    /// Where a unit is in the trees. What is looked at on the way is added.
    fn leaf(&mut self, state: &State, process: Process, first: u32, unit: &Unit) -> Leaf {
        if self.points.len() + self.effects.len() + unit.seen.len() >= self.points_max {
            return Leaf::Full;
        }
        let rest = (state.sums.rest > 0).then_some(Seen::Part(Part::REST));
        let who = [Part::process(process.index()), Part::history(process.index())].map(Seen::Part);
        let Some(start) = start(state, process, first) else { return Leaf::Full };
        let mut way = Way::Start(start);
        for seen in rest.iter().chain(&unit.seen).filter(|seen| !who.contains(seen)) {
            let at = match self.then(way).map(Then::end) {
                Some(Err(at)) => at,
                Some(Ok(_)) => return Leaf::Full,
                None => {
                    self.points.push(Point { look: *seen, seen: NOTHING, then: Then::look(0) });
                    let at = self.points.len() as u32 - 1;
                    self.lead(way, Then::look(at));
                    at
                }
            };
            // Where it looks next is a function of what it saw before.
            let known = self.points[at as usize].look;
            debug_assert!(known == *seen, "a step looked at {seen:?}, and did {known:?} before");
            if known != *seen {
                return Leaf::Full;
            }
            let what = match *seen {
                Seen::All(object) => self.messages.see_whole(state.queue(object)),
                Seen::Waiting(line) => self.messages.see_waiting(state.line(line)),
                seen => self.see(state, seen).unwrap_or_default(),
            };
            way = Way::Seen(at, what);
        }
        match self.then(way).map(Then::end) {
            None => Leaf::Open(way),
            Some(Ok(effect)) => Leaf::Known(effect),
            Some(Err(_)) => Leaf::Full,
        }
    }

    /// Where a way leads.
    #[inline]
    fn then(&self, way: Way) -> Option<Then> {
        match way {
            Way::Start(key) => self.starts.get(key).map(Then),
            Way::Seen(at, seen) => {
                let point = &self.points[at as usize];
                if seen == point.seen { Some(point.then) } else { self.ways.get(key(at, seen)).map(Then) }
            }
        }
    }

    /// Has a way lead there.
    fn lead(&mut self, way: Way, then: Then) {
        match way {
            Way::Start(key) => self.starts.insert(key, then.0),
            Way::Seen(at, seen) => {
                let point = &mut self.points[at as usize];
                if point.seen == NOTHING {
                    (point.seen, point.then) = (seen, then);
                } else {
                    self.ways.insert(key(at, seen), then.0);
                }
            }
        }
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
            Self::follow_lines(state, object, world);
        }
        (state.sums.rest, state.sums.steps) = (self.number_of_rest(&world.rest_of_parts()), world.steps());
    }

    /// Who waits for a mailbox.
    fn follow_lines(state: &mut State, object: Object, world: &World) {
        for (line, waiting) in world.lines_of(object) {
            state.replace_line(line, waiting);
        }
    }

    /// The state at which the World stands. No step can be taken back.
    pub fn begin(&mut self, world: &World) -> State {
        let mut state = State::default();
        self.follow(&mut state, world);
        state.forget_steps();
        state
    }

    fn number(&mut self, part: Part, looked: Option<PartState>) -> Change {
        let Some(looked) = looked else { return Change { part, number: 0, alternatives: Alternatives::Are(0) } };
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

    /// The prints of the parts of a state.
    pub fn prints<'s>(&'s self, state: &'s State) -> impl Iterator<Item = Print> {
        state.parts().map(|part| self.parts[state.number(part) as usize - 1].print)
    }

    /// Its queues: the print of each, and of each message its sender and what it is.
    pub fn queues<'s>(
        &'s self,
        state: &'s State,
    ) -> impl Iterator<Item = (Object, Print, Delivery, impl Iterator<Item = (Process, Print)>)> {
        state.queues().map(|queue| queue.content(&self.messages))
    }

    /// What belongs to no part, if there is anything.
    #[inline]
    pub fn rest(&self, state: &State) -> Option<&Rest> {
        self.rests.get((state.sums.rest as usize).wrapping_sub(1))
    }

    /// The order of arrivals, where the fingerprint leaves it out.
    pub fn arrivals(&self, state: &State, world: &World) -> Print {
        let of = |queue: &Queue| queue.arrivals(&self.messages, world);
        state.queues().fold(Print::default(), |bag, queue| bag.plus(of(queue)))
    }

    /// Whether a process has ended.
    #[inline]
    pub fn has_ended(&self, state: &State, process: Process) -> bool {
        let number = state.number(Part::process(process.index()));
        number == 0 || !self.parts[number as usize - 1].is_live
    }
}

/// The first thing a unit is told by, where its step only goes on.
const GOES_ON: u32 = 0;

/// The same, where its step begins.
#[inline]
fn begins(choice: Choice) -> u32 {
    choice.alternative.saturating_add(1)
}

/// Where the tree of a unit begins: by who moves, what it is and has seen, and whether there is a rest. None where numbers are too large for
/// that.
#[inline]
fn start(state: &State, process: Process, first: u32) -> Option<u64> {
    let (who, seen) = if process.is_environment() {
        // No process has the number 0.
        (0, u32::from(process == Process::CLOCK))
    } else {
        (state.number(Part::process(process.index())), state.number(Part::history(process.index())))
    };
    let has_rest = state.sums.rest != 0;
    let key = u64::from(has_rest) << 62 | u64::from(first) << 42 | u64::from(who) << 21 | u64::from(seen);
    ((who | seen) >> 21 == 0 && first >> 20 == 0).then_some(key)
}

/// The way on from a point, by what is seen there.
#[inline]
fn key(point: u32, seen: u32) -> u64 {
    u64::from(seen) << 32 | u64::from(point)
}

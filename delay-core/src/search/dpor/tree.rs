//! The tree of what was visited and is not finished: the states on the present path, and those with steps left for a larger bound.
//!
//! Invariants:
//! - A state is kept as long as a step from it, or from one below it, waits for a larger bound. What was begun at it is kept with it.
//! - A sleeping step refers to a state above, on the same path, which is kept as long as this one is.
//! - A choice is made before anything else happens, so that a step and the choices it leads to are one [unit](Unit): it is units that sleep, each
//!   with its outcomes, and what sleeps below is decided once the last choice is made.
//! - In the steady state nothing is allocated: the states that are finished are used again. Nothing is left at those.

use super::trace::Race;
use crate::{
    hash::Print,
    ids::Process,
    world::{
        Choice,
        access::{Access, Kind},
    },
};

/// More delays than there are.
pub(super) const NEVER: u32 = u32::MAX;

/// A state, by its place in the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Node(u32);

/// A step that was begun at some state.
#[derive(Clone, Copy, Debug)]
struct Begun {
    process: Process,
    /// What tells it from the other alternatives of its process.
    key: u64,
    what: What,
    /// Where what it touched begins and ends.
    from: u32,
    to: u32,
    /// Once something else was begun there: before that nobody asks.
    outline: Outline,
}

/// What a step touched, in short: most that cannot meet are told apart by this.
#[derive(Clone, Copy, Debug, Default)]
struct Outline {
    /// A bit for each place at which something depends on the order; several places may have one.
    places: u64,
    /// It keeps others from doing what they wait for.
    takes_away: bool,
}

impl Outline {
    fn of(touched: &[Access]) -> Self {
        let mut outline = Self::default();
        for access in touched {
            if access.kind.dependents() != 0 {
                outline.places |= 1 << (access.place.index() % 64);
            }
            outline.takes_away |= access.kind == Kind::Abort;
        }
        outline
    }

    #[inline]
    fn may_meet(self, other: Self) -> bool {
        self.places & other.places != 0 || self.takes_away || other.takes_away
    }
}

/// What was begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// A step, and that is all.
    Step,
    /// A step that leads to a choice.
    Opening,
    /// Such a step with the outcomes of its choices.
    Unit,
}

/// A step that leads to a choice that is not made yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// The state it begins at.
    pub(super) from: Node,
    process: Process,
    /// What tells it, and the outcomes so far, from others.
    key: u64,
}

impl Unit {
    /// What tells it from others with this outcome more.
    pub(super) fn key_with(&self, choice: Choice) -> u64 {
        let print = Print::default().with(self.key).with(u64::from(choice.process.number()));
        print.with(u64::from(choice.alternative)).short()
    }
}

/// A step that was begun at a state above, and that nothing since has come in the way of: what it leads to is visited from there.
#[derive(Clone, Copy, Debug)]
struct Sleeper {
    at: Node,
    number: u32,
}

/// A state, or room for one.
#[derive(Debug)]
pub(super) struct State<E> {
    /// The step that leads here from the state above.
    pub(super) choice: Choice,
    pub(super) key: u64,
    /// Delays at the state above, for that step.
    pub(super) spent: u32,
    /// Delays from the start.
    pub(super) delays: u32,
    /// What the processes have seen: another execution of the path comes to the same.
    pub(super) seen: u64,
    pub(super) explorer: E,
    /// Steps that are not made from here on until something comes in their way.
    sleepers: Vec<Sleeper>,
    /// Processes whose steps are to be made from here.
    pub(super) wanted: Vec<Process>,
    /// Steps that were begun here, in that order.
    begun: Vec<Begun>,
    /// What these touched.
    touched: Vec<Access>,
    /// Unfinished states right below that are not on the path.
    pub(super) below: Vec<Node>,
    /// A choice is to be made here, which this led to.
    pub(super) unit: Option<Unit>,
    /// What was touched since that began.
    so_far: Vec<Access>,
    /// Its races: their other order has to lead to what the choice touches, too, which is seen when it is made.
    pub(super) races: Vec<Race>,
    /// Something was begun here that does not sleep, whatever comes of its choices.
    pub(super) is_fruitful: bool,
    /// How many processes can make a step, if each can make one only: then the explorer alone knows what a step costs.
    pub(super) enabled: Option<u32>,
    /// Something may be left to do here that nobody has looked for.
    pub(super) is_open: bool,
    /// Fewest delays of an execution that goes on from here; [`NEVER`] if none is left.
    pub(super) least: u32,
    /// The same of the states in `below`.
    pub(super) least_below: u32,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Tree<E> {
    states: Vec<State<E>>,
    free: Vec<Node>,
}

impl<E: Clone> Tree<E> {
    pub(super) const fn new() -> Self {
        Self { states: Vec::new(), free: Vec::new() }
    }

    #[inline]
    pub(super) fn at(&self, node: Node) -> &State<E> {
        &self.states[node.0 as usize]
    }

    #[inline]
    pub(super) fn at_mut(&mut self, node: Node) -> &mut State<E> {
        &mut self.states[node.0 as usize]
    }

    /// A state that nothing was begun at. Its explorer is taken out of `explorer`, which gets another one in exchange, of no meaning.
    pub(super) fn add(&mut self, choice: Choice, key: u64, spent: u32, delays: u32, explorer: &mut E) -> Node {
        let node = self.free.pop().unwrap_or_else(|| {
            let Some(number) = u32::try_from(self.states.len()).ok() else { crate::bug!("more states than numbers") };
            self.states.push(State::new(choice, explorer.clone()));
            Node(number)
        });
        let state = &mut self.states[node.0 as usize];
        (state.choice, state.key, state.spent, state.delays) = (choice, key, spent, delays);
        (state.is_open, state.least, state.least_below) = (true, NEVER, NEVER);
        (state.unit, state.is_fruitful) = (None, false);
        state.so_far.clear();
        state.races.clear();
        std::mem::swap(&mut state.explorer, explorer);
        state.sleepers.clear();
        state.wanted.clear();
        state.begun.clear();
        state.touched.clear();
        state.below.clear();
        node
    }

    /// The state is finished.
    pub(super) fn remove(&mut self, node: Node) {
        debug_assert!(!self.at(node).is_open && self.at(node).least_of_all() == NEVER, "nothing is left there");
        self.free.push(node);
    }

    /// A step from a state was begun.
    pub(super) fn begin(&mut self, node: Node, process: Process, key: u64, what: What, touched: &[Access]) {
        let state = &mut self.states[node.0 as usize];
        if let Some(before) = state.begun.last_mut() {
            before.outline = Outline::of(&state.touched[before.from as usize..before.to as usize]);
        }
        let from = state.touched.len() as u32;
        state.touched.extend_from_slice(touched);
        let to = state.touched.len() as u32;
        state.begun.push(Begun { process, key, what, from, to, outline: Outline::default() });
    }

    /// A sleeping step, and what it touches.
    #[inline]
    fn sleeper(&self, sleeper: Sleeper) -> (&Begun, &[Access]) {
        let state = self.at(sleeper.at);
        let begun = &state.begun[sleeper.number as usize];
        (begun, &state.touched[begun.from as usize..begun.to as usize])
    }

    /// What sleeps at a state.
    #[inline]
    fn asleep(&self, node: Node) -> impl Iterator<Item = &Begun> {
        self.at(node).sleepers.iter().map(|sleeper| self.sleeper(*sleeper).0)
    }

    /// Whether a step sleeps at a state.
    #[inline]
    pub(super) fn sleeps(&self, node: Node, process: Process, key: u64) -> bool {
        self.asleep(node).any(|begun| (begun.process, begun.key) == (process, key))
    }

    /// Whether a step is not to be made at a state: it was begun there, or sleeps.
    #[inline]
    pub(super) fn is_settled(&self, node: Node, process: Process, key: u64) -> bool {
        self.at(node).begun.iter().any(|begun| (begun.process, begun.key) == (process, key))
            || self.sleeps(node, process, key)
    }

    /// Whether some step of a process is not to be made at a state.
    #[inline]
    pub(super) fn is_settled_for(&self, node: Node, process: Process) -> bool {
        self.at(node).begun.iter().any(|begun| begun.process == process)
            || self.asleep(node).any(|begun| begun.process == process && begun.what == What::Step)
    }

    /// A step from `above` leads to a choice, at `below`.
    #[cold]
    pub(super) fn open(&mut self, above: Node, below: Node, choice: Choice, key: u64, touched: &[Access]) {
        let mut so_far = std::mem::take(&mut self.at_mut(below).so_far);
        let unit = match self.at(above).unit {
            None => Unit { from: above, process: choice.process, key },
            Some(unit) => {
                so_far.extend_from_slice(&self.at(above).so_far);
                Unit { key: unit.key_with(choice), ..unit }
            }
        };
        so_far.extend_from_slice(touched);
        let state = self.at_mut(below);
        (state.so_far, state.unit) = (so_far, Some(unit));
    }

    /// The last choice of a unit is made at `above`: says where the unit began.
    #[cold]
    pub(super) fn close(&mut self, above: Node, unit: Unit, choice: Choice, touched: &[Access]) -> Node {
        let mut so_far = std::mem::take(&mut self.at_mut(above).so_far);
        let length = so_far.len();
        so_far.extend_from_slice(touched);
        self.begin(unit.from, unit.process, unit.key_with(choice), What::Unit, &so_far);
        so_far.truncate(length);
        self.at_mut(above).so_far = so_far;
        self.at_mut(unit.from).is_fruitful = true;
        unit.from
    }

    /// Whether a unit sleeps once this choice is made.
    #[cold]
    pub(super) fn sleeps_with(&self, unit: &Unit, choice: Choice) -> bool {
        let key = unit.key_with(choice);
        self.asleep(unit.from).any(|begun| (begun.process, begun.key, begun.what) == (unit.process, key, What::Unit))
    }

    /// Lets those steps sleep on below what was begun last at `above` that do not meet it.
    #[inline]
    pub(super) fn hand_down(&mut self, above: Node, below: Node) {
        let state = self.at(above);
        if state.begun.len() < 2 && state.sleepers.is_empty() {
            return;
        }
        let mut sleepers = std::mem::take(&mut self.at_mut(below).sleepers);
        let state = self.at(above);
        let Some((made, earlier)) = state.begun.split_last() else { crate::bug!("nothing was begun") };
        let touched = &state.touched[made.from as usize..made.to as usize];
        let outline = Outline::of(touched);
        let sleeps = |sleeper: &Sleeper| {
            let (begun, theirs) = self.sleeper(*sleeper);
            let meets = begun.process == made.process
                || begun.outline.may_meet(outline) && meet((begun.process, theirs), (made.process, touched));
            begun.what != What::Opening && !meets
        };
        let begun = (0..earlier.len() as u32).map(|number| Sleeper { at: above, number });
        sleepers.extend(state.sleepers.iter().copied().chain(begun).filter(sleeps));
        self.at_mut(below).sleepers = sleepers;
    }

    /// How many states have steps left.
    pub(super) fn unfinished(&self) -> u64 {
        self.states.iter().filter(|state| state.is_open || state.least != NEVER).count() as u64
    }
}

impl<E> State<E> {
    fn new(choice: Choice, explorer: E) -> Self {
        Self {
            choice,
            key: 0,
            spent: 0,
            delays: 0,
            seen: 0,
            explorer,
            sleepers: Vec::new(),
            wanted: Vec::new(),
            begun: Vec::new(),
            touched: Vec::new(),
            below: Vec::new(),
            unit: None,
            so_far: Vec::new(),
            races: Vec::new(),
            is_fruitful: false,
            enabled: None,
            is_open: true,
            least: NEVER,
            least_below: NEVER,
        }
    }

    /// How many steps were begun here.
    #[inline]
    pub(super) fn steps(&self) -> u32 {
        self.begun.iter().filter(|begun| begun.what != What::Unit).count() as u32
    }

    /// Fewest delays of an execution that goes on from here or below.
    #[inline]
    pub(super) fn least_of_all(&self) -> u32 {
        self.least.min(self.least_below)
    }
}

/// Whether it matters in which order two steps of different processes are made that can both be made.
fn meet(one: (Process, &[Access]), other: (Process, &[Access])) -> bool {
    let ((mine, my), (theirs, their)) = (one, other);
    let takes_away = |accesses: &[Access], process| accesses.iter().any(|access| access.aborts(process));
    let dependent = |access: &Access| their.iter().any(|other| access.is_dependent_on(other));
    my.iter().any(dependent) || takes_away(my, theirs) || takes_away(their, mine)
}

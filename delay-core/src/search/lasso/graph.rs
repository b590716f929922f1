//! The explored part of the state graph, as far as fairness needs it.
//!
//! Invariants: a state's number is its place in order of discovery, the initial state's is 0; sets are interned, ascending
//! and without repetition, so that equal ones have equal numbers.

use crate::{
    hash::{IdMap, Print},
    world::{Choice, Demand},
};

/// Number of a state.
pub(super) type Number = u32;

/// Number of an interned set of demands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Set(u32);

/// One explored transition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Edge {
    pub(super) to: Number,
    pub(super) choice: Choice,
    /// Demands that it meets.
    pub(super) met: Set,
    /// Monitors that are hot all through it, as bits.
    pub(super) hot: u64,
}

/// One explored state.
#[derive(Debug)]
pub(super) struct State {
    pub(super) print: Print,
    /// Demands that are open in it.
    pub(super) open: Set,
    /// The number of outcomes of the fair choice that is to be made in it; 0 if none is. The alternative of an edge is then
    /// the outcome.
    pub(super) outcomes: u32,
    pub(super) edges: Vec<Edge>,
}

/// The graph.
#[derive(Debug, Default)]
pub(super) struct Graph {
    states: Vec<State>,
    numbers: IdMap<Print, Number>,
    sets: Vec<Box<[Demand]>>,
    set_numbers: IdMap<Box<[Demand]>, Set>,
    edges: u64,
    /// Monitors that are hot all through some edge, as bits.
    hot: u64,
}

impl Graph {
    /// The states, by number.
    pub(super) fn states(&self) -> &[State] {
        &self.states
    }

    /// One state.
    pub(super) fn state(&self, number: Number) -> &State {
        &self.states[number as usize]
    }

    /// How many edges there are.
    pub(super) fn edges(&self) -> u64 {
        self.edges
    }

    /// Monitors that are hot all through some edge, as bits.
    pub(super) fn hot(&self) -> u64 {
        self.hot
    }

    /// The demands of a set.
    pub(super) fn demands(&self, set: Set) -> &[Demand] {
        &self.sets[set.0 as usize]
    }

    /// Whether a set holds a demand.
    pub(super) fn holds(&self, set: Set, demand: &Demand) -> bool {
        self.demands(set).binary_search(demand).is_ok()
    }

    /// The number of a set; the demands must be ascending.
    pub(super) fn set(&mut self, demands: Vec<Demand>) -> Set {
        debug_assert!(demands.is_sorted_by(|a, b| a < b), "a set is ascending, without repetition");
        let demands = demands.into_boxed_slice();
        if let Some(known) = self.set_numbers.get(&demands) {
            return *known;
        }
        let set = Set(self.sets.len() as u32);
        self.sets.push(demands.clone());
        self.set_numbers.insert(demands, set);
        set
    }

    /// The number of a state, if it is known.
    pub(super) fn number(&self, print: Print) -> Option<Number> {
        self.numbers.get(&print).copied()
    }

    /// Adds a state that is not known yet.
    pub(super) fn add_state(&mut self, print: Print, open: Set, outcomes: u32) -> Number {
        let number = self.states.len() as Number;
        self.states.push(State { print, open, outcomes, edges: Vec::new() });
        self.numbers.insert(print, number);
        number
    }

    /// Adds an edge, unless it is known.
    pub(super) fn add_edge(&mut self, from: Number, edge: Edge) {
        let edges = &mut self.states[from as usize].edges;
        if !edges.contains(&edge) {
            edges.push(edge);
            self.edges += 1;
            self.hot |= edge.hot;
        }
    }
}

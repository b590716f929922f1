//! Fair lassos: loops in which a monitor stays hot although nothing is put off for ever.
//!
//! SES writes down what it explores as a graph; at the end of each bound the graph is searched, and what is found is made
//! concrete: the way to the loop, and twice around it, live. A lasso that is found is real however little of the graph is
//! known; that there is none can be said of the whole graph only.
//!
//! Source: Emerson and Lei, "Modalities for model checking" (1987), for fairness; Desai, Qadeer and Seshia leave liveness to
//! P, whose hot and cold states these are.
//!
//! Reading order: `graph.rs`, `scc.rs`, `walk.rs` (pure), `concrete.rs` (live).

mod concrete;
mod graph;
mod scc;
#[cfg(test)]
mod tests;
mod walk;

use crate::{
    explorer::Explorer,
    hash::Print,
    live::Live,
    search::Finding,
    world::{Choice, Demand, World},
};
use graph::{Edge, Graph, Number};

/// What a search has explored, and what was looked for in it.
#[derive(Debug, Default)]
pub(super) struct Lassos {
    graph: Graph,
    /// Edges of the graph when it was last searched.
    searched: u64,
    /// Loops of the graph that were none when they were gone around.
    unconfirmed: u64,
}

/// The size of a graph that was searched for fair loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Looked {
    /// Its states.
    pub states: u64,
    /// Its transitions.
    pub transitions: u64,
    /// Loops of it that were none when they were gone around.
    pub unconfirmed: u64,
}

impl Looked {
    /// Two graphs, each looked at by itself.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            states: self.states + other.states,
            transitions: self.transitions + other.transitions,
            unconfirmed: self.unconfirmed + other.unconfirmed,
        }
    }
}

impl Lassos {
    /// Begins with the state the execution stands at, if any monitor can be hot.
    pub(super) fn begin(state: Print, world: &World) -> Option<Self> {
        let mut lassos = Self::default();
        world.names.sees_heat().then(|| {
            lassos.come_to(state, world);
            lassos
        })
    }

    fn come_to(&mut self, state: Print, world: &World) -> Number {
        self.graph.number(state).unwrap_or_else(|| {
            let open = self.graph.set(world.demands());
            self.graph.add_state(state, open, world.fair_outcomes())
        })
    }

    /// A choice at a known state, whose move met `moved`, has led to another one, at which the World stands.
    pub(super) fn step(&mut self, from: Print, choice: Choice, moved: Option<Demand>, to: Print, world: &World) {
        let to = self.come_to(to, world);
        let met = self.graph.set(world.met(moved));
        if let Some(from) = self.graph.number(from) {
            self.graph.add_edge(from, Edge { to, choice, met, hot: world.steadily_hot() });
        }
    }

    /// Searches what is known, if there is more than the last time.
    pub(super) fn find<E: Explorer>(&mut self, live: &mut Live<'_>, explorer: &E) -> Option<Finding> {
        if std::mem::replace(&mut self.searched, self.graph.edges()) == self.graph.edges() {
            return None;
        }
        self.unconfirmed = 0;
        let hot = self.graph.hot();
        for monitor in (0..u64::BITS).map(|bit| 1 << bit).filter(|monitor| hot & monitor != 0) {
            for component in scc::fair_components(&self.graph, monitor) {
                let walk = walk::walk(&component);
                let found = walk.and_then(|walk| concrete::confirm(live, explorer, &self.graph, &walk));
                if found.is_some() {
                    return found;
                }
                self.unconfirmed += 1;
            }
        }
        None
    }

    /// What was looked at.
    pub(super) fn looked(&self) -> Looked {
        let states = self.graph.states().len() as u64;
        Looked { states, transitions: self.graph.edges(), unconfirmed: self.unconfirmed }
    }
}

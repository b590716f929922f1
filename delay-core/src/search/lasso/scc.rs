//! The fair strongly connected components of the graph in which one monitor stays hot.
//!
//! Tarjan's algorithm on an explicit stack. Strong fairness takes a component apart again (the pruning of Emerson and
//! Lei): no fair loop in it comes to a state where something strong is open that the component never meets, or to a fair
//! choice one of whose outcomes leads out of it. Weak fairness is a question to a whole component: if a demand is open in all
//! its states and met by none of its edges, no loop in it is fair.
//!
//! Every component is real, however little of the graph is known.

use super::graph::{Edge, Graph, Number, Set};
use crate::world::Demand;
use std::collections::BTreeSet;

/// A component: which states belong to it, and the monitor that stays hot.
#[derive(Debug)]
pub(super) struct Component<'g> {
    pub(super) graph: &'g Graph,
    /// The monitor, as a bit.
    pub(super) monitor: u64,
    /// Ascending.
    pub(super) states: Vec<Number>,
}

impl<'g> Component<'g> {
    /// Where an edge leads to, as a place in `states`, if it stays in the component and the monitor stays hot.
    fn place(&self, edge: &Edge) -> Option<usize> {
        if edge.hot & self.monitor == 0 {
            return None;
        }
        self.states.binary_search(&edge.to).ok()
    }

    /// The edges of a state that stay in the component while the monitor stays hot.
    pub(super) fn edges(&self, from: Number) -> impl Iterator<Item = &'g Edge> {
        self.graph.state(from).edges.iter().filter(|edge| self.place(edge).is_some())
    }

    /// Whether a fair choice has each of its outcomes in it.
    fn has_all_outcomes(&self, state: Number) -> bool {
        let mut outcomes = 0..self.graph.state(state).outcomes;
        outcomes.all(|outcome| self.edges(state).any(|edge| edge.choice.alternative == outcome))
    }

    /// Demands that its edges meet.
    fn met(&self) -> BTreeSet<Demand> {
        let edges = self.states.iter().flat_map(|state| self.edges(*state));
        let sets: BTreeSet<Set> = edges.map(|edge| edge.met).collect();
        sets.into_iter().flat_map(|set| self.graph.demands(set)).copied().collect()
    }

    /// Its states to which a fair loop can come, given what its edges meet.
    fn fair_states(&self, met: &BTreeSet<Demand>) -> Vec<Number> {
        let is_met = |demand: &Demand| !demand.is_strong() || met.contains(demand);
        let is_fair = |state: &Number| {
            let open = self.graph.demands(self.graph.state(*state).open);
            self.has_all_outcomes(*state) && open.iter().all(is_met)
        };
        self.states.iter().copied().filter(is_fair).collect()
    }

    /// Whether some demand is open in all its states and not met.
    fn starves(&self, met: &BTreeSet<Demand>) -> bool {
        let graph = self.graph;
        let mut opens = self.states.iter().map(|state| graph.state(*state).open);
        let Some(first) = opens.next() else { return false };
        let mut starved: Vec<&Demand> = graph.demands(first).iter().filter(|demand| !met.contains(demand)).collect();
        for open in opens {
            starved.retain(|demand| graph.holds(open, demand));
        }
        !starved.is_empty()
    }
}

/// The components in which a loop can be fair while the monitor (a bit) stays hot. Through each of their states and edges
/// there is a fair loop.
pub(super) fn fair_components(graph: &Graph, monitor: u64) -> Vec<Component<'_>> {
    let component = |states| Component { graph, monitor, states };
    let mut regions = vec![component((0..graph.states().len() as Number).collect())];
    let mut fair = Vec::new();
    while let Some(region) = regions.pop() {
        for states in components(&region) {
            let found = component(states);
            let met = found.met();
            let kept = found.fair_states(&met);
            if kept.len() < found.states.len() {
                regions.push(component(kept));
            } else if !found.starves(&met) {
                fair.push(found);
            }
        }
    }
    fair
}

/// Where Tarjan's algorithm stands. States go by their place in the region.
struct Tarjan {
    /// Per state: when it was met, from 1; 0 if not yet.
    met: Vec<u32>,
    /// Per state: the earliest one on the stack known to be reachable.
    low: Vec<u32>,
    clock: u32,
    /// The states on the way down, each with the number of its edges that have been followed.
    down: Vec<(usize, usize)>,
    stack: Vec<usize>,
    on_stack: Vec<bool>,
}

impl Tarjan {
    fn new(states: usize) -> Self {
        let (met, low, on_stack) = (vec![0; states], vec![0; states], vec![false; states]);
        Self { met, low, clock: 0, down: Vec::new(), stack: Vec::new(), on_stack }
    }

    fn enter(&mut self, state: usize) {
        self.clock += 1;
        (self.met[state], self.low[state]) = (self.clock, self.clock);
        self.stack.push(state);
        self.on_stack[state] = true;
        self.down.push((state, 0));
    }

    /// An edge leads from one state to another.
    fn follow(&mut self, from: usize, to: usize) {
        if self.met[to] == 0 {
            self.enter(to);
        } else if self.on_stack[to] {
            self.low[from] = self.low[from].min(self.met[to]);
        }
    }

    /// All is known of what a state reaches. If it was the first of a component, the component.
    fn leave(&mut self, state: usize) -> Option<Vec<usize>> {
        self.down.pop();
        if let Some((above, _)) = self.down.last() {
            self.low[*above] = self.low[*above].min(self.low[state]);
        }
        if self.low[state] != self.met[state] {
            return None;
        }
        let from = self.stack.iter().rposition(|other| *other == state).unwrap_or(0);
        let component = self.stack.split_off(from);
        for state in &component {
            self.on_stack[*state] = false;
        }
        Some(component)
    }
}

/// The strongly connected components of a region that hold an edge, each ascending.
fn components(region: &Component<'_>) -> Vec<Vec<Number>> {
    let mut tarjan = Tarjan::new(region.states.len());
    let mut found = Vec::new();
    for root in 0..region.states.len() {
        if tarjan.met[root] > 0 {
            continue;
        }
        tarjan.enter(root);
        while let Some((state, followed)) = tarjan.down.last_mut() {
            let state = *state;
            let number = region.states[state];
            if let Some(edge) = region.graph.state(number).edges.get(*followed) {
                *followed += 1;
                if let Some(to) = region.place(edge) {
                    tarjan.follow(state, to);
                }
                continue;
            }
            let Some(component) = tarjan.leave(state) else { continue };
            if component.len() > 1 || region.edges(number).any(|edge| edge.to == number) {
                let mut states: Vec<Number> = component.iter().map(|state| region.states[*state]).collect();
                states.sort_unstable();
                found.push(states);
            }
        }
    }
    found
}

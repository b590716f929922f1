//! The graph algorithms against a naive definition, on random small graphs.
//!
//! Naive: a fair loop is a set of edges that is strongly connected and keeps every promise of fairness. Every subset of the
//! edges is tried; nothing is shared with the algorithms but the graph and the demands themselves.

use super::{
    graph::{Edge, Graph, Number},
    scc::fair_components,
    walk::walk,
};
use crate::{
    hash::{Domain, Print},
    ids::{Object, Process},
    random::SplitMix64,
    world::{Choice, Demand},
};
use std::collections::BTreeSet;

/// Most edges of a random graph: all their subsets are tried.
const EDGES_MAX: usize = 10;

fn demand(number: usize) -> Demand {
    match number {
        0 | 1 => Demand::Process(Process::new(number as u32)),
        2 => Demand::Timer(Process::BODY, 7),
        _ => Demand::Message(Object::new(0), Print::default().with(number as u64)),
    }
}

fn some_demands(random: &mut SplitMix64, chance: usize) -> Vec<Demand> {
    let mut demands: Vec<Demand> = (0..5).map(demand).filter(|_| random.below(6) < chance).collect();
    demands.sort_unstable();
    demands
}

fn some_graph(random: &mut SplitMix64) -> Graph {
    let mut graph = Graph::default();
    let size = 2 + random.below(3);
    for number in 0..size {
        let open = some_demands(random, 2);
        let open = graph.set(open);
        let outcomes = if random.below(4) == 0 { 2 } else { 0 };
        graph.add_state(Print::of(Domain::Choosing).with(number as u64), open, outcomes);
    }
    for _ in 0..size + random.below(EDGES_MAX - size + 1) {
        let (from, to) = (random.below(size) as Number, random.below(size) as Number);
        let met = some_demands(random, 2);
        let met = graph.set(met);
        let choice = Choice { process: Process::BODY, alternative: random.below(2) as u32 };
        let hot = u64::from(random.below(5) > 0);
        graph.add_edge(from, Edge { to, choice, met, hot });
    }
    graph
}

/// All hot edges, with the states they come from.
fn hot_edges(graph: &Graph) -> Vec<(Number, Edge)> {
    let states = graph.states().iter().enumerate();
    states
        .flat_map(|(from, state)| state.edges.iter().map(move |edge| (from as Number, *edge)))
        .filter(|(_, edge)| edge.hot == 1)
        .collect()
}

/// Whether one can go around all of these edges and come back.
fn is_loop(edges: &[(Number, Edge)]) -> bool {
    let reach = |from: Number| {
        let mut reached = BTreeSet::from([from]);
        for _ in edges {
            for (before, edge) in edges {
                if reached.contains(before) {
                    reached.insert(edge.to);
                }
            }
        }
        reached
    };
    let states: BTreeSet<Number> = edges.iter().flat_map(|(from, edge)| [*from, edge.to]).collect();
    !edges.is_empty() && states.iter().all(|state| reach(*state) == states)
}

/// Whether a loop over exactly these edges keeps what fairness promises.
fn is_fair(graph: &Graph, edges: &[(Number, Edge)]) -> bool {
    let open = |state: Number| graph.demands(graph.state(state).open);
    let is_met = |demand: Demand| edges.iter().any(|(_, edge)| graph.demands(edge.met).contains(&demand));
    let keeps = |demand: Demand| {
        let put_off = match demand {
            Demand::Message(..) => edges.iter().any(|(from, _)| open(*from).contains(&demand)),
            Demand::Process(_) | Demand::Timer(..) | Demand::Late(..) | Demand::Restart(_) | Demand::Heal => {
                edges.iter().all(|(from, _)| open(*from).contains(&demand))
            }
        };
        !put_off || is_met(demand)
    };
    let takes_all = |state: Number| {
        let taken = |outcome| edges.iter().any(|(from, edge)| *from == state && edge.choice.alternative == outcome);
        (0..graph.state(state).outcomes).all(taken)
    };
    (0..5).map(demand).all(keeps) && edges.iter().all(|(from, _)| takes_all(*from))
}

/// The states that lie on some fair loop.
fn naive(graph: &Graph) -> BTreeSet<Number> {
    let all = hot_edges(graph);
    let subsets = (1..1_u32 << all.len()).map(|bits| {
        let chosen = all.iter().enumerate().filter(|(at, _)| bits & 1 << at != 0);
        chosen.map(|(_, edge)| *edge).collect::<Vec<_>>()
    });
    let fair = subsets.filter(|edges| is_loop(edges) && is_fair(graph, edges));
    fair.flat_map(|edges| edges.into_iter().map(|(from, _)| from)).collect()
}

#[test]
fn the_states_of_fair_loops_are_those_of_the_naive_definition() {
    let mut random = SplitMix64::new(0x1A550);
    let (mut with, mut without) = (0, 0);
    for _ in 0..1_500 {
        let graph = some_graph(&mut random);
        let expected = naive(&graph);
        let found: BTreeSet<Number> =
            fair_components(&graph, 1).iter().flat_map(|component| component.states.clone()).collect();
        assert_eq!(found, expected, "{graph:#?}");
        if expected.is_empty() { without += 1 } else { with += 1 }
    }
    assert!(with > 200 && without > 200, "both kinds are met: {with} with a fair loop, {without} without");
}

#[test]
fn a_walk_goes_along_edges_and_its_loop_is_fair() {
    let mut random = SplitMix64::new(0x3A1C);
    let mut walks = 0;
    for _ in 0..1_500 {
        let graph = some_graph(&mut random);
        for component in fair_components(&graph, 1) {
            // A state that nothing leads to from the initial one stands in no graph of a search.
            let Some(walk) = walk(&component) else { continue };
            let mut at = 0;
            let mut around = Vec::new();
            for (number, edge) in walk.stem.iter().chain(&walk.around).enumerate() {
                assert!(graph.state(at).edges.contains(edge), "{graph:#?}");
                if number >= walk.stem.len() {
                    assert_eq!(edge.hot, 1);
                    around.push((at, *edge));
                }
                at = edge.to;
            }
            assert_eq!(at, around.first().map_or(u32::MAX, |(from, _)| *from), "it comes back");
            assert!(is_loop(&around) && is_fair(&graph, &around), "{around:?} in {graph:#?}");
            walks += 1;
        }
    }
    assert!(walks > 200, "{walks}");
}

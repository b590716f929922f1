//! A short fair loop through a component, and the way to it.
//!
//! The loop is built greedily: always to the nearest edge that something still lacks, at last back to where it began. A fair
//! choice or a message met on the way adds to what is lacking, so that the loop built is fair, and not only the component.

use super::{
    graph::{Edge, Number},
    scc::Component,
};
use crate::{hash::IdSet, world::Lacking};
use std::collections::VecDeque;

/// The choices to a loop, and around it.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) stem: Vec<Edge>,
    pub(super) around: Vec<Edge>,
}

/// A loop through the component that is fair, and the shortest way to it.
pub(super) fn walk(component: &Component<'_>) -> Option<Walk> {
    let graph = component.graph;
    let is_there = |state: Number| component.states.binary_search(&state).is_ok();
    let stem = if is_there(0) {
        Vec::new()
    } else {
        nearest(0, |from| graph.state(from).edges.iter(), |_, edge| is_there(edge.to))?
    };
    let begin = stem.last().map_or(0, |edge| edge.to);
    Some(Walk { around: Loop::new(component, begin).close()?, stem })
}

/// A loop under construction.
struct Loop<'c, 'g> {
    component: &'c Component<'g>,
    begin: Number,
    at: Number,
    edges: Vec<Edge>,
    lacking: Lacking<Number>,
}

impl<'c, 'g> Loop<'c, 'g> {
    fn new(component: &'c Component<'g>, begin: Number) -> Self {
        let graph = component.graph;
        let state = graph.state(begin);
        let lacking = Lacking::at(begin, graph.demands(state.open), state.outcomes);
        Self { component, begin, at: begin, edges: Vec::new(), lacking }
    }

    /// Whether an edge gives the loop something it lacks.
    fn is_helped_by(&self, from: Number, edge: &Edge) -> bool {
        let graph = self.component.graph;
        let (met, open) = (graph.demands(edge.met), graph.demands(graph.state(edge.to).open));
        self.lacking.is_helped_by(from, edge.choice.alternative, met, open)
    }

    fn take(&mut self, edge: Edge) {
        let graph = self.component.graph;
        let to = graph.state(edge.to);
        self.lacking.leave(self.at, edge.choice.alternative, graph.demands(edge.met));
        self.lacking.come_to(edge.to, graph.demands(to.open), to.outcomes);
        self.edges.push(edge);
        self.at = edge.to;
    }

    /// Goes on until nothing is lacking. None if that cannot be: then the component is not fair.
    fn close(mut self) -> Option<Vec<Edge>> {
        let (component, begin) = (self.component, self.begin);
        loop {
            let is_complete = self.lacking.is_nothing();
            if is_complete && self.at == begin && !self.edges.is_empty() {
                return Some(self.edges);
            }
            let way = nearest(
                self.at,
                |from| component.edges(from),
                |from, edge| if is_complete { edge.to == begin } else { self.is_helped_by(from, edge) },
            )?;
            for edge in way {
                self.take(edge);
            }
        }
    }
}

/// The shortest way from a state whose last edge is a goal.
fn nearest<'g, I: Iterator<Item = &'g Edge>>(
    from: Number,
    edges: impl Fn(Number) -> I,
    is_goal: impl Fn(Number, &Edge) -> bool,
) -> Option<Vec<Edge>> {
    let mut seen = IdSet::default();
    seen.insert(from);
    // Each state met, with the edge it was met by and the place of the state before.
    let mut met: Vec<(Number, Option<(usize, Edge)>)> = vec![(from, None)];
    let mut queue: VecDeque<usize> = VecDeque::from([0]);
    while let Some(place) = queue.pop_front() {
        let state = met[place].0;
        for edge in edges(state) {
            if is_goal(state, edge) {
                let before = std::iter::successors(met[place].1, |(place, _)| met[*place].1);
                let mut way: Vec<Edge> = std::iter::once(*edge).chain(before.map(|(_, edge)| edge)).collect();
                way.reverse();
                return Some(way);
            }
            if seen.insert(edge.to) {
                met.push((edge.to, Some((place, *edge))));
                queue.push_back(met.len() - 1);
            }
        }
    }
    None
}

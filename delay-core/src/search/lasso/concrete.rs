//! Makes a loop of the graph concrete: the way to it and twice around, live, along the explorer.
//!
//! The watch of `live/lasso.rs` judges: the same state each time around, a monitor hot all along, fair.

use super::{
    graph::{Edge, Graph},
    walk::Walk,
};
use crate::{
    explorer::{self, Explorer},
    live::{Lasso, Live, Status},
    search::{Deviation, Finding, cursor::Cursor},
    world::Choice,
};

/// Goes along a walk. None if the program does not do what the graph says: two states shared a fingerprint.
pub(super) fn confirm<E: Explorer>(live: &mut Live<'_>, explorer: &E, graph: &Graph, walk: &Walk) -> Option<Finding> {
    live.watch(Some(Lasso { start: walk.stem.len() as u32, length: walk.around.len() as u32 }));
    live.restart();
    let mut explorer = explorer.clone();
    explorer::tell(&mut explorer, live.world().events());
    let mut way = Way { live, graph, explorer, path: Vec::new(), deviations: Vec::new() };
    let edges = walk.stem.iter().chain(&walk.around).chain(&walk.around);
    let arrived = edges.into_iter().try_for_each(|edge| way.follow(edge));
    let deviations = way.deviations;
    let confirmed = arrived.is_some() && live.violation().is_some_and(|violation| Lasso::of(violation).is_some());
    let found = confirmed.then(|| Finding::of(live, deviations));
    live.watch(None);
    found
}

struct Way<'x, 'b, E> {
    live: &'x mut Live<'b>,
    graph: &'x Graph,
    explorer: E,
    path: Vec<Choice>,
    deviations: Vec<Deviation>,
}

impl<E: Explorer> Way<'_, '_, E> {
    /// Makes the step that an edge stands for. Where the order of arrival orders the alternatives, its choice may stand at
    /// another place now; then it is the one that leads to the same state by the same messages.
    fn follow(&mut self, edge: &Edge) -> Option<()> {
        for (number, cursor) in self.choices(edge.choice)?.into_iter().enumerate() {
            if number > 0 {
                self.live.go_to(&self.path, 0, &[]).ok()?;
            }
            if self.is(edge, cursor.choice()) {
                let step = self.path.len() as u32;
                if cursor.spent() > 0 {
                    self.deviations.push(Deviation { step, delays: cursor.spent() });
                }
                self.path.push(cursor.choice());
                self.explorer = cursor.into_explorer();
                explorer::tell(&mut self.explorer, self.live.world().events());
                return Some(());
            }
        }
        None
    }

    /// Makes a choice; says whether it is the edge's.
    fn is(&mut self, edge: &Edge, choice: Choice) -> bool {
        let moved = self.live.world().moved_by(choice);
        self.live.step(choice) != Status::Diverged
            && self.live.fingerprint() == self.graph.state(edge.to).print
            && self.live.world().met(moved) == self.graph.demands(edge.met)
    }

    /// Choices(s), the wanted one first.
    fn choices(&self, wanted: Choice) -> Option<Vec<Cursor<E>>> {
        if self.live.status() != Status::Running {
            return None;
        }
        let world = self.live.world();
        let mut cursor = Cursor::at(world, self.explorer.clone()).ok()?;
        let mut all = vec![cursor.clone()];
        while cursor.delay(world).ok()? {
            all.push(cursor.clone());
        }
        all.sort_by_key(|cursor| cursor.choice() != wanted);
        Some(all)
    }
}

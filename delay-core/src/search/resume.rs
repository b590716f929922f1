//! SES as it is saved, and how it goes on from that.
//!
//! A saved entry is a path as delays. The entries become a frontier like any other: whoever takes one up walks its path, and compares the
//! state it comes to. So a program that is another now is noticed as one that is not deterministic. Entries stand in the order in which they
//! were found, so that most of a path is that of the entry before.

use super::{
    frontier::{self, Frontier},
    paths::{Node, Paths},
    round::{Round, Sums, locked},
    saved::{Entry, Keep, Position, Saved},
    ses::Search,
    visited::Visited,
};
use crate::{coverage::Coverage, name::Order};
use std::sync::{Arc, Mutex};

impl<V: Visited> Search<'_, '_, V> {
    /// Saves what is left, which nobody is at work on, with what was covered so far.
    pub(super) fn save(&self, keep: Option<&Keep<'_>>, mut coverage: Coverage, names: Order) {
        let keep = keep.filter(|keep| !keep.is_nowhere());
        // Where loops are looked for, the graph of all that was visited would have to be saved too.
        let Some(keep) = keep.filter(|_| coverage.lassos.is_none()) else { return };
        keep.save(self.budget, || {
            let entries =
                |frontiers: &Mutex<Vec<Frontier>>| locked(frontiers).iter().flat_map(entries).collect::<Vec<_>>();
            let (now, next) = (entries(&self.unfinished), entries(&self.frontiers));
            coverage.states = V::of(&self.visited).count();
            coverage.frontier = (now.len() + next.len()) as u64;
            let (bound, visited) = (coverage.bound, V::prints(&self.visited));
            Saved::Exhaustive(Position { coverage, bound, now, next, visited, names })
        });
    }

    /// Takes up a saved search. Nothing was done yet.
    ///
    /// # Errors
    /// What it has visited does not fit into the memory. What it had covered.
    pub(super) fn take_up(&mut self, saved: Position) -> Result<(), Box<Coverage>> {
        let Position { coverage, bound, now, next, visited, names } = saved;
        let Coverage { cache_max, part, max_delays, .. } = *locked(&self.coverage);
        let coverage = Coverage { cache_max, part, max_delays, ..coverage };
        let is_alike = !V::MERGES || visited.fingerprints == self.settings.fingerprints;
        assert!(is_alike, "a search goes on with fingerprints of as many bits as it began with");
        let Some(visited) = V::again(&visited, self.budget.cache_max()) else { return Err(Box::new(coverage)) };
        self.visited = visited;
        let sums = Sums { executions: coverage.executions, transitions: coverage.transitions };
        self.round = Mutex::new(Arc::new(Round::new(bound, vec![frontier(&now)], sums)));
        self.frontiers = Mutex::new(vec![frontier(&next)]);
        self.coverage = Mutex::new(coverage);
        self.names = Some(names);
        Ok(())
    }
}

/// The entries of a frontier, as they are saved.
fn entries(frontier: &Frontier) -> impl Iterator<Item = Entry> {
    frontier.entries.iter().map(|entry| {
        let frontier::Entry { node, executed, check } = *entry;
        let (deviations, steps) = frontier.paths.deviations(node);
        Entry { deviations, steps, executed, check }
    })
}

/// The frontier that was saved as these entries.
fn frontier(saved: &[Entry]) -> Frontier {
    let mut paths = Paths::default();
    // The path of the entry before.
    let mut path: Vec<(u32, Node)> = Vec::new();
    let mut entry = |entry: &Entry| {
        let mut deviations = entry.deviations.iter().peekable();
        let delayed =
            |step| deviations.next_if(|deviation| deviation.step == step).map_or(0, |deviation| deviation.delays);
        let way: Vec<u32> = (0..entry.steps).map(delayed).collect();
        let shared = path.iter().zip(&way).take_while(|((before, _), now)| before == *now).count();
        path.truncate(shared);
        for delays in way.into_iter().skip(shared) {
            let node = paths.add(path.last().map_or(Paths::ROOT, |(_, parent)| *parent), delays);
            path.push((delays, node));
        }
        let node = path.last().map_or(Paths::ROOT, |(_, node)| *node);
        frontier::Entry { node, executed: entry.executed, check: entry.check }
    };
    let entries = saved.iter().map(&mut entry).collect();
    Frontier { entries, paths: Arc::new(paths) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Deviation;

    fn entry(deviations: &[(u32, u32)], steps: u32, executed: u32) -> Entry {
        let deviations = deviations.iter().map(|(step, delays)| Deviation { step: *step, delays: *delays }).collect();
        Entry { deviations, steps, executed, check: 100 + executed }
    }

    #[test]
    fn a_frontier_that_was_saved_is_the_same_and_shares_what_its_paths_share() {
        let saved = [
            entry(&[], 0, 0),
            entry(&[(0, 2), (3, 1)], 5, 1),
            entry(&[(0, 2), (4, 1)], 5, 2),
            entry(&[(0, 2)], 2, 3),
            entry(&[(1, 7)], 2, 4),
        ];
        let frontier = frontier(&saved);
        assert_eq!(entries(&frontier).collect::<Vec<_>>(), saved);
        let shared =
            |node| std::iter::successors(Some(node), |node| frontier.paths.last(*node).map(|(parent, _)| parent));
        let [.., second, third, _, _] = frontier.entries.as_slice() else { panic!("all are there") };
        assert!(shared(second.node).any(|node| shared(third.node).nth(2) == Some(node)), "three steps are the same");
    }
}

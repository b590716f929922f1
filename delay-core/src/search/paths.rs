//! The paths of a search as one tree: every visited state once, with the choice that led to it.
//!
//! A frontier entry is then a number, whatever the length of its path. Invariant: a node's parent has a smaller number.

use super::Deviation;
use crate::world::Choice;

/// A state, by the path that reached it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Node(u32);

#[derive(Clone, Copy, Debug)]
struct Entry {
    parent: Node,
    /// Choices on the path.
    length: u32,
    choice: Choice,
    delays: u32,
}

/// The tree.
#[derive(Debug, Default)]
pub(super) struct Paths {
    entries: Vec<Entry>,
}

impl Paths {
    /// The initial state.
    pub(super) const ROOT: Node = Node(u32::MAX);

    /// The state that a choice leads to, after so many delays at the state before.
    ///
    /// # Panics
    /// Past four thousand million states; the state cache fills memory long before.
    pub(super) fn add(&mut self, parent: Node, choice: Choice, delays: u32) -> Node {
        let Some(number) = u32::try_from(self.entries.len()).ok().filter(|number| *number < Self::ROOT.0) else {
            crate::bug!("more states than there are numbers")
        };
        let length = self.length(parent) + 1;
        self.entries.push(Entry { parent, length, choice, delays });
        Node(number)
    }

    /// Choices on the path to a state.
    #[inline]
    pub(super) fn length(&self, node: Node) -> u32 {
        self.entries.get(node.0 as usize).map_or(0, |entry| entry.length)
    }

    /// The state before, the choice made there, and the delays spent there. None for the initial state.
    #[inline]
    pub(super) fn last(&self, node: Node) -> Option<(Node, Choice, u32)> {
        self.entries.get(node.0 as usize).map(|entry| (entry.parent, entry.choice, entry.delays))
    }

    /// A state is of no use any more, nor are those that were reached through it.
    #[inline]
    pub(super) fn leave(&mut self, node: Node) {
        if self.entries.len() == node.0 as usize + 1 {
            self.entries.pop();
        }
    }

    fn up(&self, node: Node) -> impl Iterator<Item = &Entry> {
        let entry = |node: Node| self.entries.get(node.0 as usize);
        std::iter::successors(entry(node), move |below| entry(below.parent))
    }

    /// The delays spent on the way, and the number of choices.
    pub(super) fn deviations(&self, node: Node) -> (Vec<Deviation>, u32) {
        let length = self.length(node);
        let spent = self.up(node).zip((0..length).rev()).filter(|(entry, _)| entry.delays > 0);
        let mut deviations: Vec<Deviation> =
            spent.map(|(entry, step)| Deviation { step, delays: entry.delays }).collect();
        deviations.reverse();
        (deviations, length)
    }

    /// How many states it holds.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Forgets every state that is on the path to none of these, and numbers the rest anew.
    pub(super) fn retain<'n>(&mut self, nodes: impl Iterator<Item = &'n mut Node>) {
        let nodes: Vec<&mut Node> = nodes.collect();
        let mut needed = vec![false; self.entries.len()];
        let mark = |needed: &mut Vec<bool>, node: Node| {
            if let Some(needed) = needed.get_mut(node.0 as usize) {
                *needed = true;
            }
        };
        for node in &nodes {
            mark(&mut needed, **node);
        }
        for index in (0..self.entries.len()).rev() {
            if needed[index] {
                mark(&mut needed, self.entries[index].parent);
            }
        }
        let mut renumbered = vec![Self::ROOT; self.entries.len()];
        let mut kept = Vec::new();
        let anew = |renumbered: &Vec<Node>, node: Node| renumbered.get(node.0 as usize).copied().unwrap_or(Self::ROOT);
        for (index, entry) in self.entries.iter().enumerate().filter(|(index, _)| needed[*index]) {
            renumbered[index] = Node(kept.len() as u32);
            kept.push(Entry { parent: anew(&renumbered, entry.parent), ..*entry });
        }
        self.entries = kept;
        for node in nodes {
            *node = anew(&renumbered, *node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Process;

    fn choice(process: u32) -> Choice {
        Choice { process: Process::new(process), alternative: 0 }
    }

    impl Paths {
        fn choices(&self, node: Node) -> Vec<Choice> {
            let mut choices: Vec<Choice> = self.up(node).map(|entry| entry.choice).collect();
            choices.reverse();
            choices
        }
    }

    #[test]
    fn a_path_survives_the_forgetting_of_others() {
        let mut paths = Paths::default();
        let a = paths.add(Paths::ROOT, choice(1), 0);
        let b = paths.add(a, choice(2), 1);
        let mut c = paths.add(b, choice(3), 2);
        let dead = paths.add(a, choice(4), 0);
        let mut d = paths.add(Paths::ROOT, choice(5), 3);
        paths.add(dead, choice(6), 0);
        let before = (paths.choices(c), paths.deviations(c), paths.choices(d));
        assert_eq!(before.0, [choice(1), choice(2), choice(3)]);
        assert_eq!(before.1, (vec![Deviation { step: 1, delays: 1 }, Deviation { step: 2, delays: 2 }], 3));
        let mut root = Paths::ROOT;
        paths.retain([&mut c, &mut d, &mut root].into_iter());
        assert_eq!((paths.choices(c), paths.deviations(c), paths.choices(d)), before);
        assert_eq!((paths.len(), root), (4, Paths::ROOT));
        assert_eq!(paths.deviations(root), (Vec::new(), 0));
    }
}

//! The paths of a frontier as one tree: every state on them once, with the delays that led to it.
//!
//! A frontier entry is then a number, whatever the length of its path. Delays suffice: the explorer says which choice they lead to.
//! Invariants:
//! - A node's parent has a smaller number.
//! - A node that was left is there only if a frontier entry needs it: itself, or below it.

use super::Deviation;

/// A state, by the path that reached it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Node(u32);

#[derive(Clone, Copy, Debug)]
struct Entry {
    parent: Node,
    /// Delays at the state before, and in the lowest bit whether a frontier entry stands here.
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

    /// The state that so many delays at the state before lead to.
    ///
    /// # Panics
    /// Past four thousand million states; memory is full long before.
    #[inline]
    pub(super) fn add(&mut self, parent: Node, delays: u32) -> Node {
        let Some(number) = u32::try_from(self.entries.len()).ok().filter(|number| *number < Self::ROOT.0) else {
            crate::bug!("more states than there are numbers")
        };
        self.entries.push(Entry { parent, delays: delays << 1 });
        Node(number)
    }

    /// The state before, and the delays spent there. None for the initial state.
    #[inline]
    pub(super) fn last(&self, node: Node) -> Option<(Node, u32)> {
        self.entries.get(node.0 as usize).map(|entry| (entry.parent, entry.delays >> 1))
    }

    /// A frontier entry stands here.
    #[inline]
    pub(super) fn keep(&mut self, node: Node) {
        if let Some(entry) = self.entries.get_mut(node.0 as usize) {
            entry.delays |= 1;
        }
    }

    /// The search leaves a state for the one before. Those below it were left already.
    #[inline]
    pub(super) fn leave(&mut self, node: Node) {
        let is_last = self.entries.len() == node.0 as usize + 1;
        if is_last && self.entries.last().is_some_and(|entry| entry.delays & 1 == 0) {
            self.entries.pop();
        }
    }

    /// The delays spent on the way, and the number of choices.
    pub(super) fn deviations(&self, node: Node) -> (Vec<Deviation>, u32) {
        let up = std::iter::successors(self.last(node), |(parent, _)| self.last(*parent));
        let up: Vec<u32> = up.map(|(_, delays)| delays).collect();
        let spent = (0..).zip(up.iter().rev()).filter(|(_, delays)| **delays > 0);
        (spent.map(|(step, delays)| Deviation { step, delays: *delays }).collect(), up.len() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_entry_needs_is_left() {
        let mut paths = Paths::default();
        let a = paths.add(Paths::ROOT, 0);
        let b = paths.add(a, 1);
        let c = paths.add(b, 2);
        paths.keep(c);
        paths.leave(c);
        let dead = paths.add(b, 3);
        paths.leave(dead);
        paths.leave(b);
        let d = paths.add(a, 4);
        assert_eq!(d, dead, "a number that was left is given again");
        paths.keep(d);
        paths.leave(d);
        paths.leave(a);
        let deviations = [Deviation { step: 1, delays: 1 }, Deviation { step: 2, delays: 2 }];
        assert_eq!(paths.deviations(c), (deviations.to_vec(), 3));
        assert_eq!(paths.deviations(d), (vec![Deviation { step: 1, delays: 4 }], 2));
        assert_eq!(paths.deviations(Paths::ROOT), (Vec::new(), 0));
        assert_eq!(paths.last(c), Some((b, 2)));
    }
}

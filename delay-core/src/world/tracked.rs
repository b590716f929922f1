//! Tables whose items come back: what a step changes is kept as it was before, and put back by [`World::step_back`].
//!
//! Every access passes through `Index` and `IndexMut`, so that no change can be forgotten, nor what a step looked at
//! (`parts.rs`; of queues and of those who wait, `queue.rs` and `waiters.rs` note it).
//!
//! [`World::step_back`]: super::World::step_back

use super::{
    looked::{Looked, Seen},
    parts::Part,
};
use std::ops::{Index, IndexMut};

/// Takes on the value of another, without giving up what was allocated.
pub(super) trait Assign {
    /// Becomes what `other` is.
    fn assign(&mut self, other: &Self);
}

/// A table of items, and what they were.
#[derive(Debug)]
pub(super) struct Tracked<T> {
    items: Vec<T>,
    /// Per item, the step in which it was last kept.
    kept_in: Vec<u64>,
    /// The present step; 0 while nothing is kept.
    step: u64,
    /// Steps so far: numbers are not used twice.
    steps: u64,
    /// What items were, in order of change. What lies beyond `kept` is there to be used again.
    old: Vec<(u32, T)>,
    kept: usize,
    /// What an item is called among the parts of the World.
    part: fn(usize) -> Part,
    /// Whether it is noted which items are looked at, and where.
    is_watched: bool,
    looked: Looked,
}

impl<T> Index<usize> for Tracked<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        if self.is_watched {
            self.look_at(index);
        }
        &self.items[index]
    }
}

impl<T: Assign + Clone> IndexMut<usize> for Tracked<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        if self.is_watched {
            self.look_at(index);
        }
        if self.kept_in[index] != self.step {
            self.keep(index);
        }
        &mut self.items[index]
    }
}

impl<T> Tracked<T> {
    pub(super) fn new(part: fn(usize) -> Part, looked: Looked) -> Self {
        let (items, kept_in, old) = (Vec::new(), Vec::new(), Vec::new());
        Self { items, kept_in, step: 0, steps: 0, old, kept: 0, part, is_watched: false, looked }
    }

    /// Notes from here on which items are looked at, or no more.
    pub(super) fn watch(&mut self, is_watched: bool) {
        self.is_watched = is_watched;
    }

    #[cold]
    fn look_at(&self, index: usize) {
        self.looked.note(Seen::Part((self.part)(index)));
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&T> {
        if self.is_watched {
            self.look_at(index);
        }
        self.items.get(index)
    }

    /// Adds an item. It stays when the step is taken back: what has no name yet is nothing to anybody.
    pub(super) fn push(&mut self, item: T) {
        self.items.push(item);
        // Its first change is kept like any other.
        self.kept_in.push(if self.step == 0 { 0 } else { u64::MAX });
    }

    /// From here on, changes are kept. The mark is for [`Tracked::take_back`].
    #[inline]
    pub(super) fn begin_step(&mut self) -> usize {
        self.steps += 1;
        self.step = self.steps;
        self.kept
    }

    /// From here on, changes are not kept. What was kept before still is.
    pub(super) fn keep_nothing(&mut self) {
        self.step = 0;
        self.kept_in.fill(0);
    }

    /// Forgets what was kept.
    pub(super) fn forget(&mut self) {
        self.keep_nothing();
        self.kept = 0;
    }
}

impl<T: Assign + Clone> Tracked<T> {
    fn keep(&mut self, index: usize) {
        self.kept_in[index] = self.step;
        match self.old.get_mut(self.kept) {
            Some(old) => {
                old.0 = index as u32;
                old.1.assign(&self.items[index]);
            }
            None => self.old.push((index as u32, self.items[index].clone())),
        }
        self.kept += 1;
    }

    /// Puts back what items were at the mark.
    #[inline]
    pub(super) fn take_back(&mut self, mark: usize) {
        while self.kept > mark {
            self.kept -= 1;
            let (index, old) = &mut self.old[self.kept];
            std::mem::swap(&mut self.items[*index as usize], old);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Assign for u32 {
        fn assign(&mut self, other: &Self) {
            *self = *other;
        }
    }

    #[test]
    fn steps_are_taken_back_in_turn() {
        let mut table = Tracked::new(Part::process, Looked::default());
        table.push(1);
        table.push(2);
        table[0] = 10;
        let first = table.begin_step();
        table[0] = 11;
        table[0] = 12;
        let second = table.begin_step();
        table[0] = 13;
        table[1] = 20;
        table.push(30);
        table.take_back(second);
        assert_eq!((table[0], table[1], table[2]), (12, 2, 30));
        let again = table.begin_step();
        table[0] = 14;
        table.take_back(again);
        assert_eq!(table[0], 12);
        table.take_back(first);
        assert_eq!((table[0], table[1]), (10, 2));
    }

    #[test]
    fn what_was_kept_outlives_changes_that_are_not() {
        let mut table = Tracked::new(Part::process, Looked::default());
        table.push(1);
        let first = table.begin_step();
        table[0] = 2;
        table.keep_nothing();
        table[0] = 3;
        table.take_back(first);
        assert_eq!(table[0], 1);
    }
}

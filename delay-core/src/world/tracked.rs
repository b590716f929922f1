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
    items: Vec<Item<T>>,
    keeper: Keeper<T>,
    /// Whether it is noted which items are looked at.
    is_watched: bool,
}

#[derive(Debug)]
struct Item<T> {
    /// The step in which it was last kept.
    kept_in: u64,
    value: T,
}

/// What a table does beside holding items.
#[derive(Debug)]
struct Keeper<T> {
    /// The present step; 0 while nothing is kept.
    step: u64,
    /// Items that were kept in this step can be changed without further ado: the present one, or none while it is noted what is
    /// looked at.
    plain: u64,
    /// Steps so far: numbers are not used twice.
    steps: u64,
    /// What items were, in order of change. What lies beyond `kept` is there to be used again.
    old: Vec<(u32, T)>,
    kept: usize,
    /// What an item is called among the parts of the World.
    part: fn(usize) -> Part,
    looked: Looked,
}

/// The steps of items that were never kept, and of a table of which none is plain: no steps at all.
const NEVER: u64 = u64::MAX;
const NONE: u64 = u64::MAX - 1;

impl<T> Index<usize> for Tracked<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        if self.is_watched {
            self.keeper.look_at(index);
        }
        &self.items[index].value
    }
}

impl<T: Assign + Clone> IndexMut<usize> for Tracked<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        let item = &mut self.items[index];
        // One question for both, which are nearly always none.
        if item.kept_in != self.keeper.plain {
            self.keeper.prepare(index, item, self.is_watched);
        }
        &mut item.value
    }
}

impl<T> Tracked<T> {
    pub(super) fn new(part: fn(usize) -> Part, looked: Looked) -> Self {
        let keeper = Keeper { step: 0, plain: 0, steps: 0, old: Vec::new(), kept: 0, part, looked };
        Self { items: Vec::new(), keeper, is_watched: false }
    }

    /// Notes from here on which items are looked at, or no more.
    pub(super) fn watch(&mut self, is_watched: bool) {
        self.is_watched = is_watched;
        self.keeper.plain = if is_watched { NONE } else { self.keeper.step };
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&T> {
        if self.is_watched {
            self.keeper.look_at(index);
        }
        self.items.get(index).map(|item| &item.value)
    }

    /// Whether items are items and nothing more: none is kept, and nobody notes which are looked at.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.keeper.plain == 0
    }

    /// An item, where that is no look at it.
    pub(super) fn unnoted(&self, index: usize) -> &T {
        &self.items[index].value
    }

    /// An item of a table that is [plain](Self::is_plain).
    #[inline]
    pub(super) fn plain(&self, index: usize) -> &T {
        debug_assert!(self.is_plain(), "a look would be noted");
        &self.items[index].value
    }

    /// The same, if there is one.
    #[inline]
    pub(super) fn plain_get(&self, index: usize) -> Option<&T> {
        debug_assert!(self.is_plain(), "a look would be noted");
        self.items.get(index).map(|item| &item.value)
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn plain_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(self.is_plain(), "a change would be kept");
        &mut self.items[index].value
    }

    /// Adds an item. It stays when the step is taken back: what has no name yet is nothing to anybody.
    pub(super) fn push(&mut self, item: T) {
        // Its first change is kept like any other.
        self.items.push(Item { kept_in: if self.keeper.step == 0 { 0 } else { NEVER }, value: item });
    }

    /// From here on, changes are kept. The mark is for [`Tracked::take_back`].
    #[inline]
    pub(super) fn begin_step(&mut self) -> usize {
        self.keeper.steps += 1;
        self.keeper.step = self.keeper.steps;
        self.watch(self.is_watched);
        self.keeper.kept
    }

    /// From here on, changes are not kept. What was kept before still is.
    pub(super) fn keep_nothing(&mut self) {
        self.keeper.step = 0;
        self.watch(self.is_watched);
        for item in &mut self.items {
            item.kept_in = 0;
        }
    }

    /// Forgets what was kept.
    pub(super) fn forget(&mut self) {
        self.keep_nothing();
        self.keeper.kept = 0;
    }

    /// Puts back what items were at the mark.
    #[inline]
    pub(super) fn take_back(&mut self, mark: usize) {
        let Keeper { old, kept, .. } = &mut self.keeper;
        while *kept > mark {
            *kept -= 1;
            let (index, old) = &mut old[*kept];
            std::mem::swap(&mut self.items[*index as usize].value, old);
        }
    }
}

impl<T> Keeper<T> {
    #[cold]
    fn look_at(&self, index: usize) {
        self.looked.note(Seen::Part((self.part)(index)));
    }
}

impl<T: Assign + Clone> Keeper<T> {
    /// An item is about to be changed.
    fn prepare(&mut self, index: usize, item: &mut Item<T>, is_watched: bool) {
        if is_watched {
            self.look_at(index);
        }
        if item.kept_in == self.step {
            return;
        }
        item.kept_in = self.step;
        match self.old.get_mut(self.kept) {
            Some(old) => {
                old.0 = index as u32;
                old.1.assign(&item.value);
            }
            None => self.old.push((index as u32, item.value.clone())),
        }
        self.kept += 1;
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

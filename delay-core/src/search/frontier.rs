//! States with choices left: what SES holds on its stack, and what waits for a larger bound.

use super::{
    paths::{Node, Paths},
    run::Deviation,
};
use crate::hash::Print;
use std::{ops::Range, sync::Arc};

/// A state with choices left, on the way down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) state: Print,
    /// Transitions of this state executed so far: i in Figure 5.
    pub(super) executed: u32,
    /// |Choices(s)|.
    pub(super) choices: u32,
    /// Delays to the last executed transition, or to the first one: n in Figure 5.
    pub(super) delays: u32,
}

/// A state that waits, as small as can be: there may be as many as there are states. All else follows from its path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) node: Node,
    pub(super) executed: u32,
    /// Half of the state's short fingerprint: that the program comes here again is looked at.
    pub(super) check: u32,
}

impl Entry {
    pub(super) fn of(frame: &Frame, node: Node) -> Self {
        let Frame { state, executed, .. } = *frame;
        Self { node, executed, check: Self::check(state) }
    }

    fn check(state: Print) -> u32 {
        (state.short() >> 32) as u32
    }

    /// The delays to the last executed transition, or to the state if there was none, by those on the way to it.
    pub(super) fn delays(&self, spent: &[Deviation]) -> u32 {
        Deviation::sum(spent) + self.executed.saturating_sub(1)
    }

    /// Whether this may be the state that waits.
    pub(super) fn may_be(&self, state: Print) -> bool {
        self.check == Self::check(state)
    }
}

/// States that wait, in the order in which they are taken up, and the paths that lead to them.
#[derive(Debug, Default)]
pub(super) struct Frontier {
    pub(super) entries: Vec<Entry>,
    pub(super) paths: Arc<Paths>,
}

impl Frontier {
    /// For each entry, the delays on the way to its next transition, and where that stands in the execution.
    pub(super) fn deviations(&self) -> impl Iterator<Item = (Vec<Deviation>, u32)> {
        self.entries.iter().map(|entry| {
            let (mut deviations, step) = self.paths.deviations(entry.node);
            // One delay past the last executed transition, or the first one if none was.
            if entry.executed > 0 {
                deviations.push(Deviation { step, delays: entry.executed });
            }
            (deviations, step)
        })
    }

    /// What is left of it when only these entries are.
    pub(super) fn keep(&mut self, ranges: &[Range<usize>]) {
        self.entries = ranges.iter().flat_map(|range| self.entries[range.clone()].iter().copied()).collect();
    }
}

//! States with choices left: what SES holds on its stack, and what waits for a larger bound.

use super::{
    cursor::Cursor,
    paths::{Node, Paths},
    run::Deviation,
};
use crate::{explorer::Explorer, hash::Print};

/// A state with choices left.
#[derive(Debug)]
pub(super) struct Frame<E> {
    /// Where in Choices(s) the last executed transition stands; the first, if none was.
    pub(super) cursor: Cursor<E>,
    /// Transitions of this state executed so far: i in Figure 5.
    pub(super) executed: u32,
    /// |Choices(s)|.
    pub(super) choices: u32,
    /// Delays to the next transition: n in Figure 5.
    pub(super) delays: u32,
    pub(super) state: Print,
    pub(super) node: Node,
}

/// What is left in the frontier of a stopped search.
#[derive(Debug)]
pub(super) struct Frontier<E> {
    pub(super) entries: Vec<Frame<E>>,
    pub(super) paths: Paths,
}

impl<E: Explorer> Frontier<E> {
    /// For each entry, the delays on the way to its next transition, and where that stands in the execution.
    pub(super) fn deviations(&self) -> impl Iterator<Item = (Vec<Deviation>, u32)> {
        self.entries.iter().map(|frame| {
            let (mut deviations, step) = self.paths.deviations(frame.node);
            // One delay past the last executed transition, or the first one if none was.
            let delays = frame.cursor.spent() + u32::from(frame.executed > 0);
            if delays > 0 {
                deviations.push(Deviation { step, delays });
            }
            (deviations, step)
        })
    }
}

//! A choice under test: each outcome is an alternative of its process.

use crate::{
    api::{backend, leaf::Leaf},
    live::context,
    world::op::{Observation, Op, Outcomes, Site},
};
use std::task::{self, Poll};

#[derive(Debug)]
pub(super) struct Asking {
    outcomes: Outcomes,
    leaf: Leaf,
}

impl Asking {
    pub(super) fn new(count: u32, is_fair: bool, site: Site) -> Self {
        let execution = context::with(|context| context.execution).unwrap_or_else(|| backend::misplaced());
        Self { outcomes: Outcomes { count, is_fair }, leaf: Leaf::new(execution, site) }
    }

    pub(super) fn poll(&mut self, cx: &task::Context<'_>, words: impl Fn(u32) -> String) -> Poll<u32> {
        let (outcomes, site) = (self.outcomes, self.leaf.site());
        self.leaf.poll_with(
            cx,
            || Op::Choose(outcomes),
            |context, seen| {
                let Observation::Outcome(outcome) = seen else { crate::bug!("a choice saw {seen:?}") };
                context.record(site, |_| words(outcome));
                outcome
            },
        )
    }
}

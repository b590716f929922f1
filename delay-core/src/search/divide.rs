//! SES in shards: all do the same until the frontier has enough states, then each goes on from its own.
//!
//! Invariants: the part that all do is a function of the settings, so that the frontier is the same list in each: one worker does it. Every
//! entry goes to just one shard. What is reachable and not visited by then is reachable from some entry through states that were not: so the
//! shards together visit every state that a search which is not divided would.
//!
//! A shard cannot know what the others have visited: states may be visited by several. And it cannot say of a state it did not visit
//! that nobody did: what was cut short is not walked on at its end.

use super::{Shard, frontier::Frontier};
use crate::coverage::{Coverage, Shared};

/// States of the frontier for each shard, at least. Less would leave some with little to do.
const ENTRIES: u64 = 16;

/// A stratum is complete: leaves to the other shards what is theirs, if there is enough for all. Says what all have done until then.
pub(super) fn divide(shard: Shard, bound: u32, so_far: &Coverage, frontiers: &mut [Frontier]) -> Option<Shared> {
    let frontier = frontiers.iter().map(|frontier| frontier.entries.len() as u64).sum();
    if shard.is_whole() || frontier < ENTRIES.saturating_mul(shard.of().into()) {
        return None;
    }
    let mut numbers = 0..frontier;
    for frontier in frontiers {
        frontier.entries.retain(|_| numbers.next().is_some_and(|number| shard.owns(number)));
    }
    let Coverage { states, transitions, executions, truncated, .. } = *so_far;
    Some(Shared { bound, states, transitions, executions, truncated, frontier })
}

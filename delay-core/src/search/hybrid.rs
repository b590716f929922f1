//! SES until its budget, then SS from the frontier.
//!
//! Source: the paper's future work. It rests on the frontier's invariant: every reachable state not visited is reachable
//! through a frontier state's remaining choices. A sample picks a frontier state uniformly, takes its next choice, and
//! spends further delays from there; an execution that extends it by b delays is drawn with probability at least
//! 1/(|F| U^b).

use super::{
    Outcome, Program, Settings, Stop,
    budget::{Budget, Limits},
    frontier::Frontier,
    ses, ss,
};
use crate::explorer::Explorer;

/// Runs SES, then SS.
pub(super) fn search<E: Explorer>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
) -> Outcome {
    let limits = budget.limits();
    // Half of the time each, unless a budget of states or memory ends the first part earlier.
    let half = budget.with_limits(Limits { time: limits.time.map(|time| time / 2), ..limits });
    let (Outcome { mut coverage, stop }, frontiers) = ses::explore(program, explorer, settings, &half);
    if !matches!(stop, Stop::Time | Stop::States | Stop::Memory) {
        return Outcome { coverage, stop };
    }
    let waiting = frontiers.iter().flat_map(Frontier::deviations);
    let starts: Vec<ss::Start> = waiting.map(|(deviations, from)| ss::Start { deviations, from }).collect();
    if starts.is_empty() {
        return Outcome { coverage, stop };
    }
    drop(frontiers);
    coverage.sampled_frontier = starts.len() as u64;
    let beyond = Settings { max_delays: settings.max_delays.map(|max| max - coverage.bound.min(max)), ..*settings };
    // What the statement says of states and transitions is the exhaustive part's.
    let visited = coverage.clone();
    let stop = ss::strata(program, explorer, &beyond, budget, &mut coverage, &starts);
    (coverage.bound, coverage.completed_bound) = (visited.bound, visited.completed_bound);
    (coverage.transitions, coverage.executions) = (visited.transitions, visited.executions);
    Outcome { coverage, stop }
}

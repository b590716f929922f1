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
    saved::{Keep, Sampled},
    ses, ss,
};
use crate::explorer::Explorer;

/// Runs SES, then SS.
pub(super) fn search<E: Explorer>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
    keep: &Keep<'_>,
) -> Outcome {
    let mut sampled = match keep.sampled(settings) {
        Some(sampled) => sampled,
        None => match exhaustive(program, explorer, settings, budget, keep) {
            Ok(sampled) => sampled,
            Err(outcome) => return outcome,
        },
    };
    // What the statement says of states and transitions is the exhaustive part's.
    let Some(visited) = sampled.before.clone() else { crate::bug!("samples from a frontier that nobody left") };
    let beyond = Settings { max_delays: settings.max_delays.map(|max| max - visited.bound.min(max)), ..*settings };
    let stop = ss::strata(program, explorer, &beyond, budget, keep, &mut sampled);
    let mut coverage = sampled.coverage;
    (coverage.bound, coverage.completed_bound) = (visited.bound, visited.completed_bound);
    (coverage.transitions, coverage.executions) = (visited.transitions, visited.executions);
    Outcome { coverage, stop }
}

/// The first part, and where the second starts.
///
/// # Errors
/// There is no second part: nothing is left, or what was found or noticed ends it.
#[expect(clippy::result_large_err, reason = "there is one a search, handed on by value")]
fn exhaustive<E: Explorer>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
    keep: &Keep<'_>,
) -> Result<Sampled, Outcome> {
    let limits = budget.limits();
    // Half of the time each, unless a budget of states or memory ends the first part earlier.
    let half = budget.with_limits(Limits { time: limits.time.map(|time| time / 2), ..limits });
    let (Outcome { mut coverage, stop }, frontiers) = ses::explore(program, explorer, settings, &half, keep);
    if !matches!(stop, Stop::Time | Stop::States | Stop::Memory) {
        return Err(Outcome { coverage, stop });
    }
    let waiting = frontiers.iter().flat_map(Frontier::deviations);
    let starts: Vec<ss::Start> = waiting.map(|(deviations, from)| ss::Start { deviations, from }).collect();
    if starts.is_empty() {
        return Err(Outcome { coverage, stop });
    }
    drop(frontiers);
    coverage.sampled_frontier = starts.len() as u64;
    let before = Some(Box::new(coverage.clone()));
    Ok(Sampled { before, ..Sampled::from_starts(coverage, starts) })
}

//! SES until its budget, then SS from the frontier.
//!
//! Source: the paper's future work. It rests on the frontier's invariant: every reachable state not visited is reachable
//! through a frontier state's remaining choices. A sample picks a frontier state uniformly, takes its next choice, and
//! spends further delays from there; an execution that extends it by b delays is drawn with probability at least
//! 1/(|F| U^b).

use super::{Outcome, Program, Settings, Stop, budget::Budget, run::Deviation, ses, ss};
use crate::{explorer::Explorer, search::budget::Limits};

/// Runs SES, then SS.
pub(super) fn search<E: Explorer>(program: Program<'_>, explorer: &E, settings: &Settings, budget: &Budget<'_>) -> Outcome {
    let limits = budget.limits();
    // Half of the time each, unless a state budget ends the first part earlier.
    let half = budget.with_limits(Limits { time: limits.time.map(|time| time / 2), ..limits });
    let (Outcome { mut coverage, stop }, frontier) = ses::explore(program, explorer, settings, &half);
    if frontier.is_empty() || !matches!(stop, Stop::Time | Stop::States) {
        return Outcome { coverage, stop };
    }
    let starts: Vec<ss::Start> = frontier
        .iter()
        .map(|postponed| {
            let from = postponed.path.len() as u32;
            let mut deviations = postponed.deviations().to_vec();
            let delays = postponed.next_delays();
            if delays > 0 {
                deviations.push(Deviation { step: from, delays });
            }
            ss::Start { deviations, from }
        })
        .collect();
    drop(frontier);
    coverage.sampled_frontier = starts.len() as u64;
    let beyond = Settings { max_delays: settings.max_delays.map(|max| max - coverage.bound.min(max)), ..*settings };
    let (bound, completed_bound) = (coverage.bound, coverage.completed_bound);
    let stop = ss::strata(program, explorer, &beyond, budget, &mut coverage, &starts);
    (coverage.bound, coverage.completed_bound) = (bound, completed_bound);
    Outcome { coverage, stop }
}

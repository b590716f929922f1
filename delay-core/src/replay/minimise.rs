//! Makes a counterexample small: fewest delays, then fewest faults, then fewest steps. Every candidate is run live.
//!
//! Source: delta debugging over the deviations, after a search that is exact where it fits its bound: SES below the
//! finding's number of delays.

use super::confirm;
use crate::{
    explorer::Explorer,
    live::Options,
    search::{
        Cache, Deviation, Finding, Mode, Program, Settings, Stop,
        budget::{Budget, Limits, Meter},
        saved::Keep,
        search,
    },
    verdict::Violation,
};

/// States the exact search for fewer delays may visit; a count, so that the result is the same on every machine.
const STATES_MAX: u64 = 20_000;
/// Candidates tried for fewer steps.
const SHIFTS_MAX: u32 = 400;

/// Makes a finding smaller, as far as it goes within its bounds. A lasso stays as it is: it was built short, and what is
/// left of its delays would be another loop. So does what was hot for too long: an execution with few delays is not fair,
/// and to be hot for long says nothing there.
pub fn minimise<E: Explorer>(program: Program<'_>, explorer: &E, finding: Finding, budget: &Budget<'_>) -> Finding {
    if matches!(finding.violation, Violation::Lasso { .. } | Violation::Temperature { .. }) {
        return finding;
    }
    let program = Program { options: Options { temperature: None, ..program.options }, ..program };
    let finding = fewer_delays(program, explorer, finding, budget);
    let mut smaller = Smaller { live: program.live(), explorer, meter: budget.meter(), best: finding };
    smaller.drop_deviations();
    smaller.spend_less();
    smaller.shift();
    smaller.best
}

/// The execution with the fewest delays, if an exhaustive search below the finding's number meets one in time.
fn fewer_delays<E: Explorer>(program: Program<'_>, explorer: &E, finding: Finding, budget: &Budget<'_>) -> Finding {
    let Some(below) = finding.delays().checked_sub(1) else { return finding };
    let settings = Settings { mode: Mode::Ses, cache: Cache::State, max_delays: Some(below), ..Settings::default() };
    let limits = Limits { states: Some(STATES_MAX), ..budget.limits() };
    match search(program, explorer, &settings, &budget.with_limits(limits), &Keep::nowhere()).stop {
        Stop::Found(found) if found.violation.is_like(&finding.violation) => found,
        _ => finding,
    }
}

struct Smaller<'x, 'b, E> {
    live: crate::live::Live<'b>,
    explorer: &'x E,
    meter: Meter<'x>,
    best: Finding,
}

impl<E: Explorer> Smaller<'_, '_, E> {
    fn attempt(&mut self, deviations: &[Deviation]) -> Option<Finding> {
        confirm(&mut self.live, self.explorer, deviations, &self.best, &mut self.meter)
    }

    /// Leaves out deviations, ever fewer at a time.
    fn drop_deviations(&mut self) {
        let mut chunk = self.best.deviations.len();
        while chunk > 0 {
            let mut at = 0;
            while at < self.best.deviations.len() {
                let mut fewer = self.best.deviations.clone();
                fewer.drain(at..(at + chunk).min(fewer.len()));
                match self.attempt(&fewer) {
                    Some(found) => self.best = found,
                    None => at += chunk,
                }
            }
            chunk /= 2;
        }
    }

    /// Spends fewer delays at each deviation.
    fn spend_less(&mut self) {
        for at in 0..self.best.deviations.len() {
            for delays in 1..self.best.deviations[at].delays {
                let mut less = self.best.deviations.clone();
                less[at].delays = delays;
                if let Some(found) = self.attempt(&less) {
                    self.best = found;
                    break;
                }
            }
        }
    }

    /// Moves deviations, last first, keeping what needs fewer faults, or makes the execution shorter.
    fn shift(&mut self) {
        let mut left = SHIFTS_MAX;
        for at in (0..self.best.deviations.len()).rev() {
            let from = at.checked_sub(1).map_or(0, |before| self.best.deviations[before].step + 1);
            let to = self.best.deviations.get(at + 1).map_or(self.best.steps as u32, |after| after.step);
            for step in from..to {
                if left == 0 || at >= self.best.deviations.len() {
                    return;
                }
                left -= 1;
                let mut moved = self.best.deviations.clone();
                moved[at].step = step;
                if let Some(found) = self
                    .attempt(&moved)
                    .filter(|found| (found.faults, found.steps) < (self.best.faults, self.best.steps))
                {
                    self.best = found;
                }
            }
        }
    }
}

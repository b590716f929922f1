//! What a test does with an explorer at hand: explore, confirm, minimise; or replay a trace.

use super::{
    Checkpoint,
    quiet::{self, Prints},
};
use crate::{
    explorer::Explorer,
    limits,
    live::{Lasso, Status},
    replay::{self, Replayed, minimise},
    search::{
        self, Finding, Outcome, Program, Ran, Settings, Stop,
        budget::{Budget, Limits},
        run,
        saved::{Keep, Saved},
    },
    trace::{TestName, Trace, Verdict},
    verdict::{Divergence, Violation},
    world::{fault::Kind, premises::Premises},
};

/// What is asked for.
#[derive(Debug, Clone)]
pub(super) enum Work {
    Explore,
    Replay(Box<Trace>, Shown),
}

/// Whether a person is to see what a replayed execution prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Yes,
    No,
}

/// A failing execution, confirmed and minimised.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What is saved.
    pub trace: Trace,
    /// The events with their places in the code.
    pub events: Vec<crate::trace::event::Event>,
    /// What was violated.
    pub violation: Violation,
}

/// What came of it.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one a session, handed on by value")]
pub(super) enum Done {
    Explored { outcome: Outcome, failure: Option<Failure> },
    Replayed(Replayed),
}

/// Everything a job needs but the explorer.
pub(super) struct Session<'s, 'b> {
    pub(super) program: Program<'b>,
    pub(super) settings: Settings,
    pub(super) test: TestName,
    pub(super) explorer: String,
    pub(super) budget: &'s Budget<'s>,
    /// Called with each form of a failure, before it is minimised and after.
    pub(super) on_failure: &'s (dyn Fn(&Failure) + Sync),
    pub(super) work: Work,
    pub(super) prints: Prints,
    /// Where the search is saved, and what it goes on from.
    pub(super) checkpoint: Option<&'s Checkpoint>,
    pub(super) done: Option<Done>,
}

impl std::fmt::Debug for Session<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("test", &self.test).finish_non_exhaustive()
    }
}

impl Session<'_, '_> {
    pub(super) fn run<E: Explorer>(&mut self, explorer: &E) {
        let done = match self.work.clone() {
            Work::Explore => {
                let mut from = self.checkpoint.and_then(Checkpoint::take).map(|(premises, saved)| {
                    self.program.options.premises = premises;
                    saved
                });
                loop {
                    match self.explore(explorer, from.take()) {
                        Ok(done) => break done,
                        Err(premises) => self.program.options.premises = premises,
                    }
                }
            }
            Work::Replay(trace, shown) => Done::Replayed(self.replay(explorer, &trace, shown)),
        };
        self.done = Some(done);
    }

    /// Confirming and showing an execution costs no budget.
    fn unlimited(&self) -> Budget<'_> {
        self.budget.with_limits(Limits::default())
    }

    fn replay<E: Explorer>(&self, explorer: &E, trace: &Trace, shown: Shown) -> Replayed {
        let mut live = self.program.live();
        let unlimited = self.unlimited();
        let silence = self.prints.silence();
        let replayed = quiet::muted(|| replay::replay(&mut live, explorer, trace, &mut unlimited.meter()));
        drop(silence);
        if shown == Shown::Yes {
            let path = live.path().to_vec();
            self.prints.show(&mut live, &path, "the execution once more");
        }
        replayed
    }

    /// # Errors
    /// What has to be taken for granted, if that is something else.
    fn explore<E: Explorer>(&mut self, explorer: &E, from: Option<Saved>) -> Result<Done, Premises> {
        let silence = self.prints.silence();
        self.warm_up(explorer);
        let mut outcome = self.search(explorer, from);
        let Stop::Found(finding) = outcome.stop.clone() else {
            let impossible = self.impossible(&outcome);
            if self.settings.shard.is_whole() {
                outcome.stop = impossible.map_or(outcome.stop, Stop::Impossible);
            } else {
                // What this shard did not meet the others may have met.
                outcome.coverage.unmet = impossible;
            }
            return Ok(Done::Explored { outcome, failure: None });
        };
        if let Violation::Premises(premises) = finding.violation {
            return Err(premises);
        }
        // From here on it is about this execution, which a replay must find under the same.
        self.program.options.premises_are_given = true;
        Ok(match self.record(explorer, &finding) {
            Ok(first) => {
                (self.on_failure)(&first);
                let (finding, failure) = self.minimise(explorer, finding, first);
                drop(silence);
                self.show(explorer, &finding);
                Done::Explored { outcome, failure: Some(failure) }
            }
            Err(divergence) => {
                outcome.stop = Stop::Nondeterministic(divergence);
                Done::Explored { outcome, failure: None }
            }
        })
    }

    fn search<E: Explorer>(&self, explorer: &E, from: Option<Saved>) -> Outcome {
        let premises = self.program.options.premises;
        let save = |saved: &Saved| {
            if let Some(checkpoint) = self.checkpoint {
                checkpoint.save(premises, saved);
            }
        };
        let keep = match self.checkpoint {
            Some(checkpoint) => Keep::by(&save, checkpoint.every, from),
            None => Keep::nowhere(),
        };
        search::search(self.program, explorer, &self.settings, self.budget, &keep)
    }

    /// What was asked for though there is nothing it could happen to: the test does not test what it seems to.
    fn impossible(&self, outcome: &Outcome) -> Option<String> {
        if matches!(outcome.stop, Stop::Nondeterministic(_) | Stop::Unsound(_) | Stop::Interrupted) {
            return None;
        }
        let (faults, totals) = (self.program.options.faults, &outcome.coverage.totals);
        // Where not everything was seen, a message may still come that something can happen to.
        let had = if outcome.stop == Stop::Exhausted { totals.met_faults } else { totals.possible_faults };
        let is_idle = |kind: &Kind| faults.left(*kind) > 0 && had & 1 << *kind as u8 == 0;
        if let Some(kind) = Kind::ALL.into_iter().find(is_idle) {
            return Some(format!("faults({} = ..) can never happen: {}", kind.name(), missing(kind)));
        }
        let (link, _) = totals.links.iter().find(|(_, matched)| !matched)?;
        Some(format!("the faults of a {link} can never happen: no message matched it; are its names right?"))
    }

    /// One execution that counts for nothing: lazy initialisation differs in the first execution only.
    fn warm_up<E: Explorer>(&self, explorer: &E) {
        let mut program = self.program;
        program.options.max_steps = program.options.max_steps.min(limits::WARM_UP_STEPS_MAX);
        run(&mut program.live(), explorer, &[], None, &mut self.budget.meter());
    }

    /// A failing execution once more, for a person to see what it prints.
    fn show<E: Explorer>(&self, explorer: &E, finding: &Finding) {
        let mut live = self.program.live();
        let unlimited = self.unlimited();
        live.watch(Lasso::of(&finding.violation));
        let silence = self.prints.silence();
        run(&mut live, explorer, &finding.deviations, None, &mut unlimited.meter());
        drop(silence);
        let path = live.path().to_vec();
        self.prints.show(&mut live, &path, "the failing execution once more");
    }

    fn minimise<E: Explorer>(&self, explorer: &E, finding: Finding, first: Failure) -> (Finding, Failure) {
        let unlimited = self.unlimited();
        let smallest = minimise::minimise(self.program, explorer, finding.clone(), &unlimited);
        if smallest == finding {
            return (finding, first);
        }
        match self.record(explorer, &smallest) {
            Ok(failure) => {
                (self.on_failure)(&failure);
                (smallest, failure)
            }
            Err(_) => (finding, first),
        }
    }

    /// Runs a finding once more, with its events in words. A finding that does not show again is nondeterminism.
    fn record<E: Explorer>(&self, explorer: &E, finding: &Finding) -> Result<Failure, Divergence> {
        let mut live = self.program.live();
        let unlimited = self.unlimited();
        live.set_recording(true);
        live.watch(Lasso::of(&finding.violation));
        let ran = quiet::muted(|| run(&mut live, explorer, &finding.deviations, None, &mut unlimited.meter()));
        let violation = live.violation().filter(|_| ran == Ran::Through(Status::Violated)).cloned();
        let Some(violation) = violation.filter(|violation| violation.is_like(&finding.violation)) else {
            let seen = live.violation().map_or("no violation".to_owned(), ToString::to_string);
            return Err(live.divergence_here(&finding.violation.to_string(), &seen));
        };
        let options = self.program.options;
        let schedule = replay::name(&live, &finding.deviations);
        let trace = Trace {
            test: self.test.clone(),
            explorer: self.explorer.clone(),
            seed: self.settings.seed,
            granularity: options.granularity,
            end: options.end,
            waiting: options.waiting,
            max_steps: options.max_steps,
            faults: options.faults,
            premises: options.premises,
            time: options.time,
            skew: options.skew,
            verdict: Verdict::Fail,
            violation: violation.lines(),
            delays: u64::from(finding.delays()),
            steps: live.path().len() as u64,
            lasso: Lasso::of(&violation),
            schedule,
            events: live.events().iter().map(Into::into).collect(),
        };
        Ok(Failure { trace, events: live.events().to_vec(), violation })
    }
}

/// What a kind of fault needs and the test does not have.
fn missing(kind: Kind) -> &'static str {
    match kind {
        Kind::Drop | Kind::Delay => {
            "no message comes to an endpoint of a `delay::net::Network`, or each to a link with faults of its own"
        }
        Kind::Duplicate => "no message that can be copied is sent; give the network a payload with `.cloned()`",
        Kind::Reorder => "no two messages are kept in order (Delivery::Fifo or PerSender) at an endpoint",
        Kind::Partition => "the test starts fewer than two nodes (`delay::node::Node`)",
        Kind::Crash | Kind::Restart => "the test starts no node (`delay::node::Node`), or each has a budget of its own",
    }
}

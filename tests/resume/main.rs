//! A search that was stopped and goes on comes to what it would have come to: visited states, counts, findings, samples.

mod divided;
mod fan_in;
#[expect(dead_code, reason = "it draws none with time and faults")]
#[path = "../learned/programs.rs"]
mod programs;
mod sampling;
mod stopped;

use delay::{Execution, Stop};
use delay_core::{
    coverage::Coverage,
    explorer::Explorer,
    live::{Body, Options, Totals},
    name::Order,
    search::{
        self, Outcome, Program, Settings,
        budget::{Budget, Limits},
        saved::{Keep, Position, Saved},
    },
    verdict::Violation,
    world::premises::Premises,
};
use delay_explorers::{probabilistic::ProbabilisticRoundRobin, run_to_completion::RunToCompletion};
use std::{cell::RefCell, sync::atomic::AtomicBool, time::Duration};

/// A search of a body.
#[derive(Clone, Copy)]
struct Subject<'b> {
    body: &'b Body<'b>,
    options: Options,
    settings: Settings,
    /// Set by the body to stop the search.
    interrupted: &'b AtomicBool,
}

static NEVER: AtomicBool = AtomicBool::new(false);

impl<'b> Subject<'b> {
    fn new(body: &'b Body<'b>) -> Self {
        Self { body, options: Options::default(), settings: Settings::default(), interrupted: &NEVER }
    }

    /// Searches, after so many states at most, from what was saved. What is saved comes with what was taken for granted.
    fn search(&self, states: Option<u64>, every: Duration, from: Option<(Premises, Saved)>) -> Searched {
        if self.settings.seed.is_multiple_of(2) {
            self.search_by(&RunToCompletion::default(), states, every, from)
        } else {
            self.search_by(&ProbabilisticRoundRobin::new(self.settings.seed), states, every, from)
        }
    }

    fn search_by<E: Explorer>(
        &self,
        explorer: &E,
        states: Option<u64>,
        every: Duration,
        from: Option<(Premises, Saved)>,
    ) -> Searched {
        let mut options = self.options;
        let (premises, mut from) = from.map_or((options.premises, None), |(premises, saved)| (premises, Some(saved)));
        options.premises = premises;
        let limits = Limits { states, ..self.settings.limits };
        let budget = Budget::start(limits, self.interrupted, &|_, _| {});
        loop {
            let saved = RefCell::new(Vec::new());
            let save = |now: &Saved| saved.borrow_mut().push((options.premises, now.clone()));
            let keep = Keep::by(&save, every, from.take());
            let program = Program { body: self.body, options };
            let outcome = search::search(program, explorer, &self.settings, &budget, &keep);
            if let Stop::Found(finding) = &outcome.stop
                && let Violation::Premises(premises) = finding.violation
            {
                options.premises = premises;
                continue;
            }
            return Searched { outcome, saved: saved.into_inner() };
        }
    }

    /// To its end in one go.
    fn whole(&self) -> Searched {
        self.search(None, Duration::MAX, None)
    }
}

/// What a search came to, and what was saved on the way, the last at its end.
struct Searched {
    outcome: Outcome,
    saved: Vec<(Premises, Saved)>,
}

impl Searched {
    /// What it came to, but for what is counted of re-execution: for comparison.
    fn end(&self) -> (Stop, Saved) {
        let (_, saved) = self.saved.last().expect("it is saved at its end");
        (self.outcome.stop.clone(), comparable(saved.clone()))
    }
}

fn comparable(mut saved: Saved) -> Saved {
    let forget = |coverage: &mut Coverage| coverage.totals = Totals::default();
    match &mut saved {
        Saved::Exhaustive(Position { coverage, visited, names, .. }) => {
            forget(coverage);
            let words = visited.fingerprints.bits() as usize / 64;
            let mut states: Vec<&[u64]> = visited.states.chunks(words).collect();
            states.sort_unstable();
            visited.states = states.concat();
            // Each a fingerprint and its delays.
            let words = visited.fingerprints.bits() as usize / 64 + 1;
            let mut pairs: Vec<&[u64]> = visited.pairs.chunks(words).collect();
            pairs.sort_unstable();
            visited.pairs = pairs.concat();
            // In the order in which they were met, or gone on from.
            *names = Order::default();
        }
        Saved::Sampling(sampled) => {
            forget(&mut sampled.coverage);
            sampled.before.iter_mut().for_each(|before| forget(before));
        }
    }
    saved
}

/// Both ways to know what a task does next.
const EXECUTIONS: [Execution; 2] = [Execution::Learned, Execution::Live];

/// Four tasks send a message each; in which order they came.
async fn order() -> Vec<u32> {
    fan_in::order(4).await
}

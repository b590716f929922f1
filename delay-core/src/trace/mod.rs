//! The saved form of an execution: plain data, its text (`docs/trace-format.md`), and where it lies on disk.
//!
//! Invariants:
//! - A trace is stable against edits of the code around it: it holds no line number, address, time or thread, only the
//!   decisions and what happened in people's names.
//! - `parse(print(t)) == t` for every trace that keeps the invariants of its fields.

mod error;
pub mod event;
pub mod pin;
mod quote;
mod reader;
pub mod text;
mod value;

use crate::{
    live::{End, Lasso, Waiting},
    world::{
        Granularity,
        fault::{Faults, Time},
        premises::Premises,
    },
};
pub use error::{TraceError, TraceErrorKind};
use event::Event;
use std::fmt;
pub(crate) use value::{end_word, granularity_word, waiting_word};

/// A saved execution of one test: what to decide, and what is to be seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The test it is an execution of.
    pub test: TestName,
    /// The explorer the schedule deviates from.
    pub explorer: String,
    /// Seed of the explorer and of `delay::rng`.
    pub seed: u64,
    /// Where scheduling points stood.
    pub granularity: Granularity,
    /// What ended the execution.
    pub end: End,
    /// Whether processes might be left waiting.
    pub waiting: Waiting,
    /// Most steps of the execution.
    pub max_steps: u32,
    /// What could go wrong, and how often.
    pub faults: Faults,
    /// What the search took for granted of the program.
    pub premises: Premises,
    /// Which timers could fire when.
    pub time: Time,
    /// How far the clocks of two nodes could differ, in nanoseconds.
    pub skew: u64,
    /// What came of it when it was saved.
    pub verdict: Verdict,
    /// The lines of the violation's text; none if there was no violation.
    pub violation: Vec<String>,
    /// Delays spent. Invariant: the sum over `schedule`.
    pub delays: u64,
    /// Steps made.
    pub steps: u64,
    /// Where its loop is, if it goes around one twice.
    pub lasso: Option<Lasso>,
    /// Where it deviates from the explorer's order. Invariant: ascending by step, no step twice, no deviation of 0 delays.
    pub schedule: Vec<Deviation>,
    /// What happened, for people and to notice a divergence.
    pub events: Vec<Line>,
}

/// What people and tools call a test.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TestName {
    /// The package that holds it.
    pub package: String,
    /// The crate that holds it: the package's library, or one of its test binaries.
    pub krate: String,
    /// Modules and function, joined by `::`.
    pub path: String,
}

impl fmt::Display for TestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { package: _, krate, path } = self;
        write!(f, "{krate}::{path}")
    }
}

/// What came of an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It violates something: [`Trace::violation`].
    Fail,
    /// It ends as it should.
    Pass,
    /// The program no longer follows the schedule.
    Diverged {
        /// The first step that differed, from 1.
        step: u64,
        /// What the saved execution did there.
        expected: String,
        /// What the program did instead.
        saw: String,
    },
}

/// One choice at which delays were spent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deviation {
    /// Which choice of the execution, from 0.
    pub step: u32,
    /// How many delays were spent there, at least 1.
    pub delays: u32,
    /// The process that moved then.
    pub process: String,
    /// Which of its own steps that was.
    pub nth: u32,
}

/// One thing that happened, as it is saved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// Number of the step it happened in; 0 is the set-up.
    pub step: u64,
    /// The process.
    pub process: String,
    /// What it did.
    pub text: String,
}

impl From<&Event> for Line {
    fn from(event: &Event) -> Self {
        // The virtual time follows from the steps, and the place in the code changes with every edit.
        let Event { step, now: _, process, text, site: _ } = event;
        Self { step: *step, process: process.clone(), text: text.clone() }
    }
}

/// Traces for the unit tests of this room.
#[cfg(test)]
pub(crate) mod samples {
    use super::*;
    use crate::world::{fault::Kind, premises::Fates};
    use proptest::{prelude::*, test_runner::RngSeed};

    /// Always the same cases, and no regression files in the source tree.
    pub(crate) fn config(cases: u32) -> ProptestConfig {
        let failure_persistence = None;
        ProptestConfig { cases, failure_persistence, rng_seed: RngSeed::Fixed(0xDE1A), ..ProptestConfig::default() }
    }

    pub(crate) fn lost_vote() -> Trace {
        let deviation = |step, delays, process: &str, nth| Deviation { step, delays, process: process.to_owned(), nth };
        let line = |step, process: &str, text: &str| Line { step, process: process.to_owned(), text: text.to_owned() };
        Trace {
            test: TestName {
                package: "delay-examples".to_owned(),
                krate: "protocols".to_owned(),
                path: "two_phase::counts_votes".to_owned(),
            },
            explorer: "rtc".to_owned(),
            seed: 0,
            granularity: Granularity::Send,
            end: End::Quiescent,
            waiting: Waiting::Allow,
            max_steps: 100_000,
            faults: Faults::NONE,
            premises: Premises::default(),
            time: Time::Any,
            skew: 0,
            verdict: Verdict::Fail,
            violation: vec!["panic in coordinator: votes differ".to_owned(), "  left: 1".to_owned()],
            delays: 3,
            steps: 14,
            lasso: None,
            schedule: vec![deviation(3, 1, "p1", 2), deviation(12, 2, "coordinator", 4)],
            events: vec![
                line(0, "main", "spawns coordinator"),
                line(1, "coordinator", "sends Prepare to p1"),
                line(14, "coordinator", "panics: votes differ"),
            ],
        }
    }

    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z]{1,8}",
            r#"[ab .:,"\\|\-#=>é\n\r\t\u{0}\u{85}\u{200b}\u{202e}\u{2028}\u{feff}]{0,8}"#,
            Just("a, saw b".to_owned()),
            Just("---".to_owned()),
            Just("end of trace".to_owned()),
            any::<String>(),
        ]
    }

    fn any_verdict() -> impl Strategy<Value = Verdict> {
        prop_oneof![
            Just(Verdict::Fail),
            Just(Verdict::Pass),
            (any::<u64>(), any_text(), any_text()).prop_map(|(step, expected, saw)| Verdict::Diverged {
                step,
                expected,
                saw
            }),
        ]
    }

    fn any_schedule() -> impl Strategy<Value = Vec<Deviation>> {
        let rest = (1..=u32::MAX, any_text(), any::<u32>());
        prop::collection::btree_map(any::<u32>(), rest, 0..5).prop_map(|all| {
            all.into_iter().map(|(step, (delays, process, nth))| Deviation { step, delays, process, nth }).collect()
        })
    }

    fn any_line() -> impl Strategy<Value = Line> {
        let step = prop_oneof![0..1_000_u64, any::<u64>()];
        (step, any_text(), any_text()).prop_map(|(step, process, text)| Line { step, process, text })
    }

    fn any_test() -> impl Strategy<Value = TestName> {
        (any_text(), any_text(), any_text()).prop_map(|(package, krate, path)| TestName { package, krate, path })
    }

    /// Any trace that keeps the invariants of its fields.
    pub(crate) fn any_trace() -> impl Strategy<Value = Trace> {
        let granularity = prop::sample::select(vec![Granularity::Send, Granularity::Op, Granularity::Macro]);
        let end = prop::sample::select(vec![End::Quiescent, End::Body]);
        let waiting = prop::sample::select(vec![Waiting::Allow, Waiting::Deny]);
        let options = (any_text(), any::<u64>(), granularity, end, waiting, any::<u32>());
        let budgets = prop::collection::vec(prop_oneof![Just(0), any::<u32>()], Kind::ALL.len());
        let time = prop::sample::select(vec![Time::Any, Time::Ordered]);
        let fates = prop::sample::select(vec![Fates::AtReceive, Fates::AtSend]);
        let environment = (budgets, (fates, any::<bool>()), time, any::<u64>());
        let lasso = prop::option::of((any::<u32>(), 1..=u32::MAX));
        let lasso = lasso.prop_map(|lasso| lasso.map(|(start, length)| Lasso { start, length }));
        let outcome = (any_verdict(), prop::collection::vec(any_text(), 0..4), any::<u64>(), lasso);
        let told = (any_schedule(), prop::collection::vec(any_line(), 0..5));
        (any_test(), options, environment, outcome, told).prop_map(|(test, options, environment, outcome, told)| {
            let (budgets, (fates, reads_clock), time, skew) = environment;
            let faults =
                Kind::ALL.into_iter().zip(budgets).fold(Faults::NONE, |all, (kind, most)| all.with(kind, most));
            let (explorer, seed, granularity, end, waiting, max_steps) = options;
            let (verdict, violation, steps, lasso) = outcome;
            let (schedule, events) = told;
            let delays = schedule.iter().map(|deviation| u64::from(deviation.delays)).sum();
            Trace {
                test,
                explorer,
                seed,
                granularity,
                end,
                waiting,
                max_steps,
                faults,
                premises: Premises { fates, reads_clock },
                time,
                skew,
                verdict,
                violation,
                delays,
                steps,
                lasso,
                schedule,
                events,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_what_an_edit_of_the_code_leaves_alone() {
        let event = |now| Event { step: 3, now, process: "p1".to_owned(), text: "wakes up".to_owned(), site: None };
        let line = Line { step: 3, process: "p1".to_owned(), text: "wakes up".to_owned() };
        assert_eq!(Line::from(&event(0)), line);
        assert_eq!(Line::from(&event(5)), line);
    }
}

//! The library against the table and the brute force: the same programs as async code, under every explorer and search.
//!
//! Where a definition differs: an envelope shows its sender, so over endpoints equal values of different senders differ
//! ([`key_of`]).

use crate::{
    bodies::{Order, body},
    counts::{Row, series, table},
    programs::program,
    reference::{Granularity, Graph, Key, Mailbox, Semantics},
    strata::{self, Kind, Strata},
    wire::{Counts, Ledger, Wiring},
};
use delay::{Cache, Checker, Execution, Report, net::Delivery};
use delay_core::{coverage::Coverage, search::Delta};
use std::{collections::BTreeSet, time::Duration};

/// The explorers whose definition the notes have, by their names there.
pub(crate) const EXPLORERS: [(&str, Kind); 3] = [("rtc", Kind::Rtcz), ("rr", Kind::Rre), ("rtc-recv", Kind::Rtcp)];

/// Programs with more schedules than this are enumerated with one explorer only, and not over endpoints; those with too
/// many are not.
const MANY: u128 = 10_000;
const TOO_MANY: u128 = 50_000;

/// A table program and how it is run.
#[derive(Clone, Copy)]
pub(crate) struct Subject {
    name: &'static str,
    pub(crate) semantics: Semantics,
    wiring: Wiring,
}

/// What a check came to.
pub(crate) struct Checked {
    pub(crate) report: Report,
    counts: Counts,
}

impl Subject {
    pub(crate) fn of(row: &Row) -> Self {
        let semantics = row.semantics();
        let wiring = match semantics.mailbox {
            Mailbox::Fifo => Wiring::Channels,
            Mailbox::PerSender => Wiring::Endpoints(Delivery::PerSender),
            Mailbox::Bag => Wiring::Endpoints(Delivery::Unordered),
        };
        Self { name: row.cell("program"), semantics, wiring }
    }

    fn fifo(name: &'static str, granularity: Granularity) -> Self {
        Self { name, semantics: Semantics { mailbox: Mailbox::Fifo, granularity }, wiring: Wiring::Channels }
    }

    pub(crate) fn graph(&self) -> Graph {
        Graph::of(&program(self.name), self.semantics)
    }

    /// The key of the brute force that tells states apart as the library does.
    fn key(&self) -> Key {
        match self.wiring {
            Wiring::OpaqueChannels => Key::Identity,
            // Each sends one message here: by sender is by identity.
            Wiring::Endpoints(_) if self.name.starts_with("FANINSAME") => Key::Identity,
            Wiring::Channels | Wiring::Endpoints(_) => Key::Checkpoint,
        }
    }

    pub(crate) fn checker(&self, explorer: &'static str) -> Checker {
        let granularity = match self.semantics.granularity {
            Granularity::Send => delay::Granularity::Send,
            Granularity::Op => delay::Granularity::Op,
            Granularity::Macro => delay::Granularity::Macro,
        };
        Checker::new().explorer(explorer).granularity(granularity).budget(Duration::from_mins(10))
    }

    /// Runs a check in which the first declared process is the explorer's first.
    pub(crate) fn check(&self, checker: Checker, explorer: &str) -> Checked {
        let order = if explorer.starts_with("rtc") { Order::Reversed } else { Order::Declared };
        let ledger = Ledger::new(program(self.name).outcome, || true);
        let report = checker.execution(Execution::Live).check(|| body(self.name, self.wiring, order, &ledger));
        let counts = ledger.close();
        // The ledger sees live executions only. What was learnt comes to the same.
        let ledger = Ledger::new(program(self.name).outcome, || true);
        let learned = checker.execution(Execution::Learned).check(|| body(self.name, self.wiring, order, &ledger));
        assert_eq!(numbers(&learned), numbers(&report), "{} {explorer}, learned", self.name);
        Checked { report, counts }
    }

    /// Executions with exactly 0, 1, .. delays, up to that many.
    fn executions(&self, explorer: &'static str, delays: u32) -> Vec<u64> {
        let within = |delays| {
            let checker = self.checker(explorer).cache(Cache::Off).max_delays(delays);
            self.check(checker, explorer).report.coverage.executions
        };
        let sums: Vec<u64> = (0..=delays).map(within).collect();
        sums.iter().zip(std::iter::once(&0).chain(&sums)).map(|(sum, before)| sum - before).collect()
    }
}

/// What a search counted, however it was executed.
fn numbers(report: &Report) -> (u64, u64, u64, &[u64], u64, bool) {
    let Coverage { states, transitions, executions, states_per_bound, longest, met_choice, .. } = &report.coverage;
    (*states, *transitions, *executions, states_per_bound, *longest, *met_choice)
}

impl Checked {
    /// Everything was visited, and the outcomes are these.
    #[track_caller]
    pub(crate) fn assert_complete(&self, graph: &Graph, what: &str) {
        assert!(self.report.is_complete(), "{what}: {:?}", self.report.stop);
        self.assert_outcomes(graph, what);
    }

    /// Every outcome was met, and no other.
    #[track_caller]
    pub(crate) fn assert_outcomes(&self, graph: &Graph, what: &str) {
        let outcomes: BTreeSet<&str> = self.counts.outcomes.keys().map(String::as_str).collect();
        assert_eq!(outcomes, graph.outcomes(), "{what}");
    }
}

/// Schedules, steps and outcomes, with nothing merged.
#[test]
fn every_schedule_is_visited_once() {
    for row in table("totals") {
        let subject = Subject::of(&row);
        let graph = subject.graph();
        let schedules = graph.schedules();
        if schedules > TOO_MANY || schedules > MANY && subject.wiring != Wiring::Channels {
            continue;
        }
        let explorers = if schedules > MANY { 1 } else { EXPLORERS.len() };
        for (explorer, _) in &EXPLORERS[..explorers] {
            let checked = subject.check(subject.checker(explorer).cache(Cache::Off), explorer);
            let coverage = &checked.report.coverage;
            checked.assert_complete(&graph, &format!("{row}, {explorer}"));
            row.check("schedules", &coverage.executions.to_string());
            row.check("outcomes", &checked.counts.outcomes.len().to_string());
            assert_eq!(u128::from(coverage.executions), schedules, "{row}, {explorer}");
            assert_eq!(checked.counts.outcomes.values().sum::<u64>(), coverage.executions, "{row}, {explorer}");
            if subject.semantics.granularity == Granularity::Op {
                assert_eq!(coverage.longest, graph.lengths().1 as u64, "{row}, {explorer}");
            }
        }
    }
}

/// States, transitions and outcomes of an exhausted search, whatever the explorer, its seed, the delta and the cache.
#[test]
fn exhaustion_visits_every_state_and_choice() {
    for row in table("totals") {
        let subject = Subject::of(&row);
        let graph = subject.graph();
        let (states, choices) = graph.states(subject.key());
        let column = if subject.key() == Key::Identity { "identity" } else { "checkpoint" };
        row.check(column, &format!("{states} / {choices}"));
        let expected = (states as u64, choices as u64);
        let every_delta = EXPLORERS.iter().flat_map(|(explorer, _)| [1, 2, 3].map(|delta| (*explorer, 0, delta)));
        for (explorer, seed, delta) in every_delta.chain([("ordered", 0, 1), ("prr", 1, 1), ("prr", 2, 1)]) {
            let what = format!("{row}, {explorer}, seed {seed}, delta {delta}");
            let checked = subject.check(subject.checker(explorer).seed(seed).delta(delta), explorer);
            checked.assert_complete(&graph, &what);
            let coverage = &checked.report.coverage;
            assert_eq!((coverage.states, coverage.transitions), expected, "{what}");
        }
    }
}

/// What the engine may not look into it tells apart by origin.
#[test]
fn opaque_values_are_told_apart_by_their_origin() {
    for name in ["FANINSAME(3)", "FANIN(3)", "2PC(2)", "2PCVOTE(2)", "REGISTER", "LOCKS", "RELAY"] {
        for granularity in [Granularity::Send, Granularity::Op] {
            let subject = Subject { wiring: Wiring::OpaqueChannels, ..Subject::fifo(name, granularity) };
            let (states, choices) = subject.graph().states(Key::Identity);
            let coverage = subject.check(subject.checker("rr"), "rr").report.coverage;
            assert_eq!(
                (coverage.states, coverage.transitions),
                (states as u64, choices as u64),
                "{name} {granularity:?}"
            );
        }
    }
}

/// Executions by their delays, and states by the bound under which they were met.
#[test]
fn every_stratum_has_its_executions_and_states() {
    for row in table("strata") {
        let Some((explorer, kind)) = EXPLORERS.into_iter().find(|(name, _)| *name == row.cell("explorer")) else {
            continue;
        };
        let subject = Subject::of(&row);
        let graph = subject.graph();
        let strata = Strata::of(&graph, kind);
        let expected = strata.executions();
        let met: Vec<u128> = subject.executions(explorer, 3).into_iter().map(u128::from).collect();
        let four: Vec<u128> = (0..4).map(|delays| expected.get(delays).copied().unwrap_or(0)).collect();
        assert_eq!(met, four, "{row}");
        row.check("executions", &series(&expected));

        let key = subject.key();
        let paper = subject.check(subject.checker(explorer).delta(1), explorer).report.coverage;
        let expected = strata.exhaust(1, strata::Cache::State(key));
        assert_eq!(series(&paper.states_per_bound), series(&expected.states), "{row}");
        // The table goes by content. The one program with checkpoints has fewer states with them.
        if subject.name != "COUNTER(3)" {
            row.check("search", &series(&paper.states_per_bound));
            row.check("last", &paper.completed_bound.unwrap_or(0).to_string());
        }

        let expected = strata.within(key, |_| true);
        for delta in 1..=3 {
            let strict = subject.checker(explorer).cache(Cache::StateExplorer).delta(delta);
            let strict = subject.check(strict, explorer).report.coverage.states_per_bound;
            let at = |bound: usize| expected[(bound * delta as usize).min(expected.len() - 1)];
            let within: Vec<usize> = (0..strict.len()).map(at).collect();
            assert_eq!(series(&strict), series(&within), "{row}, delta {delta}");
        }
        // Where nobody says by how much the bound is to rise.
        let rising = subject.checker(explorer).cache(Cache::StateExplorer);
        let rising = subject.check(rising, explorer).report.coverage.states_per_bound;
        let bounds = std::iter::successors(Some(0), |bound| Delta::default().next(*bound, None));
        let at = |bound: u32| expected[(bound as usize).min(expected.len() - 1)];
        let within: Vec<usize> = bounds.take(rising.len()).map(at).collect();
        assert_eq!(series(&rising), series(&within), "{row}, rising");
    }
}

/// The executions of programs in which every process makes one step are counted by delays as permutations are by
/// inversions, for every sound explorer.
#[test]
fn one_step_processes_have_mahonian_strata() {
    let rows: [(&str, &[u64]); 4] = [
        ("NORECV(3)", &[1, 2, 2, 1]),
        ("NORECV(4)", &[1, 3, 5, 6, 5, 3, 1]),
        ("NORECV(5)", &[1, 4, 9, 15, 20, 22, 20, 15, 9, 4, 1]),
        ("NORECV(6)", &[1, 5, 14, 29, 49, 71, 90, 101]),
    ];
    for (name, expected) in rows {
        for explorer in ["rtc", "rr", "rtc-recv", "prr", "ordered"] {
            let subject = Subject::fifo(name, Granularity::Op);
            assert_eq!(subject.executions(explorer, expected.len() as u32 - 1), expected, "{name}, {explorer}");
        }
    }
}

/// The notes' smallest program with an outcome that a key without the explorer's state finds late.
#[test]
fn a_late_outcome_is_late_and_not_lost() {
    let subject = Subject::fifo("LATE-1", Granularity::Op);
    let run = |cache, delays| {
        let Checked { report, counts } = subject.check(subject.checker("rr").cache(cache).max_delays(delays), "rr");
        (report.coverage, counts.outcomes.contains_key("m2 m1"))
    };
    let (paper, _) = run(Cache::State, u32::MAX);
    assert_eq!((paper.states_per_bound.as_slice(), paper.transitions), ([8, 20, 31, 34, 34].as_slice(), 51));
    let (strict, _) = run(Cache::StateExplorer, u32::MAX);
    assert_eq!((strict.states_per_bound.as_slice(), strict.transitions), ([8, 25, 34, 34].as_slice(), 68));
    let found = |cache| [0, 1, 2].map(|delays| run(cache, delays).1);
    assert_eq!(found(Cache::State), [false, false, true]);
    assert_eq!(found(Cache::StateExplorer), [false, true, true]);
    assert_eq!(found(Cache::Off), [false, true, true]);
}

/// How many delays the last outcome needs depends on the explorer. (`rtc-recv` cannot be compared on ALLTOALL: nobody
/// has received yet when its messages are sent, and a channel does not say who will.)
#[test]
fn delays_of_the_last_outcome() {
    for (name, expected) in [("LOCKS", [1, 2, 1].as_slice()), ("ALLTOALL(3)", &[3, 3])] {
        let subject = Subject::fifo(name, Granularity::Op);
        let outcomes = |explorer, delays| {
            let checker = subject.checker(explorer).cache(Cache::StateExplorer).max_delays(delays);
            subject.check(checker, explorer).counts.outcomes.len()
        };
        for ((explorer, _), expected) in EXPLORERS.into_iter().zip(expected) {
            let all = outcomes(explorer, u32::MAX);
            let last = (0..20).find(|delays| outcomes(explorer, *delays) == all);
            assert_eq!(last.as_ref(), Some(expected), "{name}, {explorer}");
        }
    }
}

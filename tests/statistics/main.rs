//! Sampling against exact probabilities: what is drawn, how often a violation is missed, and that neither depends on the
//! number of threads.
//!
//! Invariant: seeds are fixed, and a test of fit fails a right sampler with probability below 10^-6.

// The programs and the brute force of the ground truth, of which only a part is needed here.
#[path = "../ground_truth/bodies.rs"]
mod bodies;
#[path = "../ground_truth/programs.rs"]
mod programs;
#[path = "../ground_truth/reference.rs"]
#[expect(dead_code, reason = "shared with the ground truth, which uses all of it")]
mod reference;
#[path = "../ground_truth/strata.rs"]
#[expect(dead_code, reason = "shared with the ground truth, which uses all of it")]
mod strata;
#[path = "../ground_truth/wire.rs"]
#[expect(dead_code, reason = "shared with the ground truth, which uses all of it")]
mod wire;

mod jobs;
mod misses;

use bodies::{Order, body};
use delay::{
    Checker, Granularity, Mode, Report,
    explorer::{Event, Explorer, Process},
};
use programs::program;
use reference::{Graph, Mailbox, Semantics};
use std::{
    collections::BTreeMap,
    fmt::Debug,
    hash::{Hash, Hasher},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};
use strata::{Kind, Samples, Strata};
use wire::{Counts, Ledger, Wiring};

const SAMPLES: u64 = 3_000;

/// Round robin, which tells how many delays the present execution has spent.
#[derive(Clone)]
struct Counting {
    queue: Vec<Process>,
    spent: u32,
    told: Arc<AtomicU32>,
}

impl Hash for Counting {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.queue.hash(state);
    }
}

impl Explorer for Counting {
    fn step(&mut self, event: Event) {
        match event {
            Event::Enabled { process, .. } => self.queue.push(process),
            Event::Blocked(process) => self.queue.retain(|other| *other != process),
            _ => {}
        }
        self.told.store(self.spent, Ordering::Relaxed);
    }

    fn next(&self) -> Process {
        self.queue[0]
    }

    fn delay(&mut self) {
        self.queue.rotate_left(1);
        self.spent += 1;
        self.told.store(self.spent, Ordering::Relaxed);
    }
}

fn graph(name: &str) -> Graph {
    let semantics = Semantics { mailbox: Mailbox::Fifo, granularity: reference::Granularity::Op };
    Graph::of(&program(name), semantics)
}

fn checker() -> Checker {
    Checker::new().granularity(Granularity::Op).budget(Duration::from_secs(600)).samples(SAMPLES)
}

/// Samples with exactly that many delays of round robin, and the report.
fn sampled(name: &str, delays: u32) -> (Counts, Report) {
    let told = Arc::new(AtomicU32::new(0));
    let read = Arc::clone(&told);
    let ledger = Ledger::new(program(name).outcome, move || read.load(Ordering::Relaxed) == delays);
    let explorer = |_| Counting { queue: Vec::new(), spent: 0, told: Arc::clone(&told) };
    let body = || body(name, Wiring::Channels, Order::Declared, &ledger);
    let report = checker().mode(Mode::Ss).max_delays(delays).check_with(explorer, body);
    (ledger.close(), report)
}

/// Pearson's test of fit.
#[track_caller]
fn assert_fits<K: Ord + Debug>(observed: &BTreeMap<K, u64>, expected: &BTreeMap<K, f64>, what: &str) {
    let total: u64 = observed.values().sum();
    for outcome in observed.keys() {
        assert!(expected.contains_key(outcome), "{what}: {outcome:?} cannot be");
    }
    let square = |(outcome, probability): (&K, &f64)| {
        let (seen, expected) = (observed.get(outcome).copied().unwrap_or(0) as f64, probability * total as f64);
        assert!(expected >= 5.0, "{what}: too few samples for {outcome:?}");
        (seen - expected).powi(2) / expected
    };
    let statistic: f64 = expected.iter().map(square).sum();
    // The quantile of 1 - 10^-6 by Wilson and Hilferty.
    let freedom = expected.len() as f64 - 1.0;
    let spread = 2.0 / (9.0 * freedom.max(1.0));
    let most = freedom * (1.0 - spread + 4.753 * spread.sqrt()).powi(3);
    assert!(statistic <= most, "{what}: chi-square {statistic} above {most}\nobserved {observed:?}\nexpected {expected:?}");
}

/// A uniform choice at each step.
#[test]
fn random_draws_as_a_random_walk() {
    for (seed, name) in (1..).zip(["ORDER(3)", "FANIN(2x2)", "TRIANGLE", "RELAY", "REGISTER", "FANIN(3)", "2PCVOTE(2)"]) {
        let ledger = Ledger::new(program(name).outcome, || true);
        let checker = checker().mode(Mode::Random).seed(seed);
        let report = checker.check(|| body(name, Wiring::Channels, Order::Declared, &ledger));
        let counts = ledger.close();
        assert_eq!(report.coverage.executions, SAMPLES, "{name}");
        assert_fits(&counts.outcomes, &graph(name).random_walk(), name);
    }
}

const SAMPLED: [(&str, u32); 10] = [
    ("FANIN(3)", 1),
    ("FANIN(3)", 2),
    ("FANIN(3)", 3),
    ("REGISTER", 1),
    ("REGISTER", 2),
    ("TRIANGLE", 2),
    ("TRIANGLE", 3),
    ("ORDER(3)", 2),
    ("RELAY", 2),
    ("2PC(2)", 2),
];

/// Each delay uniform over the places of the last segment where it can be spent; a sample that finds none is short.
#[test]
fn stratified_sampling_draws_each_execution_as_computed() {
    for (name, delays) in SAMPLED {
        let graph = graph(name);
        let Samples { executions, outcomes, short } = Strata::of(&graph, Kind::Rre).sample(delays as usize);
        let (counts, report) = sampled(name, delays);
        let stratum = report.coverage.strata.iter().find(|stratum| stratum.delays == delays).expect("it was sampled");
        assert_eq!(counts.executions.values().sum::<u64>(), stratum.exact, "{name}: one execution a sample");
        let whole = |part: BTreeMap<Vec<usize>, f64>| {
            let all = part.into_iter().chain(short.iter().map(|(_, share)| (Vec::new(), *share)));
            all.fold(BTreeMap::new(), |mut all, (execution, share)| {
                *all.entry(execution).or_insert(0.0) += share;
                all
            })
        };
        let mut observed = counts.executions;
        observed.insert(Vec::new(), stratum.samples - stratum.exact);
        observed.retain(|_, count| *count > 0);
        assert_fits(&observed, &whole(executions), &format!("{name}, {delays} delays"));
        let exact: f64 = outcomes.values().sum();
        let outcomes = outcomes.into_iter().map(|(outcome, share)| (outcome, share / exact)).collect();
        assert_fits(&counts.outcomes, &outcomes, &format!("{name}, {delays} delays, outcomes"));
    }
}

/// A single sample draws each execution of its stratum with probability at least 1/U^d.
#[test]
fn no_execution_is_drawn_less_often_than_the_bound() {
    for (name, delays) in SAMPLED {
        let (counts, report) = sampled(name, delays);
        let executions = Strata::of(&graph(name), Kind::Rre).executions()[delays as usize];
        assert_eq!(counts.executions.len() as u128, executions, "{name}, {delays} delays: all of them come up");
        let bound = f64::from(report.coverage.choices).powi(delays as i32).recip();
        let least = *counts.executions.values().min().expect("there are some") as f64 / SAMPLES as f64;
        assert!(least >= bound, "{name}, {delays} delays: drawn with {least}, promised {bound}");
    }
}

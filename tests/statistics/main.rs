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
    Checker::new().granularity(Granularity::Op).budget(Duration::from_mins(10)).samples(SAMPLES)
}

/// No execution of the search has ended since it was last asked.
const NOBODY: u32 = u32::MAX;

/// Runs samples of round robin and counts those executions that came to their end with so many delays. What the engine
/// repeats without asking the explorer is none.
fn sampled(name: &str, checker: Checker, counts: impl Fn(u32) -> bool + Send + 'static) -> (Counts, Report) {
    let told = Arc::new(AtomicU32::new(NOBODY));
    let read = Arc::clone(&told);
    let ledger = Ledger::new(program(name).outcome, move || {
        let spent = read.swap(NOBODY, Ordering::Relaxed);
        spent != NOBODY && counts(spent)
    });
    let explorer = |_| Counting { queue: Vec::new(), spent: 0, told: Arc::clone(&told) };
    let report = checker.check_with(explorer, || body(name, Wiring::Channels, Order::Declared, &ledger));
    (ledger.close(), report)
}

/// Samples with exactly that many delays.
fn with_delays(name: &str, delays: u32) -> (Counts, Report) {
    sampled(name, checker().mode(Mode::Ss).max_delays(delays), move |spent| spent == delays)
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
    if expected.len() == 1 {
        return;
    }
    // The quantile of 1 - 10^-6 by Wilson and Hilferty.
    let freedom = expected.len() as f64 - 1.0;
    let spread = 2.0 / (9.0 * freedom);
    let most = freedom * (1.0 - spread + 4.753 * spread.sqrt()).powi(3);
    assert!(
        statistic <= most,
        "{what}: chi-square {statistic} above {most}\nobserved {observed:?}\nexpected {expected:?}"
    );
}

/// A uniform choice at each step.
#[test]
fn random_draws_as_a_random_walk() {
    for (seed, name) in (1..).zip(["ORDER(3)", "FANIN(2x2)", "TRIANGLE", "RELAY", "REGISTER", "FANIN(3)", "2PCVOTE(2)"])
    {
        let (counts, report) = sampled(name, checker().mode(Mode::Random).seed(seed), |_| true);
        assert_eq!(report.coverage.executions, SAMPLES, "{name}");
        assert_eq!(counts.outcomes.values().sum::<u64>(), SAMPLES, "{name}");
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

/// Each delay uniform over the places of the last segment where it can be spent; a sample that finds none is short. So
/// every execution of the stratum is drawn, none with less than 1/U^d.
#[test]
fn stratified_sampling_draws_each_execution_as_computed() {
    for (name, delays) in SAMPLED {
        let what = format!("{name}, {delays} delays");
        let (graph, (counts, report)) = (graph(name), with_delays(name, delays));
        let strata = Strata::of(&graph, Kind::Rre);
        let Samples { executions, outcomes, short } = strata.sample(delays as usize);
        let stratum = report.coverage.strata.iter().find(|stratum| stratum.delays == delays).expect("it was sampled");
        assert_eq!(counts.executions.values().sum::<u64>(), stratum.exact, "{what}: one execution a sample");
        assert_eq!(counts.executions.len() as u128, strata.executions()[delays as usize], "{what}: all come up");

        let bound = f64::from(report.coverage.choices).powf(f64::from(delays)).recip();
        let least = *counts.executions.values().min().expect("there are some") as f64 / SAMPLES as f64;
        assert!(least >= bound, "{what}: drawn with {least}, promised {bound}");

        let short: f64 = short.into_values().sum();
        let (mut observed, mut expected) = (counts.executions, executions);
        if short > 0.0 {
            observed.insert(Vec::new(), stratum.samples - stratum.exact);
            expected.insert(Vec::new(), short);
        }
        assert_fits(&observed, &expected, &what);
        let outcomes = outcomes.into_iter().map(|(outcome, share)| (outcome, share / (1.0 - short))).collect();
        assert_fits(&counts.outcomes, &outcomes, &format!("{what}, outcomes"));
    }
}

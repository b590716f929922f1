//! Soundness pitfalls, each with the smallest program that shows it: found as it is, missed when the guard is masked.
//!
//! A file is named after the mark `Pitfall B.n` at the guarding line in `delay-core`.

mod b01_explorer_state;
mod b02_fewest_delays;
mod b03_fault_budgets;
mod b04_monitors;
mod b05_truncation;
mod b07_queues;
mod b08_counters;
mod b09_hidden_nondeterminism;
mod b10_negative_observations;
mod b11_timers;
mod b12_canonical_names;
mod b13_message_identity;
mod b15_random_explorers;
mod b16_sampling_positions;
mod b17_parallel;
mod b18_fresh_executions;
mod b19_closing;
mod b20_quiescence;
mod b22_violations_first;
#[path = "../verdicts/mod.rs"]
mod verdicts;

use delay::Report;
use verdicts::{exhaustive, finds};

/// Nothing was found, and the search believed that it had seen everything: what a missing guard does.
#[track_caller]
fn misses(report: &Report) {
    verdicts::passes(report);
}

/// Nothing was found, rightly.
#[track_caller]
fn passes(report: &Report) {
    misses(report);
    assert!(report.sentences().starts_with("every "), "{}", report.sentences());
}

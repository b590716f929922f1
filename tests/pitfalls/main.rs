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

use delay::{Checker, Granularity, Report};

/// An exhaustive search without bound, with every op a step of its own.
fn exhaustive() -> Checker {
    Checker::new().granularity(Granularity::Op)
}

/// The violation with this text was found.
#[track_caller]
fn finds(report: &Report, text: &str) {
    let failure = report.failure.as_ref().unwrap_or_else(|| panic!("found nothing: {}", report.sentences()));
    let violation = failure.violation.to_string();
    assert!(violation.contains(text), "found something else: {violation}");
}

/// Nothing was found, and the search believed that it had seen everything: what a missing guard does.
#[track_caller]
fn misses(report: &Report) {
    assert!(!report.is_failure(), "found it: {:?}", report.stop);
    assert!(report.is_complete(), "did not finish: {:?}", report.stop);
}

/// Nothing was found, rightly.
#[track_caller]
fn passes(report: &Report) {
    misses(report);
    assert!(report.sentences().starts_with("every "), "{}", report.sentences());
}

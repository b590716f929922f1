//! Specifications beyond assertions, each with a program that keeps it and one that does not.

mod conformance;
mod inbox;
mod invariants;
mod linearizability;

use delay::{Checker, Granularity, Report};

/// An exhaustive search without bound, with every op a step of its own.
fn exhaustive() -> Checker {
    Checker::new().granularity(Granularity::Op)
}

/// The violation's text.
#[track_caller]
fn found(report: &Report) -> String {
    let failure = report.failure.as_ref().unwrap_or_else(|| panic!("found nothing: {}", report.sentences()));
    failure.violation.to_string()
}

/// Nothing was found, and nothing was left out.
#[track_caller]
fn passes(report: &Report) {
    assert!(!report.is_failure(), "{}", found(report));
    assert!(report.is_complete(), "did not finish: {}", report.sentences());
}

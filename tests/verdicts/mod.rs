//! What a search came to, as the tests of several crates assert it.

use delay::{Checker, Granularity, Report};

/// An exhaustive search without bound, with every op a step of its own.
pub(crate) fn exhaustive() -> Checker {
    Checker::new().granularity(Granularity::Op)
}

/// A violation was found; its text.
#[track_caller]
pub(crate) fn found(report: &Report) -> String {
    let failure = report.failure.as_ref().unwrap_or_else(|| panic!("found nothing: {}", report.sentences()));
    failure.violation.to_string()
}

/// The violation with this text was found; the whole of its text.
#[track_caller]
pub(crate) fn finds(report: &Report, text: &str) -> String {
    let violation = found(report);
    assert!(violation.contains(text), "found something else: {violation}");
    violation
}

/// Nothing was found, and the search believed that it had seen everything.
#[track_caller]
pub(crate) fn passes(report: &Report) {
    assert!(!report.is_failure(), "found something: {}", found(report));
    assert!(report.is_complete(), "did not finish: {:?}, {}", report.stop, report.sentences());
}

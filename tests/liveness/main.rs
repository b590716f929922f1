//! Liveness: what must happen at last. At an end, in a loop that is fair, and, as a heuristic, for too long.

mod ending;
mod events;
mod lasso;
mod recovery;
mod temperature;

use delay::{Checker, Granularity, Report, monitor::Monitor};

/// What the programs here announce.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Said {
    Asked,
    Answered,
}

/// Whoever asks is answered at last.
#[derive(Hash, Default)]
struct Answers {
    owed: u32,
}

impl Monitor for Answers {
    type Event = Said;

    fn on(&mut self, said: &Said) -> Result<(), String> {
        match said {
            Said::Asked => self.owed += 1,
            Said::Answered => self.owed = self.owed.checked_sub(1).ok_or("nobody had asked")?,
        }
        Ok(())
    }

    fn is_hot(&self) -> bool {
        self.owed > 0
    }
}

/// An exhaustive search without bound, with every op a step of its own.
fn exhaustive() -> Checker {
    Checker::new().granularity(Granularity::Op)
}

/// The violation with this text was found; the text of its report.
#[track_caller]
fn finds(report: &Report, text: &str) -> String {
    let failure = report.failure.as_ref().unwrap_or_else(|| panic!("found nothing: {}", report.sentences()));
    let violation = failure.violation.to_string();
    assert!(violation.contains(text), "found something else: {violation}");
    violation
}

/// Everything was visited, and nothing was found.
#[track_caller]
fn passes(report: &Report) {
    assert!(!report.is_failure(), "found something: {:?}", report.stop);
    assert!(report.is_complete(), "did not finish: {:?}, {}", report.stop, report.sentences());
}

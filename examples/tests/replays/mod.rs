//! A saved trace gives the same events each time it is followed.

use delay::{Checker, Outcome};
use std::time::Duration;

/// Finds the bug in `body`, then follows its trace a thousand times.
pub(crate) fn a_thousand_times<F, Fut>(checker: Checker, body: F)
where
    F: Fn() -> Fut + Send + Sync,
    Fut: Future,
    Fut::Output: Outcome,
{
    let report = checker.budget(Duration::from_mins(1)).check(&body);
    let found = report.failure.expect("the bug is found").trace;
    for _ in 0..1_000 {
        assert_eq!(checker.replay(&found, &body), found);
    }
}

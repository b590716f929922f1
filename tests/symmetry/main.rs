//! Identical tasks: states that differ only in which of them is which are visited once; all is found that is found without; and
//! where something tells the tasks apart, they are.

mod apart;
mod clients;
mod model;
mod random;

use delay::{Checker, Report, task};
use std::{future::Future, time::Duration};

/// How the tasks are spawned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Spawned {
    Identical,
    /// One by one: each is a task of its own.
    Each,
}

impl Spawned {
    fn spawn<F, T>(self, count: usize, body: F) -> task::JoinSet<T::Output>
    where
        F: FnOnce() -> T + Clone + Send + 'static,
        T: Future + Send + 'static,
        T::Output: Send + 'static,
    {
        if self == Self::Identical {
            return task::spawn_identical(count, body);
        }
        let mut set = task::JoinSet::new();
        for body in vec![body; count] {
            set.spawn(async move { body().await });
        }
        set
    }
}

/// A search that has to come to its end.
fn checker() -> Checker {
    Checker::new().budget(Duration::from_mins(5))
}

/// How many states a search visits that comes to its end, and transitions.
fn visited(report: &Report) -> (u64, u64) {
    assert!(report.is_complete() && !report.is_failure(), "{:?}\n{}", report.stop, words(report));
    (report.coverage.states, report.coverage.transitions)
}

fn words(report: &Report) -> String {
    report.coverage.sentences(&report.stop)
}

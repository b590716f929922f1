//! Where a report says that tasks are aborted: in the user's code, also by destructors, which nobody calls.

use delay::{
    Checker,
    task::{self, JoinSet},
    tokio_util::task::AbortOnDropHandle,
};
use std::future::{Future, pending};

/// The lines of these events in the report of a program that fails at its end.
fn shown<F: Future<Output = ()>>(what: &str, body: impl Fn() -> F + Send + Sync) -> Vec<String> {
    let report = Checker::new().check(async || {
        body().await;
        Err("at its end")
    });
    let failure = report.failure.expect("it fails");
    let text = delay_core::harness::failure::report(&failure, "found", None);
    let lines = text.lines().filter(|line| line.contains(what)).map(|line| line.split_whitespace().last());
    lines.map(|place| place.unwrap_or_default().to_owned()).collect()
}

fn here(line: u32) -> String {
    format!("{}:{line}", file!())
}

#[test]
fn what_a_dropped_set_aborts_is_shown_where_it_was_put_in() {
    let places = shown("aborts", async || {
        let mut set = JoinSet::new();
        set.spawn(task::yield_now());
        set.spawn(pending());
        task::yield_now().await;
        drop(set);
    });
    assert_eq!(places, [here(line!() - 5), here(line!() - 4)]);
}

#[test]
fn what_is_shut_down_is_shown_where_it_was_asked_for() {
    let places = shown("aborts", async || {
        let mut set = JoinSet::new();
        set.spawn(pending::<()>());
        set.shutdown().await;
    });
    assert_eq!(places, [here(line!() - 2)]);
    let places = shown("aborts", async || drop(AbortOnDropHandle::new(task::spawn(pending::<()>()))));
    assert_eq!(places, [here(line!() - 1)]);
}

#[test]
fn what_has_no_place_of_the_users_is_shown_without_one() {
    let places = shown("spawns", async || drop([pending::<()>()].into_iter().collect::<JoinSet<_>>()));
    assert_eq!(places, ["main.1"]);
    let places = shown("aborts", async || drop([pending::<()>()].into_iter().collect::<JoinSet<_>>()));
    assert_eq!(places, ["main.1"]);
}

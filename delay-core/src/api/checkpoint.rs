//! `checkpoint`: a task's promise that its future depends only on what it names.

use super::backend;
use crate::hash::{Domain, Print, PrintHasher};
use std::{
    hash::{Hash, Hasher},
    panic::Location,
};

/// From here on, what this task does depends only on `state` (and on what it sees from now on).
///
/// Without it, a task is told apart by everything it has seen since it was spawned. With it, all the histories that
/// lead to the same state at the same place count as one, and far fewer states have to be visited. Call it where a
/// server's loop begins, with everything the loop carries from one turn to the next: the searches check this promise
/// by sampling, and a forgotten loop counter is the likeliest mistake.
///
/// Outside a controlled execution it does nothing.
///
/// # Panics
/// If another op of the task is pending: an unfinished branch of a `join!`, a timer or receiver that was polled and
/// kept. What it waits for is part of its state too, and nothing here names it.
///
/// ```
/// # use delay_core::api::{checkpoint::checkpoint, sync::mpsc};
/// async fn counter(mut requests: mpsc::Receiver<u64>) {
///     let mut total = 0;
///     loop {
///         checkpoint(&total);
///         match requests.recv().await {
///             Some(n) => total += n,
///             None => return,
///         }
///     }
/// }
/// ```
#[track_caller]
pub fn checkpoint<S: Hash + ?Sized>(state: &S) {
    let site = Location::caller();
    if backend::is_controlled() {
        let mut hasher = PrintHasher(at(site));
        state.hash(&mut hasher);
        declare(hasher.0);
    }
}

/// As [`checkpoint`], for state that is not `Hash`: the closure writes down what matters.
///
/// ```
/// # use delay_core::api::checkpoint::checkpoint_with;
/// fn turn(temperature: f64) {
///     checkpoint_with(|hasher| hasher.write_u64(temperature.to_bits()));
/// }
/// ```
#[track_caller]
pub fn checkpoint_with(state: impl FnOnce(&mut dyn Hasher)) {
    let site = Location::caller();
    if backend::is_controlled() {
        let mut hasher = PrintHasher(at(site));
        state(&mut hasher);
        declare(hasher.0);
    }
}

/// Where the task is, is part of its state.
fn at(site: &'static Location<'static>) -> Print {
    Print::of_text(Domain::Checkpoint, site.file()).with(u64::from(site.line())).with(u64::from(site.column()))
}

#[track_caller]
fn declare(print: Print) {
    assert!(
        backend::checkpoint(print),
        "checkpoint while another op of this task is pending (another branch of a join!, a timer or receiver that was polled and kept): its state is not in the checkpoint; call checkpoint where nothing else is in flight"
    );
}

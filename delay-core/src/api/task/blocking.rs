//! Code that is not async, as a task or within one.

use super::{JoinHandle, controlled_spawn};
use crate::{api::node, live::context};
use std::panic::Location;

/// Runs code that may block, outside of the threads that run tasks.
///
/// Inside a controlled execution it is a task of one step: nothing happens while it runs. It must not wait for other
/// tasks there; what would block panics.
///
/// # Panics
/// Outside a controlled execution, as tokio's: if there is no runtime.
///
/// ```
/// # use delay_core::api::task;
/// async fn body() {
///     let sum = task::spawn_blocking(|| (1..=100).sum::<u32>()).await.expect("it does not panic");
///     assert_eq!(sum, 5050);
/// }
/// ```
#[track_caller]
pub fn spawn_blocking<F, R>(f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let site = Location::caller();
    if context::is_controlled() {
        return controlled_spawn(None, async move { f() }, site);
    }
    let task = tokio::task::spawn_blocking(f);
    if let Some(node) = node::here() {
        // One that has not begun does not begin after a crash; one that has goes on, as it cannot be stopped.
        node.adopted(task.abort_handle());
    }
    JoinHandle::tokio(task)
}

/// Runs code that may block, within a task.
///
/// Inside a controlled execution it is part of the step it stands in, and must not wait for other tasks.
///
/// # Panics
/// Outside a controlled execution, as tokio's: in a runtime with one thread.
#[track_caller]
pub fn block_in_place<F, R>(f: F) -> R
where
    F: FnOnce() -> R,
{
    if context::is_controlled() { f() } else { tokio::task::block_in_place(f) }
}

//! The one place that chooses: controlled inside a controlled execution, tokio outside.
//!
//! The choice is made when a handle is created and stays with it. A controlled handle remembers its execution; using
//! it in another one is the program's mistake and panics with what happened.
//!
//! Without the feature `controlled` `plain/backend.rs` stands here: then all is tokio's.

pub(crate) use crate::live::context::is_controlled;
use crate::{
    hash::Print,
    live::context::{self, Context},
    verdict::Violation,
};

/// Which side a fresh handle belongs to.
#[derive(Debug, Clone)]
pub(crate) enum Side<C, T> {
    /// Made inside a controlled execution.
    Controlled(C),
    /// Made outside.
    Tokio(T),
}

/// Makes a handle for where we are.
#[inline]
pub(crate) fn choose<C, T>(controlled: impl FnOnce(&mut Context) -> C, tokio: impl FnOnce() -> T) -> Side<C, T> {
    match context::with(controlled) {
        Some(handle) => Side::Controlled(handle),
        None => Side::Tokio(tokio()),
    }
}

/// Runs an op of a controlled handle in its execution.
///
/// # Panics
/// If there is no execution here, or another one: the handle was kept in a static, or moved to a thread.
#[inline]
#[track_caller]
pub(crate) fn within<R>(execution: u64, f: impl FnOnce(&mut Context) -> R) -> R {
    let done = context::with(|context| (context.execution == execution).then(|| f(context)));
    match done {
        Some(Some(result)) => result,
        Some(None) => panic!(
            "a handle of an earlier execution is used: do not keep channels, tasks or timers in statics or in what the test body captures; create them in the body"
        ),
        None => misplaced(),
    }
}

/// Refuses an op that would block the one thread an execution runs on.
///
/// # Panics
/// Inside a controlled execution.
#[inline]
#[track_caller]
pub(crate) fn refuse_blocking(what: &str, instead: &str) {
    assert!(
        !is_controlled(),
        "{what} would block the thread on which delay runs every task: use {instead} in code under test"
    );
}

/// A controlled handle turned up where there is no execution.
#[cold]
#[track_caller]
pub(crate) fn misplaced() -> ! {
    panic!(
        "a controlled handle is used outside its execution: delay controls one thread; use delay::task::spawn instead of std::thread"
    )
}

/// Runs an op of a controlled handle that is being dropped, if its execution is still there.
#[inline]
pub(crate) fn within_if<R>(execution: u64, f: impl FnOnce(&mut Context) -> R) -> Option<R> {
    context::with(|context| (context.execution == execution).then(|| f(context))).flatten()
}

/// A random number of the running task; none outside a controlled execution.
pub(crate) fn draw() -> Option<u64> {
    context::with(|context| context.world.draw(context.seed))
}

/// A task's future depends only on what is printed here. Whether nothing else of it is pending.
pub(crate) fn checkpoint(print: Print) -> bool {
    context::with(|context| context.world.checkpoint(print)) != Some(false)
}

/// A task met a message that its state has no handler for: a violation, if under test. What to say of it.
pub(crate) fn unhandled(state: &str, message: &str) -> String {
    let process = context::with(|context| context.labels.process(&context.world, context.world.actor()));
    let process = process.unwrap_or_else(|| "a task".to_owned());
    let violation = Violation::Unhandled { process, state: state.to_owned(), message: message.to_owned() };
    let text = violation.to_string();
    context::with(|context| context.violate(violation));
    text
}

//! Tokio's paused clock, for tests that run on tokio. Mirrors `tokio::time::{pause, resume, advance}`; feature
//! `test-util`, as in tokio.
//!
//! Inside a controlled execution time is virtual anyway, and the search decides when timers fire.

use super::Duration;
use crate::live::context;
use std::future::Future;

/// Stops tokio's clock.
///
/// # Panics
/// As tokio's: outside a runtime with one thread. In a controlled execution.
#[track_caller]
pub fn pause() {
    refuse("pause");
    tokio::time::pause();
}

/// Lets tokio's clock go on.
///
/// # Panics
/// As tokio's: if it is not paused. In a controlled execution.
#[track_caller]
pub fn resume() {
    refuse("resume");
    tokio::time::resume();
}

/// Puts tokio's clock forward.
///
/// # Panics
/// As tokio's: if it is not paused. In a controlled execution.
#[track_caller]
pub fn advance(duration: Duration) -> impl Future<Output = ()> + use<> {
    refuse("advance");
    tokio::time::advance(duration)
}

#[track_caller]
fn refuse(what: &str) {
    assert!(
        !context::is_controlled(),
        "time::{what} is for tests that run on tokio: here no real time passes and timers fire whenever the search says; wait with time::sleep"
    );
}

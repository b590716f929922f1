//! Time. Mirrors `tokio::time`.
//!
//! Inside a controlled execution time is virtual: no real time passes, and a timer may fire at any moment after it was
//! set, early and late timers in any order; the clock then jumps to its deadline. That a timer fires is a choice like
//! any other, ranked after what the processes themselves can do. Outside one, the clock is tokio's.
//!
//! Invariant: what time it is becomes part of the program state only once the program looks: timers are kept by how
//! long they have to run.

mod instant;
mod interval;
#[cfg(feature = "test-util")]
mod paused;
mod sleep;
mod timeout;

pub use instant::Instant;
pub use interval::{Interval, MissedTickBehavior, interval, interval_at};
#[cfg(feature = "test-util")]
pub use paused::{advance, pause, resume};
pub use sleep::{Sleep, sleep, sleep_until};
pub use std::time::Duration;
pub use timeout::{Timeout, error, timeout, timeout_at};

/// A duration in virtual nanoseconds. Nobody waits for more than 584 years.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

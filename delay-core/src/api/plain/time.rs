//! Time: tokio's own.

pub use std::time::Duration;
pub use tokio::time::{
    Instant, Interval, MissedTickBehavior, Sleep, Timeout, error, interval, interval_at, sleep, sleep_until, timeout,
    timeout_at,
};
#[cfg(feature = "test-util")]
pub use tokio::time::{advance, pause, resume};

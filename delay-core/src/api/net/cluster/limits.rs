//! The bounds of a node: on memory, on connections, on waiting.

use super::ClusterError;
use serde::{Deserialize, Deserializer};
use std::time::Duration;
use tokio::sync::Semaphore;

/// What a queued message costs beyond its bytes, so that empty messages do not come for nothing.
pub(super) const OVERHEAD_BYTES: usize = 64;

/// How many of the processes that had a node's name before are remembered.
pub(super) const REPLACED_MAX: usize = 64;

/// The bounds of a node: the table `[limits]` of the cluster file, where durations are whole milliseconds (`heartbeat_ms`).
///
/// Give every node the same.
///
/// ```
/// use delay_core::api::net::cluster::Limits;
/// let limits = Limits { frame_bytes_max: 1 << 16, ..Limits::default() };
/// assert!(limits.queue_bytes_max > limits.frame_bytes_max);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Largest message with its names, as bytes. A larger one is refused by `send`; one received ends its connection. Nodes that connect tell
    /// each other: what is sent must be within both limits.
    pub frame_bytes_max: usize,
    /// Most bytes that wait for a node. Past it `send` waits if the node is connected; else the message is lost.
    pub queue_bytes_max: usize,
    /// Most bytes from other nodes that wait in an inbox. Past it the connection they come from is not read.
    pub inbox_bytes_max: usize,
    /// Most connections that have not said yet whose they are. Past it the one that has been silent longest is closed.
    pub newcomers_max: usize,
    /// How long connecting, and saying who one is, may take; with TLS also proving it.
    #[serde(rename = "connect_ms", deserialize_with = "milliseconds")]
    pub connect: Duration,
    /// How often an idle connection is used to show that its node is alive.
    #[serde(rename = "heartbeat_ms", deserialize_with = "milliseconds")]
    pub heartbeat: Duration,
    /// How long a node may be silent before its connection is given up. More than `heartbeat`. A message must arrive as a whole within it: on a slow
    /// line let `frame_bytes_max` be what it carries in this time.
    #[serde(rename = "silence_ms", deserialize_with = "milliseconds")]
    pub silence: Duration,
    /// How long a slow node may take nothing of what is written before its connection is given up.
    #[serde(rename = "write_ms", deserialize_with = "milliseconds")]
    pub write: Duration,
    /// The pause after the first failure to connect; doubled after each further one.
    #[serde(rename = "retry_ms", deserialize_with = "milliseconds")]
    pub retry: Duration,
    /// The longest of these pauses.
    #[serde(rename = "retry_max_ms", deserialize_with = "milliseconds")]
    pub retry_max: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame_bytes_max: 1 << 20,
            queue_bytes_max: 1 << 24,
            inbox_bytes_max: 1 << 24,
            newcomers_max: 64,
            connect: Duration::from_secs(5),
            heartbeat: Duration::from_secs(1),
            silence: Duration::from_secs(5),
            write: Duration::from_secs(5),
            retry: Duration::from_millis(50),
            retry_max: Duration::from_secs(5),
        }
    }
}

fn milliseconds<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    u64::deserialize(from).map(Duration::from_millis)
}

impl Limits {
    /// Refuses limits under which nothing could be sent or every connection would be given up.
    pub(super) fn check(&self) -> Result<(), ClusterError> {
        let Self { frame_bytes_max, queue_bytes_max, inbox_bytes_max, newcomers_max, .. } = *self;
        let Self { connect, heartbeat, silence, write, retry, retry_max, .. } = *self;
        let bytes_max = Semaphore::MAX_PERMITS.min(u32::MAX as usize);
        let room = frame_bytes_max.saturating_add(OVERHEAD_BYTES);
        let problem = if frame_bytes_max == 0 || newcomers_max == 0 {
            "`frame_bytes_max` and `newcomers_max` must be at least 1"
        } else if queue_bytes_max.max(inbox_bytes_max) > bytes_max {
            "`queue_bytes_max` and `inbox_bytes_max` must be less than 4 GiB"
        } else if queue_bytes_max.min(inbox_bytes_max) < room {
            "`queue_bytes_max` and `inbox_bytes_max` must be at least 64 more than `frame_bytes_max`, or the largest message would never find room"
        } else if [connect, heartbeat, write, retry].contains(&Duration::ZERO) {
            "`connect_ms`, `heartbeat_ms`, `write_ms` and `retry_ms` must be at least 1"
        } else if silence <= heartbeat {
            "`silence_ms` must be more than `heartbeat_ms`, or an idle node would be taken for a dead one"
        } else if retry_max < retry {
            "`retry_max_ms` must be at least `retry_ms`"
        } else {
            return Ok(());
        };
        Err(ClusterError::Limits(problem))
    }

    /// What a message of so many bytes takes of a queue or an inbox.
    pub(super) fn cost(frame_bytes: usize) -> u32 {
        let cost = frame_bytes.saturating_add(OVERHEAD_BYTES);
        u32::try_from(cost).unwrap_or_else(|_| bug!("a frame of {frame_bytes} bytes passed the limits"))
    }
}

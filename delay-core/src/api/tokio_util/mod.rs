//! What of the crate `tokio-util` has to be controlled: its types over ours, with its names and signatures.
//!
//! Inside a controlled execution tokio-util's own types would be shared memory: what they hold would not be part of the
//! state. Outside one a cancellation token and a task tracker are tokio-util's own.

mod abort_on_drop;
mod cancellation;
pub mod future;
mod poll_semaphore;
mod poll_sender;
mod task_tracker;

/// Cancellation, and channels and semaphores for hand-written futures. Mirrors `tokio_util::sync`.
pub mod sync {
    pub use super::{
        cancellation::{
            CancellationToken, DropGuard, DropGuardRef, WaitForCancellationFuture, WaitForCancellationFutureOwned,
        },
        poll_semaphore::PollSemaphore,
        poll_sender::{PollSendError, PollSender},
    };
    // It needs no control: it holds a future, and nothing that anybody else could see.
    pub use ::tokio_util::sync::ReusableBoxFuture;
}

/// Tasks that are waited for, or aborted, together. Mirrors `tokio_util::task`.
pub mod task {
    pub use super::{
        abort_on_drop::{AbortOnDrop, AbortOnDropHandle},
        task_tracker::TaskTracker,
    };

    /// Types around [`TaskTracker`].
    pub mod task_tracker {
        pub use crate::api::tokio_util::task_tracker::{
            TaskTracker, TaskTrackerToken, TaskTrackerWaitFuture, TrackedFuture,
        };
    }
}

/// Futures with a limit in time. Mirrors `tokio_util::time`.
pub mod time {
    pub use super::future::FutureExt;
}

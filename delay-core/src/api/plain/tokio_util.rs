//! What of the crate `tokio-util` is controlled in tests: its own.
//!
//! A tracker and its token are types of ours over tokio-util's, since a task belongs to the node of the task that spawns it.

/// Cancellation, and channels and semaphores for hand-written futures.
pub mod sync {
    pub use ::tokio_util::sync::{
        CancellationToken, DropGuard, DropGuardRef, PollSemaphore, PollSendError, PollSender, ReusableBoxFuture,
        WaitForCancellationFuture, WaitForCancellationFutureOwned,
    };
}

/// Futures with a limit in time.
pub mod time {
    pub use ::tokio_util::future::FutureExt;
}

/// Futures with a limit in time, or that a token ends.
pub mod future {
    pub use ::tokio_util::future::FutureExt;
}

/// Tasks that are waited for, or aborted, together.
pub mod task {
    pub use self::task_tracker::TaskTracker;
    pub use ::tokio_util::task::{AbortOnDrop, AbortOnDropHandle};

    /// Types around [`TaskTracker`].
    pub mod task_tracker {
        use crate::api::task::{self, JoinHandle};
        use ::tokio_util::task::task_tracker as theirs;
        pub use ::tokio_util::task::task_tracker::{TaskTrackerWaitFuture, TrackedFuture};
        use std::{future::Future, ops::Deref};

        /// Counts tasks, and waits for all of them to end: tokio-util's, which is what it derefs to, but for what spawns. The rest is passed on, so
        /// that it can also be called by its path.
        #[derive(Debug, Default, Clone)]
        pub struct TaskTracker(theirs::TaskTracker);

        impl Deref for TaskTracker {
            type Target = theirs::TaskTracker;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl TaskTracker {
            /// A tracker that is open and has no tasks.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            /// Waits until it is closed and has no tasks.
            pub fn wait(&self) -> TaskTrackerWaitFuture<'_> {
                self.0.wait()
            }

            /// Closes it, so that a wait can end; whether it was open.
            pub fn close(&self) -> bool {
                self.0.close()
            }

            /// Opens it again; whether it was closed.
            pub fn reopen(&self) -> bool {
                self.0.reopen()
            }

            /// Whether it is closed.
            #[must_use]
            pub fn is_closed(&self) -> bool {
                self.0.is_closed()
            }

            /// How many tasks it has.
            #[must_use]
            pub fn len(&self) -> usize {
                self.0.len()
            }

            /// Whether it has no tasks.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }

            /// A future that is tracked until it is dropped.
            pub fn track_future<F: Future>(&self, future: F) -> TrackedFuture<F> {
                self.0.track_future(future)
            }

            /// Spawns a task that is tracked.
            #[track_caller]
            pub fn spawn<F>(&self, task: F) -> JoinHandle<F::Output>
            where
                F: Future + Send + 'static,
                F::Output: Send + 'static,
            {
                task::spawn(self.0.track_future(task))
            }

            /// Spawns a task that is tracked and need not be `Send`, on a `tokio::task::LocalSet`.
            #[track_caller]
            pub fn spawn_local<F>(&self, task: F) -> JoinHandle<F::Output>
            where
                F: Future + 'static,
                F::Output: 'static,
            {
                task::spawn_local(self.0.track_future(task))
            }

            /// Runs code that may block as a task that is tracked.
            #[track_caller]
            pub fn spawn_blocking<F, T>(&self, task: F) -> JoinHandle<T>
            where
                F: FnOnce() -> T + Send + 'static,
                T: Send + 'static,
            {
                let token = self.0.token();
                task::spawn_blocking(move || {
                    let result = task();
                    drop(token);
                    result
                })
            }

            /// Counts as a task until it is dropped.
            #[must_use]
            pub fn token(&self) -> TaskTrackerToken {
                TaskTrackerToken { _counted: self.0.token(), tracker: self.clone() }
            }

            /// Whether both are the same.
            #[must_use]
            pub fn ptr_eq(left: &Self, right: &Self) -> bool {
                theirs::TaskTracker::ptr_eq(&left.0, &right.0)
            }
        }

        /// Counts as a task of its [`TaskTracker`].
        #[derive(Debug, Clone)]
        pub struct TaskTrackerToken {
            _counted: theirs::TaskTrackerToken,
            tracker: TaskTracker,
        }

        impl TaskTrackerToken {
            /// The tracker.
            #[must_use]
            pub fn task_tracker(&self) -> &TaskTracker {
                &self.tracker
            }
        }
    }
}

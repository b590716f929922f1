//! Waiting for tasks that are not listed anywhere. Mirrors `tokio_util::task::TaskTracker`.
//!
//! Inside a controlled execution a tracker is a watched flag: whether it is closed. Each tracked task is a receiver of
//! it, and so is the tracker while it is open: when no receiver is left, it is closed and empty. Outside one it is
//! tokio-util's own tracker.
//!
//! Differs from tokio-util's where a tracker that is closed and empty is opened again, or tracks a task again, before
//! somebody who waits has gone on: here he waits again.

use crate::api::{
    backend::{self, Side},
    payload::Payload,
    sync::watch,
    task::{self as tasks, JoinHandle},
};
use std::{
    fmt,
    future::Future,
    panic::Location,
    pin::Pin,
    sync::Arc,
    task::{self, Poll},
};
use tokio_util::{either::Either, task::task_tracker as theirs};

/// Counts tasks, and waits for all of them to end.
///
/// ```
/// # use delay_core::api::tokio_util::task::TaskTracker;
/// async fn body() {
///     let tracker = TaskTracker::new();
///     tracker.spawn(async { 1 });
///     tracker.close();
///     tracker.wait().await;
///     assert!(tracker.is_empty());
/// }
/// ```
#[derive(Clone)]
pub struct TaskTracker {
    inner: Side<Arc<Tracked>, theirs::TaskTracker>,
}

/// A tracker of a controlled execution, shared by its clones.
struct Tracked {
    /// Invariant: held while it is not closed.
    is_closed: watch::Sender<bool>,
}

impl Tracked {
    fn new() -> Self {
        let is_closed = watch::Sender::part_of(false, Payload::visible(), "tracker");
        is_closed.hold(true);
        Self { is_closed }
    }

    /// Closes or opens it; whether it was not so before.
    #[track_caller]
    fn set(&self, closed: bool) -> bool {
        let is_new = self.is_closed.send_if_modified(|now| std::mem::replace(now, closed) != closed);
        if is_new {
            self.is_closed.hold(!closed);
        }
        is_new
    }

    #[track_caller]
    fn len(&self) -> usize {
        self.is_closed.receiver_count() - usize::from(!*self.is_closed.borrow())
    }
}

impl TaskTracker {
    /// A tracker that is open and has no tasks.
    #[must_use]
    pub fn new() -> Self {
        let inner = if backend::is_controlled() {
            Side::Controlled(Arc::new(Tracked::new()))
        } else {
            Side::Tokio(theirs::TaskTracker::new())
        };
        Self { inner }
    }

    /// Waits until it is closed and has no tasks. A scheduling point.
    #[track_caller]
    pub fn wait(&self) -> TaskTrackerWaitFuture<'_> {
        let site = Location::caller();
        let inner = match &self.inner {
            Side::Controlled(tracked) => Either::Left(Box::pin(tracked.is_closed.closed_at(site)) as Waits<'_>),
            Side::Tokio(tracker) => Either::Right(tracker.wait()),
        };
        TaskTrackerWaitFuture { inner }
    }

    /// Closes it, so that a wait can end; whether it was open. Tasks may be added nevertheless.
    #[track_caller]
    pub fn close(&self) -> bool {
        match &self.inner {
            Side::Controlled(tracked) => tracked.set(true),
            Side::Tokio(tracker) => tracker.close(),
        }
    }

    /// Opens it again; whether it was closed.
    #[track_caller]
    pub fn reopen(&self) -> bool {
        match &self.inner {
            Side::Controlled(tracked) => tracked.set(false),
            Side::Tokio(tracker) => tracker.reopen(),
        }
    }

    /// Whether it is closed. An observation.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        match &self.inner {
            Side::Controlled(tracked) => *tracked.is_closed.borrow(),
            Side::Tokio(tracker) => tracker.is_closed(),
        }
    }

    /// How many tasks it has. An observation.
    #[track_caller]
    pub fn len(&self) -> usize {
        match &self.inner {
            Side::Controlled(tracked) => tracked.len(),
            Side::Tokio(tracker) => tracker.len(),
        }
    }

    /// Whether it has no tasks. An observation.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Spawns a task that is tracked.
    #[track_caller]
    pub fn spawn<F>(&self, task: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        tasks::spawn(self.track_future(task))
    }

    /// Spawns a task that is tracked and need not be `Send`, as [`spawn_local`](tasks::spawn_local).
    #[track_caller]
    pub fn spawn_local<F>(&self, task: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        tasks::spawn_local(self.track_future(task))
    }

    /// Runs code that may block, as [`spawn_blocking`](tasks::spawn_blocking), as a task that is tracked.
    #[track_caller]
    pub fn spawn_blocking<F, T>(&self, task: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let token = self.token();
        tasks::spawn_blocking(move || {
            let result = task();
            drop(token);
            result
        })
    }

    /// A future that is tracked until it is dropped.
    #[track_caller]
    pub fn track_future<F: Future>(&self, future: F) -> TrackedFuture<F> {
        TrackedFuture { future, _token: self.token() }
    }

    /// Counts as a task until it is dropped.
    #[must_use]
    #[track_caller]
    pub fn token(&self) -> TaskTrackerToken {
        let counted = match &self.inner {
            Side::Controlled(tracked) => Side::Controlled(tracked.is_closed.subscribe()),
            Side::Tokio(tracker) => Side::Tokio(tracker.token()),
        };
        TaskTrackerToken { _counted: counted, tracker: self.clone() }
    }

    /// Whether both are the same.
    #[must_use]
    pub fn ptr_eq(left: &Self, right: &Self) -> bool {
        match (&left.inner, &right.inner) {
            (Side::Controlled(one), Side::Controlled(two)) => Arc::ptr_eq(one, two),
            (Side::Tokio(one), Side::Tokio(two)) => theirs::TaskTracker::ptr_eq(one, two),
            (Side::Controlled(_), Side::Tokio(_)) | (Side::Tokio(_), Side::Controlled(_)) => false,
        }
    }
}

impl Default for TaskTracker {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TaskTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskTracker").finish_non_exhaustive()
    }
}

/// Counts as a task of its [`TaskTracker`].
#[derive(Clone)]
pub struct TaskTrackerToken {
    _counted: Side<watch::Receiver<bool>, theirs::TaskTrackerToken>,
    tracker: TaskTracker,
}

impl TaskTrackerToken {
    /// The tracker.
    #[must_use]
    pub fn task_tracker(&self) -> &TaskTracker {
        &self.tracker
    }
}

impl fmt::Debug for TaskTrackerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskTrackerToken").finish_non_exhaustive()
    }
}

pin_project_lite::pin_project! {
    /// Future of [`TaskTracker::track_future`].
    #[must_use = "futures do nothing unless awaited"]
    #[derive(Debug)]
    pub struct TrackedFuture<F> {
        #[pin]
        future: F,
        // Dropped after the future: what that drops is over when the tracker is empty.
        _token: TaskTrackerToken,
    }
}

impl<F: Future> Future for TrackedFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
}

type Waits<'a> = Pin<Box<dyn Future<Output = ()> + Send + Sync + 'a>>;

pin_project_lite::pin_project! {
    /// Future of [`TaskTracker::wait`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct TaskTrackerWaitFuture<'a> {
        #[pin]
        inner: Either<Waits<'a>, theirs::TaskTrackerWaitFuture<'a>>,
    }
}

impl Future for TaskTrackerWaitFuture<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        self.project().inner.poll(cx)
    }
}

impl fmt::Debug for TaskTrackerWaitFuture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskTrackerWaitFuture").finish_non_exhaustive()
    }
}

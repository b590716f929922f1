//! Handles that abort their task when dropped. Mirrors `tokio_util::task::{AbortOnDrop, AbortOnDropHandle}`.

use crate::{
    api::task::{AbortHandle, JoinError, JoinHandle},
    world::op::Site,
};
use std::{
    fmt,
    future::Future,
    panic::Location,
    pin::Pin,
    task::{Context, Poll},
};

/// A [`JoinHandle`] that aborts its task when dropped.
///
/// ```
/// # use delay_core::api::{task, tokio_util::task::AbortOnDropHandle};
/// async fn body() {
///     drop(AbortOnDropHandle::new(task::spawn(std::future::pending::<()>())));
/// }
/// ```
#[must_use = "dropping the handle aborts the task at once"]
pub struct AbortOnDropHandle<T> {
    on_drop: AbortOnDrop,
    handle: JoinHandle<T>,
}

impl<T> AbortOnDropHandle<T> {
    /// The task is aborted when this is dropped.
    #[track_caller]
    pub fn new(handle: JoinHandle<T>) -> Self {
        Self { on_drop: AbortOnDrop::new(handle.abort_handle()), handle }
    }

    /// Aborts the task.
    #[track_caller]
    pub fn abort(&self) {
        self.handle.abort();
    }

    /// Whether the task has ended. An observation.
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }

    /// A handle that can abort the task and nothing else.
    pub fn abort_handle(&self) -> AbortHandle {
        self.handle.abort_handle()
    }

    /// A handle that does not abort the task when dropped.
    pub fn detach(self) -> JoinHandle<T> {
        self.on_drop.detach();
        self.handle
    }
}

impl<T> Future for AbortOnDropHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.handle).poll(cx)
    }
}

impl<T> AsRef<JoinHandle<T>> for AbortOnDropHandle<T> {
    fn as_ref(&self) -> &JoinHandle<T> {
        &self.handle
    }
}

impl<T> fmt::Debug for AbortOnDropHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortOnDropHandle").finish_non_exhaustive()
    }
}

/// An [`AbortHandle`] that aborts its task when dropped.
#[must_use = "dropping the handle aborts the task at once"]
#[derive(Debug)]
pub struct AbortOnDrop {
    /// Invariant: none only once it is detached.
    handle: Option<AbortHandle>,
    /// Where this was made: nobody can say where it is dropped.
    site: Site,
}

impl AbortOnDrop {
    /// The task is aborted when this is dropped.
    #[track_caller]
    pub fn new(handle: AbortHandle) -> Self {
        Self { handle: Some(handle), site: Location::caller() }
    }

    fn handle(&self) -> &AbortHandle {
        self.handle.as_ref().unwrap_or_else(|| crate::bug!("a handle is used after its end"))
    }

    /// Aborts the task.
    #[track_caller]
    pub fn abort(&self) {
        self.handle().abort();
    }

    /// Whether the task has ended. An observation.
    pub fn is_finished(&self) -> bool {
        self.handle().is_finished()
    }

    /// A handle that does not abort the task when dropped.
    pub fn detach(mut self) -> AbortHandle {
        self.handle.take().unwrap_or_else(|| crate::bug!("a handle is detached twice"))
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if let Some(handle) = &self.handle {
            handle.abort_at(self.site);
        }
    }
}

//! A semaphore for hand-written futures. Mirrors `tokio_util::sync::PollSemaphore`.

use crate::{
    api::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, TryAcquireError},
    world::op::Site,
};
use futures_core::Stream;
use std::{
    fmt,
    future::Future,
    panic::Location,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

type Acquiring = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send + Sync>>;

/// A [`Semaphore`] that is polled for permits.
pub struct PollSemaphore {
    semaphore: Arc<Semaphore>,
    /// What is being acquired, and how many permits.
    acquiring: Option<(u32, Acquiring)>,
    site: Site,
}

impl PollSemaphore {
    /// Polls this semaphore.
    #[track_caller]
    pub fn new(semaphore: Arc<Semaphore>) -> Self {
        Self { semaphore, acquiring: None, site: Location::caller() }
    }

    /// Nobody gets a permit any more.
    #[track_caller]
    pub fn close(&self) {
        self.semaphore.close();
    }

    /// The semaphore.
    pub fn clone_inner(&self) -> Arc<Semaphore> {
        Arc::clone(&self.semaphore)
    }

    /// The semaphore.
    pub fn into_inner(self) -> Arc<Semaphore> {
        self.semaphore
    }

    /// Polls for a permit; none if the semaphore is closed.
    pub fn poll_acquire(&mut self, cx: &mut Context<'_>) -> Poll<Option<OwnedSemaphorePermit>> {
        self.poll_acquire_many(cx, 1)
    }

    /// Polls for so many permits; none if the semaphore is closed.
    pub fn poll_acquire_many(&mut self, cx: &mut Context<'_>, permits: u32) -> Poll<Option<OwnedSemaphorePermit>> {
        // Asked for another number, it leaves the queue.
        let waits = self.acquiring.take().filter(|(asked, _)| *asked == permits);
        let mut acquiring = match waits {
            Some((_, acquiring)) => acquiring,
            None => match Arc::clone(&self.semaphore).try_acquire_many_owned(permits) {
                Ok(permit) => return Poll::Ready(Some(permit)),
                Err(TryAcquireError::Closed) => return Poll::Ready(None),
                Err(TryAcquireError::NoPermits) => {
                    Box::pin(Arc::clone(&self.semaphore).acquire_many_owned_at(permits, self.site))
                }
            },
        };
        let acquired = acquiring.as_mut().poll(cx);
        if acquired.is_pending() {
            self.acquiring = Some((permits, acquiring));
        }
        acquired.map(Result::ok)
    }

    /// How many permits are free. An observation.
    #[track_caller]
    pub fn available_permits(&self) -> usize {
        self.semaphore.available_permits()
    }

    /// Adds permits.
    #[track_caller]
    pub fn add_permits(&self, n: usize) {
        self.semaphore.add_permits(n);
    }
}

impl Stream for PollSemaphore {
    type Item = OwnedSemaphorePermit;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<OwnedSemaphorePermit>> {
        self.poll_acquire(cx)
    }
}

impl Clone for PollSemaphore {
    fn clone(&self) -> Self {
        Self { semaphore: self.clone_inner(), acquiring: None, site: self.site }
    }
}

impl fmt::Debug for PollSemaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PollSemaphore").field("semaphore", &self.semaphore).finish_non_exhaustive()
    }
}

impl AsRef<Semaphore> for PollSemaphore {
    fn as_ref(&self) -> &Semaphore {
        &self.semaphore
    }
}

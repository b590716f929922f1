//! Giving up on a future.

use super::{Duration, Instant, Sleep, sleep, sleep_until};
use crate::live::context;
use std::{
    future::{Future, IntoFuture},
    pin::Pin,
    task::{self, Poll},
};

/// What can go wrong.
pub mod error {
    use std::fmt;
    pub use tokio::time::error::Error;

    /// The time was up first.
    #[derive(Debug, PartialEq, Eq)]
    pub struct Elapsed(pub(crate) ());

    impl fmt::Display for Elapsed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("deadline has elapsed")
        }
    }

    impl std::error::Error for Elapsed {}

    impl From<Elapsed> for std::io::Error {
        fn from(_: Elapsed) -> Self {
            std::io::ErrorKind::TimedOut.into()
        }
    }
}

use error::Elapsed;

/// Waits for a future, but not longer than this.
///
/// Inside a controlled execution it may give up at any moment after it was first polled.
///
/// # Errors
/// If the time is up first.
///
/// ```
/// # use delay_core::api::{sync::oneshot, time::{self, Duration}};
/// async fn body() {
///     let (reply, answer) = oneshot::channel::<u8>();
///     let late = time::timeout(Duration::from_secs(1), answer).await;
///     assert!(late.is_err(), "nobody answers");
///     drop(reply);
/// }
/// ```
#[track_caller]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    let future = future.into_future();
    if context::is_controlled() {
        return Timeout { inner: Inner::Virtual { future, timer: sleep(duration) } };
    }
    Timeout { inner: Inner::Real { timeout: tokio::time::timeout(duration, future) } }
}

/// Waits for a future, but not beyond a point in time.
///
/// # Errors
/// If the time is up first.
#[track_caller]
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    let future = future.into_future();
    if context::is_controlled() {
        return Timeout { inner: Inner::Virtual { future, timer: sleep_until(deadline) } };
    }
    Timeout { inner: Inner::Real { timeout: tokio::time::timeout_at(deadline.tokio(), future) } }
}

pin_project_lite::pin_project! {
    /// Future of [`timeout`] and [`timeout_at`].
    #[must_use = "futures do nothing unless awaited"]
    #[derive(Debug)]
    pub struct Timeout<F> {
        #[pin]
        inner: Inner<F>,
    }
}

pin_project_lite::pin_project! {
    #[project = InnerPinned]
    #[derive(Debug)]
    enum Inner<F> {
        Virtual { #[pin] future: F, #[pin] timer: Sleep },
        Real { #[pin] timeout: tokio::time::Timeout<F> },
    }
}

impl<F> Timeout<F> {
    /// The future that is waited for.
    pub fn get_ref(&self) -> &F {
        match &self.inner {
            Inner::Virtual { future, .. } => future,
            Inner::Real { timeout } => timeout.get_ref(),
        }
    }

    /// The future that is waited for.
    pub fn get_mut(&mut self) -> &mut F {
        match &mut self.inner {
            Inner::Virtual { future, .. } => future,
            Inner::Real { timeout } => timeout.get_mut(),
        }
    }

    /// The future, without its limit.
    pub fn into_inner(self) -> F {
        match self.inner {
            Inner::Virtual { future, .. } => future,
            Inner::Real { timeout } => timeout.into_inner(),
        }
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        match self.project().inner.project() {
            // The future first: one that is ready at the deadline has made it.
            InnerPinned::Virtual { future, timer } => match future.poll(cx) {
                Poll::Ready(output) => Poll::Ready(Ok(output)),
                Poll::Pending => timer.poll(cx).map(|()| Err(Elapsed(()))),
            },
            InnerPinned::Real { timeout } => timeout.poll(cx).map_err(|_| Elapsed(())),
        }
    }
}

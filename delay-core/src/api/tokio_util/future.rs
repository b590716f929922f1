//! Futures with a limit. Mirrors `tokio_util::future`.

use super::sync::CancellationToken;
use crate::api::time::{self, Duration, Instant, Timeout};
use std::future::Future;

/// Limits any future.
///
/// ```
/// # use delay_core::api::{sync::mpsc, tokio_util::{future::FutureExt, sync::CancellationToken}};
/// async fn next(messages: &mut mpsc::Receiver<u8>, stop: &CancellationToken) -> Option<u8> {
///     messages.recv().with_cancellation_token(stop).await.flatten()
/// }
/// ```
pub trait FutureExt: Future {
    /// As [`timeout`](time::timeout).
    #[track_caller]
    fn timeout(self, timeout: Duration) -> Timeout<Self>
    where
        Self: Sized,
    {
        time::timeout(timeout, self)
    }

    /// As [`timeout_at`](time::timeout_at).
    #[track_caller]
    fn timeout_at(self, deadline: Instant) -> Timeout<Self>
    where
        Self: Sized,
    {
        time::timeout_at(deadline, self)
    }

    /// As [`CancellationToken::run_until_cancelled`].
    #[track_caller]
    fn with_cancellation_token(
        self,
        cancellation_token: &CancellationToken,
    ) -> impl Future<Output = Option<Self::Output>>
    where
        Self: Sized,
    {
        cancellation_token.run_until_cancelled(self)
    }

    /// As [`CancellationToken::run_until_cancelled_owned`].
    #[track_caller]
    fn with_cancellation_token_owned(
        self,
        cancellation_token: CancellationToken,
    ) -> impl Future<Output = Option<Self::Output>>
    where
        Self: Sized,
    {
        cancellation_token.run_until_cancelled_owned(self)
    }
}

impl<F: Future + ?Sized> FutureExt for F {}

//! Cancellation that reaches whoever holds a token. Mirrors `tokio_util::sync::CancellationToken`.
//!
//! Inside a controlled execution a token is a watched flag, and whoever asks a child asks its ancestors too: so nothing
//! has to be told to children, and no list of them has to be kept. To cancel is immediate and seen by others; to wait is
//! an awaited op; to look is an observation. Outside one it is tokio-util's own token.

use crate::{
    api::{
        backend::{self, Side},
        payload::Payload,
        sync::watch::{self, error::RecvError},
    },
    world::op::Site,
};
use std::{
    fmt,
    future::{Future, poll_fn},
    hash::{Hash, Hasher},
    iter,
    panic::Location,
    pin::Pin,
    sync::Arc,
    task::{self, Poll},
};
use tokio_util::{either::Either, sync as theirs};

/// Tells those who hold it, or a child of it, that they shall end.
///
/// ```
/// # use delay_core::api::{task, tokio_util::sync::CancellationToken};
/// async fn body() {
///     let token = CancellationToken::new();
///     let child = token.child_token();
///     let server = task::spawn(async move { child.cancelled().await });
///     token.cancel();
///     server.await.expect("it ends by itself");
/// }
/// ```
#[derive(Clone)]
pub struct CancellationToken {
    inner: Side<Arc<Flag>, theirs::CancellationToken>,
}

/// A token of a controlled execution, shared by its clones.
struct Flag {
    is_cancelled: watch::Sender<bool>,
    /// Never looks, so that its clones see whether it was cancelled.
    unseen: watch::Receiver<bool>,
    parent: Option<Arc<Self>>,
}

impl Flag {
    fn new(parent: Option<Arc<Self>>) -> Arc<Self> {
        let is_cancelled = watch::Sender::part_of(false, Payload::visible(), "token");
        let unseen = is_cancelled.subscribe().part_of();
        Arc::new(Self { is_cancelled, unseen, parent })
    }

    /// It and its ancestors.
    fn line(self: &Arc<Self>) -> impl Iterator<Item = &Arc<Self>> {
        iter::successors(Some(self), |flag| flag.parent.as_ref())
    }

    #[track_caller]
    fn is_cancelled(self: &Arc<Self>) -> bool {
        self.line().any(|flag| *flag.is_cancelled.borrow())
    }

    #[track_caller]
    fn cancel(&self) {
        // A guard may be dropped after its execution, when nobody is left to be told.
        if self.is_cancelled.is_current() {
            self.is_cancelled.send_if_modified(|is_cancelled| !std::mem::replace(is_cancelled, true));
        }
    }

    /// Waits for it or one of its ancestors.
    fn wait(self: &Arc<Self>, site: Site) -> Waits {
        let changes = self.line().map(|flag| Box::pin(flag.unseen.clone().into_change(site)) as Changes).collect();
        Waits { changes, _flag: Arc::clone(self) }
    }
}

type Changes = Pin<Box<dyn Future<Output = Result<(), RecvError>> + Send + Sync>>;

/// A wait for a flag, which it keeps, or one of its ancestors.
struct Waits {
    changes: Vec<Changes>,
    _flag: Arc<Flag>,
}

impl Future for Waits {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let is_over = self.changes.iter_mut().any(|change| change.as_mut().poll(cx).is_ready());
        if is_over { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl CancellationToken {
    /// A token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        let inner = if backend::is_controlled() {
            Side::Controlled(Flag::new(None))
        } else {
            Side::Tokio(theirs::CancellationToken::new())
        };
        Self { inner }
    }

    /// A token that is cancelled with this one, and can be cancelled without it.
    #[must_use]
    pub fn child_token(&self) -> Self {
        Self {
            inner: match &self.inner {
                Side::Controlled(flag) => Side::Controlled(Flag::new(Some(Arc::clone(flag)))),
                Side::Tokio(token) => Side::Tokio(token.child_token()),
            },
        }
    }

    /// Cancels it, its clones and its children: immediate.
    #[track_caller]
    pub fn cancel(&self) {
        match &self.inner {
            Side::Controlled(flag) => flag.cancel(),
            Side::Tokio(token) => token.cancel(),
        }
    }

    /// Whether it was cancelled. An observation.
    #[track_caller]
    pub fn is_cancelled(&self) -> bool {
        match &self.inner {
            Side::Controlled(flag) => flag.is_cancelled(),
            Side::Tokio(token) => token.is_cancelled(),
        }
    }

    /// Waits until it is cancelled. A scheduling point.
    #[track_caller]
    pub fn cancelled(&self) -> WaitForCancellationFuture<'_> {
        self.cancelled_at(Location::caller())
    }

    /// As [`CancellationToken::cancelled`], asked for at `site`.
    fn cancelled_at(&self, site: Site) -> WaitForCancellationFuture<'_> {
        let inner = match &self.inner {
            Side::Controlled(flag) => Either::Left(flag.wait(site)),
            Side::Tokio(token) => Either::Right(token.cancelled()),
        };
        WaitForCancellationFuture { inner }
    }

    /// As [`CancellationToken::cancelled`], for a future that keeps the token.
    #[track_caller]
    pub fn cancelled_owned(self) -> WaitForCancellationFutureOwned {
        self.cancelled_owned_at(Location::caller())
    }

    /// As [`CancellationToken::cancelled_owned`], asked for at `site`.
    fn cancelled_owned_at(self, site: Site) -> WaitForCancellationFutureOwned {
        let inner = match self.inner {
            Side::Controlled(flag) => Either::Left(flag.wait(site)),
            Side::Tokio(token) => Either::Right(token.cancelled_owned()),
        };
        WaitForCancellationFutureOwned { inner }
    }

    /// A guard that cancels it when dropped.
    pub fn drop_guard(self) -> DropGuard {
        DropGuard { token: Some(self) }
    }

    /// As [`CancellationToken::drop_guard`], for a guard that borrows it.
    pub fn drop_guard_ref(&self) -> DropGuardRef<'_> {
        DropGuardRef { token: Some(self) }
    }

    /// Runs a future until it ends or this is cancelled: then there is no result, and the future is dropped. Of a token
    /// that is cancelled already nothing is run.
    #[track_caller]
    pub fn run_until_cancelled<F: Future>(&self, future: F) -> impl Future<Output = Option<F::Output>> + use<'_, F> {
        let site = Location::caller();
        async move {
            if self.is_cancelled() {
                return None;
            }
            until(future, std::pin::pin!(self.cancelled_at(site))).await
        }
    }

    /// As [`CancellationToken::run_until_cancelled`], for a future that keeps the token.
    #[track_caller]
    pub fn run_until_cancelled_owned<F: Future>(self, future: F) -> impl Future<Output = Option<F::Output>> + use<F> {
        let site = Location::caller();
        async move {
            if self.is_cancelled() {
                return None;
            }
            until(future, std::pin::pin!(self.cancelled_owned_at(site))).await
        }
    }
}

/// The future's output, or nothing if the other ends first. The future is asked first.
async fn until<F: Future>(future: F, mut end: Pin<&mut impl Future<Output = ()>>) -> Option<F::Output> {
    let mut future = std::pin::pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => end.as_mut().poll(cx).map(|()| None),
    })
    .await
}

impl Default for CancellationToken {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for CancellationToken {
    fn eq(&self, other: &Self) -> bool {
        match (&self.inner, &other.inner) {
            (Side::Controlled(one), Side::Controlled(two)) => Arc::ptr_eq(one, two),
            (Side::Tokio(one), Side::Tokio(two)) => one == two,
            (Side::Controlled(_), Side::Tokio(_)) | (Side::Tokio(_), Side::Controlled(_)) => false,
        }
    }
}

impl Eq for CancellationToken {}

impl Hash for CancellationToken {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.inner {
            // Not where it lies in memory, which would differ from execution to execution.
            Side::Controlled(flag) => flag.is_cancelled.object().hash(state),
            Side::Tokio(token) => token.hash(state),
        }
    }
}

impl fmt::Debug for CancellationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancellationToken").finish_non_exhaustive()
    }
}

pin_project_lite::pin_project! {
    /// Future of [`CancellationToken::cancelled`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct WaitForCancellationFuture<'a> {
        #[pin]
        inner: Either<Waits, theirs::WaitForCancellationFuture<'a>>,
    }
}

pin_project_lite::pin_project! {
    /// Future of [`CancellationToken::cancelled_owned`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct WaitForCancellationFutureOwned {
        #[pin]
        inner: Either<Waits, theirs::WaitForCancellationFutureOwned>,
    }
}

impl Future for WaitForCancellationFuture<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        self.project().inner.poll(cx)
    }
}

impl Future for WaitForCancellationFutureOwned {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        self.project().inner.poll(cx)
    }
}

impl fmt::Debug for WaitForCancellationFuture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitForCancellationFuture").finish_non_exhaustive()
    }
}

impl fmt::Debug for WaitForCancellationFutureOwned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitForCancellationFutureOwned").finish_non_exhaustive()
    }
}

/// Cancels its token when dropped.
#[derive(Debug)]
pub struct DropGuard {
    /// Invariant: none only once it is disarmed.
    token: Option<CancellationToken>,
}

/// Cancels the token it borrows when dropped.
#[derive(Debug)]
pub struct DropGuardRef<'a> {
    /// Invariant: none only once it is disarmed.
    token: Option<&'a CancellationToken>,
}

macro_rules! guards {
    ($name:ty, $held:ty, $($life:lifetime)?) => {
        impl $(<$life>)? $name {
            /// The token.
            pub fn token(&self) -> &CancellationToken {
                self.token.as_ref().unwrap_or_else(|| crate::bug!("a guard is used after its end"))
            }

            /// Gives the token back without cancelling it.
            pub fn disarm(mut self) -> $held {
                self.token.take().unwrap_or_else(|| crate::bug!("a guard is disarmed twice"))
            }
        }

        impl $(<$life>)? Drop for $name {
            fn drop(&mut self) {
                if let Some(token) = &self.token {
                    token.cancel();
                }
            }
        }
    };
}

guards!(DropGuard, CancellationToken,);
guards!(DropGuardRef<'a>, &'a CancellationToken, 'a);

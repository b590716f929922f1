//! Receivers and intervals as streams. Mirror those of `tokio_stream::wrappers`.

use super::Stream;
pub use super::join_set::JoinSetStream;
use crate::{
    api::{
        sync::{
            broadcast::{self, error::RecvError},
            mpsc, watch,
        },
        time::{Instant, Interval},
    },
    world::op::Site,
};
use std::{
    fmt,
    panic::Location,
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio_util::sync::ReusableBoxFuture;

/// What can go wrong.
pub mod errors {
    use std::fmt;

    /// Why a [`BroadcastStream`](super::BroadcastStream) has no value.
    #[derive(Debug, PartialEq, Eq, Clone)]
    pub enum BroadcastStreamRecvError {
        /// So many values were lost.
        Lagged(u64),
    }

    impl fmt::Display for BroadcastStreamRecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let Self::Lagged(lost) = self;
            write!(f, "channel lagged by {lost}")
        }
    }

    impl std::error::Error for BroadcastStreamRecvError {}
}

use errors::BroadcastStreamRecvError;

/// The wrapper of a receiver of one of the two kinds of channel.
macro_rules! receiver_stream {
    ($(#[$meta:meta])* $name:ident, $receiver:ty, |$inner:ident| $most:expr) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $name<T> {
            inner: $receiver,
            site: Site,
        }

        impl<T> $name<T> {
            /// Streams what it receives.
            #[track_caller]
            pub fn new(receiver: $receiver) -> Self {
                Self { inner: receiver, site: Location::caller() }
            }

            /// The receiver.
            pub fn into_inner(self) -> $receiver {
                self.inner
            }

            /// Lets no more values in. What is queued can still be received.
            #[track_caller]
            pub fn close(&mut self) {
                self.inner.close();
            }
        }

        impl<T> Stream for $name<T> {
            type Item = T;

            fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
                let site = self.site;
                self.inner.poll_recv_at(cx, site)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                let $inner = &self.inner;
                ($inner.len(), $inner.is_closed().then(|| $most))
            }
        }

        impl<T> AsRef<$receiver> for $name<T> {
            fn as_ref(&self) -> &$receiver {
                &self.inner
            }
        }

        impl<T> AsMut<$receiver> for $name<T> {
            fn as_mut(&mut self) -> &mut $receiver {
                &mut self.inner
            }
        }

        impl<T> From<$receiver> for $name<T> {
            #[track_caller]
            fn from(receiver: $receiver) -> Self {
                Self::new(receiver)
            }
        }
    };
}

receiver_stream! {
    /// The values of a bounded channel.
    // What permits are held for may still come.
    ReceiverStream, mpsc::Receiver<T>, |inner| inner.max_capacity() - inner.capacity()
}
receiver_stream! {
    /// The values of an unbounded channel.
    UnboundedReceiverStream, mpsc::UnboundedReceiver<T>, |inner| inner.len()
}

/// The values of a broadcast.
pub struct BroadcastStream<T> {
    next: ReusableBoxFuture<'static, (Result<T, RecvError>, broadcast::Receiver<T>)>,
    site: Site,
}

async fn receive<T: Clone>(
    mut receiver: broadcast::Receiver<T>,
    site: Site,
) -> (Result<T, RecvError>, broadcast::Receiver<T>) {
    (receiver.recv_at(site).await, receiver)
}

impl<T: Clone + Send + 'static> BroadcastStream<T> {
    /// Streams what it receives.
    #[track_caller]
    pub fn new(receiver: broadcast::Receiver<T>) -> Self {
        let site = Location::caller();
        Self { next: ReusableBoxFuture::new(receive(receiver, site)), site }
    }
}

impl<T: Clone + Send + 'static> Stream for BroadcastStream<T> {
    type Item = Result<T, BroadcastStreamRecvError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let (received, receiver) = ready!(self.next.poll(cx));
        let site = self.site;
        self.next.set(receive(receiver, site));
        Poll::Ready(match received {
            Ok(value) => Some(Ok(value)),
            Err(RecvError::Lagged(lost)) => Some(Err(BroadcastStreamRecvError::Lagged(lost))),
            Err(RecvError::Closed) => None,
        })
    }
}

impl<T> fmt::Debug for BroadcastStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastStream").finish_non_exhaustive()
    }
}

impl<T: Clone + Send + 'static> From<broadcast::Receiver<T>> for BroadcastStream<T> {
    #[track_caller]
    fn from(receiver: broadcast::Receiver<T>) -> Self {
        Self::new(receiver)
    }
}

/// The values of a watch, as far as they are seen.
pub struct WatchStream<T> {
    next: ReusableBoxFuture<'static, (Result<(), watch::error::RecvError>, watch::Receiver<T>)>,
    site: Site,
}

async fn change<T>(
    mut receiver: watch::Receiver<T>,
    site: Site,
) -> (Result<(), watch::error::RecvError>, watch::Receiver<T>) {
    (receiver.changed_at(site).await, receiver)
}

impl<T: Clone + Send + Sync + 'static> WatchStream<T> {
    /// Streams the present value and those after it.
    #[track_caller]
    pub fn new(receiver: watch::Receiver<T>) -> Self {
        Self { next: ReusableBoxFuture::new(async move { (Ok(()), receiver) }), site: Location::caller() }
    }

    /// Streams the values after the last that was seen.
    #[track_caller]
    pub fn from_changes(receiver: watch::Receiver<T>) -> Self {
        let site = Location::caller();
        Self { next: ReusableBoxFuture::new(change(receiver, site)), site }
    }
}

impl<T: Clone + Send + Sync + 'static> Stream for WatchStream<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let (changed, mut receiver) = ready!(self.next.poll(cx));
        let value = changed.is_ok().then(|| receiver.borrow_and_update().clone());
        let site = self.site;
        self.next.set(change(receiver, site));
        Poll::Ready(value)
    }
}

impl<T> fmt::Debug for WatchStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchStream").finish_non_exhaustive()
    }
}

impl<T: Clone + Send + Sync + 'static> From<watch::Receiver<T>> for WatchStream<T> {
    #[track_caller]
    fn from(receiver: watch::Receiver<T>) -> Self {
        Self::new(receiver)
    }
}

/// The ticks of an interval. It has no end.
#[derive(Debug)]
pub struct IntervalStream {
    inner: Interval,
}

impl IntervalStream {
    /// Streams its ticks.
    pub fn new(interval: Interval) -> Self {
        Self { inner: interval }
    }

    /// The interval.
    pub fn into_inner(self) -> Interval {
        self.inner
    }
}

impl Stream for IntervalStream {
    type Item = Instant;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Instant>> {
        self.inner.poll_tick(cx).map(Some)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}

impl futures_core::FusedStream for IntervalStream {
    fn is_terminated(&self) -> bool {
        false
    }
}

impl AsRef<Interval> for IntervalStream {
    fn as_ref(&self) -> &Interval {
        &self.inner
    }
}

impl AsMut<Interval> for IntervalStream {
    fn as_mut(&mut self) -> &mut Interval {
        &mut self.inner
    }
}

//! The methods of streams. Mirrors `tokio_stream::StreamExt`, which does the work where no timer is needed.

use super::{
    FromStream, Stream,
    adapters::{
        Chain, ChunksTimeout, Filter, FilterMap, Fuse, Map, MapWhile, Merge, Peekable, Skip, SkipWhile, Take,
        TakeWhile, Then, Throttle, Timeout, TimeoutRepeating,
    },
};
use crate::api::time::{Duration, Interval};
use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};
use tokio_stream::StreamExt as Theirs;

/// The methods of streams.
///
/// ```
/// # use delay_core::api::{sync::mpsc, tokio_stream::{StreamExt, wrappers::ReceiverStream}};
/// async fn sum(numbers: mpsc::Receiver<u32>) -> u32 {
///     let mut small = ReceiverStream::new(numbers).filter(|n| *n < 10);
///     let mut sum = 0;
///     while let Some(n) = small.next().await {
///         sum += n;
///     }
///     sum
/// }
/// ```
pub trait StreamExt: Stream {
    /// The next item; none at the end.
    fn next(&mut self) -> Next<'_, Self>
    where
        Self: Unpin,
    {
        Next { stream: self }
    }

    /// The next item of a stream of results.
    fn try_next<T, E>(&mut self) -> TryNext<'_, Self>
    where
        Self: Stream<Item = Result<T, E>> + Unpin,
    {
        TryNext { stream: self }
    }

    /// Turns each item into another.
    fn map<T, F: FnMut(Self::Item) -> T>(self, f: F) -> Map<Self, F>
    where
        Self: Sized,
    {
        Theirs::map(self, f)
    }

    /// Turns each item into another, and ends at the first that is none.
    fn map_while<T, F: FnMut(Self::Item) -> Option<T>>(self, f: F) -> MapWhile<Self, F>
    where
        Self: Sized,
    {
        Theirs::map_while(self, f)
    }

    /// Turns each item into what a future comes to.
    fn then<F: FnMut(Self::Item) -> Fut, Fut: Future>(self, f: F) -> Then<Self, Fut, F>
    where
        Self: Sized,
    {
        Theirs::then(self, f)
    }

    /// The items of both, as they come. Which one is asked first alternates.
    fn merge<U: Stream<Item = Self::Item>>(self, other: U) -> Merge<Self, U>
    where
        Self: Sized,
    {
        Theirs::merge(self, other)
    }

    /// The items that fit.
    fn filter<F: FnMut(&Self::Item) -> bool>(self, f: F) -> Filter<Self, F>
    where
        Self: Sized,
    {
        Theirs::filter(self, f)
    }

    /// Turns each item into another, if there is one for it.
    fn filter_map<T, F: FnMut(Self::Item) -> Option<T>>(self, f: F) -> FilterMap<Self, F>
    where
        Self: Sized,
    {
        Theirs::filter_map(self, f)
    }

    /// A stream that stays at its end.
    fn fuse(self) -> Fuse<Self>
    where
        Self: Sized,
    {
        Theirs::fuse(self)
    }

    /// The first `n` items.
    fn take(self, n: usize) -> Take<Self>
    where
        Self: Sized,
    {
        Theirs::take(self, n)
    }

    /// The items before the first that does not fit.
    fn take_while<F: FnMut(&Self::Item) -> bool>(self, f: F) -> TakeWhile<Self, F>
    where
        Self: Sized,
    {
        Theirs::take_while(self, f)
    }

    /// All items but the first `n`.
    fn skip(self, n: usize) -> Skip<Self>
    where
        Self: Sized,
    {
        Theirs::skip(self, n)
    }

    /// The items from the first that does not fit.
    fn skip_while<F: FnMut(&Self::Item) -> bool>(self, f: F) -> SkipWhile<Self, F>
    where
        Self: Sized,
    {
        Theirs::skip_while(self, f)
    }

    /// Whether all items fit.
    fn all<F: FnMut(Self::Item) -> bool>(&mut self, f: F) -> impl Future<Output = bool>
    where
        Self: Unpin,
    {
        Theirs::all(self, f)
    }

    /// Whether some item fits.
    fn any<F: FnMut(Self::Item) -> bool>(&mut self, f: F) -> impl Future<Output = bool>
    where
        Self: Unpin,
    {
        Theirs::any(self, f)
    }

    /// The items of this one, then those of the other.
    fn chain<U: Stream<Item = Self::Item>>(self, other: U) -> Chain<Self, U>
    where
        Self: Sized,
    {
        Theirs::chain(self, other)
    }

    /// What `f` makes of all items, one after the other.
    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, f: F) -> impl Future<Output = B>
    where
        Self: Sized,
    {
        Theirs::fold(self, init, f)
    }

    /// All items.
    fn collect<T: FromStream<Self::Item>>(self) -> impl Future<Output = T>
    where
        Self: Sized,
    {
        Theirs::collect(self)
    }

    /// An error each time that no item has come for so long.
    #[track_caller]
    fn timeout(self, duration: Duration) -> Timeout<Self>
    where
        Self: Sized,
    {
        Timeout::new(self, duration)
    }

    /// An error at each tick that comes before an item.
    fn timeout_repeating(self, interval: Interval) -> TimeoutRepeating<Self>
    where
        Self: Sized,
    {
        TimeoutRepeating::new(self, interval)
    }

    /// At most one item in so long.
    #[track_caller]
    fn throttle(self, duration: Duration) -> Throttle<Self>
    where
        Self: Sized,
    {
        Throttle::new(self, duration)
    }

    /// As many items as have come in so long after the first, but at most `max_size`.
    ///
    /// # Panics
    /// If `max_size` is zero.
    #[track_caller]
    fn chunks_timeout(self, max_size: usize, duration: Duration) -> ChunksTimeout<Self>
    where
        Self: Sized,
    {
        assert!(max_size > 0, "`max_size` must be non-zero.");
        ChunksTimeout::new(self, max_size, duration)
    }

    /// A stream of which the next item can be looked at.
    fn peekable(self) -> Peekable<Self>
    where
        Self: Sized,
    {
        Theirs::peekable(self)
    }
}

impl<S: Stream + ?Sized> StreamExt for S {}

/// Future of [`StreamExt::next`].
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct Next<'a, S: ?Sized> {
    stream: &'a mut S,
}

impl<S: Stream + Unpin + ?Sized> Future for Next<'_, S> {
    type Output = Option<S::Item>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut *self.stream).poll_next(cx)
    }
}

/// Future of [`StreamExt::try_next`].
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct TryNext<'a, S: ?Sized> {
    stream: &'a mut S,
}

impl<T, E, S: Stream<Item = Result<T, E>> + Unpin + ?Sized> Future for TryNext<'_, S> {
    type Output = Result<Option<T>, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut *self.stream).poll_next(cx).map(Option::transpose)
    }
}

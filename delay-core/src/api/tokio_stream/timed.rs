//! Streams with a timer, over our timers. Mirror those of `tokio_stream::adapters`.

use super::{Elapsed, Stream, adapters::Fuse};
use crate::api::time::{Duration, Interval, Sleep, sleep};
use std::{
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio_stream::StreamExt as Theirs;

pin_project_lite::pin_project! {
    /// Stream of [`StreamExt::timeout`](super::StreamExt::timeout).
    #[must_use = "streams do nothing unless polled"]
    #[derive(Debug)]
    pub struct Timeout<S> {
        #[pin]
        stream: Fuse<S>,
        #[pin]
        timer: Sleep,
        duration: Duration,
        // The time without an item was told; the next one counts from the next item.
        is_told: bool,
    }
}

impl<S: Stream> Timeout<S> {
    #[track_caller]
    pub(super) fn new(stream: S, duration: Duration) -> Self {
        Self { stream: Theirs::fuse(stream), timer: sleep(duration), duration, is_told: false }
    }
}

impl<S: Stream> Stream for Timeout<S> {
    type Item = Result<S::Item, Elapsed>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        if let Poll::Ready(next) = this.stream.poll_next(cx) {
            if next.is_some() {
                this.timer.as_mut().reset_after(*this.duration);
                *this.is_told = false;
            }
            return Poll::Ready(next.map(Ok));
        }
        if *this.is_told {
            return Poll::Pending;
        }
        ready!(this.timer.poll(cx));
        *this.is_told = true;
        Poll::Ready(Some(Err(Elapsed(()))))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (least, most) = self.stream.size_hint();
        // Before each item there may be an error, and one before the end.
        (least, most.and_then(|most| most.checked_mul(2)?.checked_add(1)))
    }
}

pin_project_lite::pin_project! {
    /// Stream of [`StreamExt::timeout_repeating`](super::StreamExt::timeout_repeating).
    #[must_use = "streams do nothing unless polled"]
    #[derive(Debug)]
    pub struct TimeoutRepeating<S> {
        #[pin]
        stream: Fuse<S>,
        interval: Interval,
    }
}

impl<S: Stream> TimeoutRepeating<S> {
    pub(super) fn new(stream: S, interval: Interval) -> Self {
        Self { stream: Theirs::fuse(stream), interval }
    }
}

impl<S: Stream> Stream for TimeoutRepeating<S> {
    type Item = Result<S::Item, Elapsed>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        if let Poll::Ready(next) = this.stream.poll_next(cx) {
            if next.is_some() {
                this.interval.reset();
            }
            return Poll::Ready(next.map(Ok));
        }
        this.interval.poll_tick(cx).map(|_| Some(Err(Elapsed(()))))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.stream.size_hint().0, None)
    }
}

pin_project_lite::pin_project! {
    /// Stream of [`StreamExt::throttle`](super::StreamExt::throttle).
    #[must_use = "streams do nothing unless polled"]
    #[derive(Debug)]
    pub struct Throttle<S> {
        #[pin]
        stream: S,
        #[pin]
        timer: Sleep,
        duration: Duration,
        // An item was given, and the time since then is not over.
        is_waiting: bool,
    }
}

impl<S: Stream> Throttle<S> {
    #[track_caller]
    pub(super) fn new(stream: S, duration: Duration) -> Self {
        Self { stream, timer: sleep(duration), duration, is_waiting: false }
    }
}

impl<S> Throttle<S> {
    /// The stream.
    pub fn get_ref(&self) -> &S {
        &self.stream
    }

    /// The stream.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.stream
    }

    /// The stream, without its limit.
    pub fn into_inner(self) -> S {
        self.stream
    }
}

impl<S: Stream> Stream for Throttle<S> {
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let mut this = self.project();
        if *this.is_waiting {
            ready!(this.timer.as_mut().poll(cx));
            *this.is_waiting = false;
        }
        let next = ready!(this.stream.poll_next(cx));
        if next.is_some() && !this.duration.is_zero() {
            this.timer.reset_after(*this.duration);
            *this.is_waiting = true;
        }
        Poll::Ready(next)
    }
}

pin_project_lite::pin_project! {
    /// Stream of [`StreamExt::chunks_timeout`](super::StreamExt::chunks_timeout).
    #[must_use = "streams do nothing unless polled"]
    #[derive(Debug)]
    pub struct ChunksTimeout<S: Stream> {
        #[pin]
        stream: Fuse<S>,
        #[pin]
        timer: Sleep,
        duration: Duration,
        items: Vec<S::Item>,
        most: usize,
    }
}

impl<S: Stream> ChunksTimeout<S> {
    #[track_caller]
    pub(super) fn new(stream: S, most: usize, duration: Duration) -> Self {
        Self { stream: Theirs::fuse(stream), timer: sleep(duration), duration, items: Vec::new(), most }
    }

    /// What has come and was not given yet.
    pub fn into_remainder(self: Pin<&mut Self>) -> Vec<S::Item> {
        mem::take(self.project().items)
    }
}

impl<S: Stream> Stream for ChunksTimeout<S> {
    type Item = Vec<S::Item>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        loop {
            match this.stream.as_mut().poll_next(cx) {
                Poll::Ready(Some(item)) => {
                    if this.items.is_empty() {
                        this.timer.as_mut().reset_after(*this.duration);
                    }
                    this.items.push(item);
                    if this.items.len() == *this.most {
                        return Poll::Ready(Some(mem::take(this.items)));
                    }
                }
                Poll::Ready(None) => {
                    return Poll::Ready(Some(mem::take(this.items)).filter(|items| !items.is_empty()));
                }
                Poll::Pending if this.items.is_empty() => return Poll::Pending,
                Poll::Pending => {
                    ready!(this.timer.as_mut().poll(cx));
                    return Poll::Ready(Some(mem::take(this.items)));
                }
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let begun = usize::from(!self.items.is_empty());
        let (least, most) = self.stream.size_hint();
        ((least / self.most).saturating_add(begun), most.and_then(|most| most.checked_add(begun)))
    }
}

//! Doing something again and again.

use super::{
    Duration, Instant, nanos,
    sleep::{Due, Timer},
};
use crate::{
    api::{
        backend::{self, Side},
        leaf::Leaf,
    },
    world::op::{Op, Site},
};
use std::{
    fmt,
    future::Future,
    panic::Location,
    pin::Pin,
    task::{self, Poll},
};
pub use tokio::time::MissedTickBehavior;

/// Ticks at once, then every `period`.
///
/// # Panics
/// If `period` is zero.
///
/// ```
/// # use delay_core::api::time::{self, Duration};
/// async fn heartbeat() {
///     let mut interval = time::interval(Duration::from_secs(1));
///     loop {
///         interval.tick().await;
///         // ..
///     }
/// }
/// ```
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    let site = Location::caller();
    assert!(period > Duration::ZERO, "`period` must be non-zero.");
    let inner = backend::choose(
        |context| {
            let next = Next::Turn(Leaf::new(context.execution, site));
            Ticking { execution: context.execution, next, period, behavior: MissedTickBehavior::default(), site }
        },
        || tokio::time::interval(period),
    );
    Interval { inner }
}

/// Ticks at `start`, then every `period`.
///
/// # Panics
/// If `period` is zero.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    let site = Location::caller();
    assert!(period > Duration::ZERO, "`period` must be non-zero.");
    if !crate::live::context::is_controlled() {
        return Interval { inner: Side::Tokio(tokio::time::interval_at(start.tokio(), period)) };
    }
    let mut interval = interval(period);
    if let Side::Controlled(ticking) = &mut interval.inner {
        ticking.site = site;
    }
    interval.reset_at(start);
    interval
}

/// What a virtual interval waits for.
#[derive(Debug)]
enum Next {
    /// It ticks at once: when it is its process's turn.
    Turn(Leaf),
    Timer(Timer),
}

/// A virtual interval. Each tick is due one period after the wait for it has begun: a timer may be late by any time, so
/// when the tick before was due makes no difference.
#[derive(Debug)]
struct Ticking {
    execution: u64,
    next: Next,
    period: Duration,
    behavior: MissedTickBehavior,
    site: Site,
}

impl Ticking {
    #[track_caller]
    fn set(&mut self, due: Due) {
        let site = self.site;
        let timer = backend::within(self.execution, |context| Timer::new(context, due, site));
        self.next = Next::Timer(timer);
    }

    /// Stops waiting. A timer starts over at the next wait, unless its time was given.
    fn give_up(&mut self) {
        match &mut self.next {
            Next::Timer(timer) => timer.give_up(),
            Next::Turn(leaf) => *leaf = Leaf::new(self.execution, self.site),
        }
    }

    fn poll(&mut self, cx: &task::Context<'_>) -> Poll<Instant> {
        let time = match &mut self.next {
            Next::Timer(timer) => task::ready!(timer.poll(cx)),
            Next::Turn(leaf) => {
                let site = leaf.site();
                task::ready!(leaf.poll_with(
                    cx,
                    || Op::Yield,
                    |context, _| {
                        context.record(site, |_| "sees its interval start".to_owned());
                        let now = context.world.actors_now();
                        context.world.hold_time(now);
                        now
                    }
                ))
            }
        };
        self.set(Due::After(nanos(self.period)));
        Poll::Ready(Instant::unseen(time))
    }
}

/// Ticks again and again.
///
/// Inside a controlled execution a tick may come at any moment after the wait for it has begun, and is never missed:
/// [`MissedTickBehavior`] makes no difference there.
pub struct Interval {
    inner: Side<Ticking, tokio::time::Interval>,
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interval").field("period", &self.period()).finish_non_exhaustive()
    }
}

impl Interval {
    /// Waits for the next tick; tells when it was due. A scheduling point.
    #[track_caller]
    pub fn tick(&mut self) -> Tick<'_> {
        if let Side::Controlled(ticking) = &mut self.inner {
            ticking.site = Location::caller();
            if let Next::Timer(timer) = &mut ticking.next {
                timer.asked_at(ticking.site);
            }
        }
        Tick { interval: self }
    }

    /// Polls for the next tick, for hand-written futures and streams.
    pub fn poll_tick(&mut self, cx: &mut task::Context<'_>) -> Poll<Instant> {
        match &mut self.inner {
            Side::Controlled(ticking) => ticking.poll(cx),
            Side::Tokio(interval) => interval.poll_tick(cx).map(Instant::of_tokio),
        }
    }

    /// The next tick is due one period from now.
    #[track_caller]
    pub fn reset(&mut self) {
        match &mut self.inner {
            Side::Controlled(ticking) => ticking.set(Due::After(nanos(ticking.period))),
            Side::Tokio(interval) => interval.reset(),
        }
    }

    /// The next tick is due at once.
    pub fn reset_immediately(&mut self) {
        match &mut self.inner {
            Side::Controlled(ticking) => ticking.next = Next::Turn(Leaf::new(ticking.execution, ticking.site)),
            Side::Tokio(interval) => interval.reset_immediately(),
        }
    }

    /// The next tick is due so long from now.
    #[track_caller]
    pub fn reset_after(&mut self, after: Duration) {
        match &mut self.inner {
            Side::Controlled(ticking) => ticking.set(Due::After(nanos(after))),
            Side::Tokio(interval) => interval.reset_after(after),
        }
    }

    /// The next tick is due at this time.
    #[track_caller]
    pub fn reset_at(&mut self, deadline: Instant) {
        match &mut self.inner {
            Side::Controlled(ticking) => ticking.set(Due::At(deadline.since_start())),
            Side::Tokio(interval) => interval.reset_at(deadline.tokio()),
        }
    }

    /// What it does about ticks that nobody waited for in time.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        match &self.inner {
            Side::Controlled(ticking) => ticking.behavior,
            Side::Tokio(interval) => interval.missed_tick_behavior(),
        }
    }

    /// Says what to do about ticks that nobody waited for in time. Without effect on virtual time.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        match &mut self.inner {
            Side::Controlled(ticking) => ticking.behavior = behavior,
            Side::Tokio(interval) => interval.set_missed_tick_behavior(behavior),
        }
    }

    /// The time between ticks.
    pub fn period(&self) -> Duration {
        match &self.inner {
            Side::Controlled(ticking) => ticking.period,
            Side::Tokio(interval) => interval.period(),
        }
    }
}

/// Future of [`Interval::tick`]. Dropped, it loses no tick.
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct Tick<'a> {
    interval: &'a mut Interval,
}

impl Future for Tick<'_> {
    type Output = Instant;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Instant> {
        self.get_mut().interval.poll_tick(cx)
    }
}

impl Drop for Tick<'_> {
    fn drop(&mut self) {
        // Otherwise the timer would stay pending while the task does something else, and no checkpoint were possible.
        if let Side::Controlled(ticking) = &mut self.interval.inner {
            ticking.give_up();
        }
    }
}

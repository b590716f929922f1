//! Waiting for a point in time.

use super::{Duration, Instant, nanos};
use crate::{
    api::{
        backend::{self, Side},
        leaf::Leaf,
    },
    live::context::Context,
    world::op::{Op, Site},
};
use std::{
    future::Future,
    panic::Location,
    pin::Pin,
    task::{self, Poll},
};

/// Waits until a point in time. A scheduling point.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    let site = Location::caller();
    let inner =
        backend::choose(|context| Timer::new(context, Due::At(0), site), || tokio::time::sleep_until(deadline.tokio()));
    match inner {
        Side::Controlled(timer) => {
            Sleep { inner: Inner::Virtual { timer: timer.due(Due::At(deadline.since_start())) } }
        }
        Side::Tokio(sleep) => Sleep { inner: Inner::Real { sleep } },
    }
}

/// Waits for some time. A scheduling point.
///
/// Inside a controlled execution the time counts from the first poll.
///
/// ```
/// # use delay_core::api::{time::{self, Duration}, task};
/// async fn body() {
///     task::spawn(async { time::sleep(Duration::from_secs(3600)).await });
///     // May come back before the other does, or after: both are explored, and no hour passes.
///     time::sleep(Duration::from_millis(1)).await;
/// }
/// ```
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    let site = Location::caller();
    let inner = backend::choose(
        |context| Timer::new(context, Due::After(nanos(duration)), site),
        || tokio::time::sleep(duration),
    );
    Sleep {
        inner: match inner {
            Side::Controlled(timer) => Inner::Virtual { timer },
            Side::Tokio(sleep) => Inner::Real { sleep },
        },
    }
}

/// When a virtual timer is due.
#[derive(Clone, Copy, Debug)]
pub(super) enum Due {
    /// So long after it is first polled. Until then it depends on nothing, and nothing depends on it.
    After(u64),
    /// At this time since the start.
    At(u64),
}

/// A virtual timer.
#[derive(Debug)]
pub(super) struct Timer {
    execution: u64,
    leaf: Leaf,
    due: Due,
    /// The time since the start it is due, from its first poll on.
    settled: Option<u64>,
    fired: bool,
}

impl Timer {
    pub(super) fn new(context: &Context, due: Due, site: Site) -> Self {
        Self {
            execution: context.execution,
            leaf: Leaf::new(context.execution, site),
            due,
            settled: None,
            fired: false,
        }
    }

    fn due(mut self, due: Due) -> Self {
        self.due = due;
        self
    }

    /// Says where it is waited for, unless the wait has begun.
    pub(super) fn asked_at(&mut self, site: Site) {
        if self.leaf.is_new() {
            self.leaf = Leaf::new(self.execution, site);
        }
    }

    /// Sets it anew.
    pub(super) fn set(&mut self, due: Due) {
        self.give_up();
        (self.due, self.fired) = (due, false);
    }

    /// Stops waiting. A span starts over at the next poll.
    pub(super) fn give_up(&mut self) {
        self.leaf = Leaf::new(self.execution, self.leaf.site());
        self.settled = None;
    }

    /// The time it is due if it is polled now, at the latest.
    fn time(&self, context: &Context) -> u64 {
        self.settled.unwrap_or(match self.due {
            Due::At(time) => time,
            Due::After(span) => context.world.actors_now().saturating_add(span),
        })
    }

    /// Polls until it fires; tells its deadline. Polled again after it has fired, it waits for its turn again.
    pub(super) fn poll(&mut self, cx: &task::Context<'_>) -> Poll<u64> {
        let site = self.leaf.site();
        if self.fired && self.leaf.is_done() {
            self.leaf = Leaf::new(self.execution, site);
        }
        let is_known_before = self.settled.is_some() || matches!(self.due, Due::At(_));
        let deadline = backend::within(self.execution, |context| {
            if is_known_before && self.leaf.is_new() {
                context.world.waits_until();
            }
            self.time(context)
        });
        self.settled = Some(deadline);
        let fires = |context: &mut Context, _| {
            context.world.hold_time(deadline);
            context.record(site, |_| "sees its timer fire".to_owned());
        };
        task::ready!(self.leaf.poll_with(cx, || Op::Sleep(deadline), fires));
        self.fired = true;
        Poll::Ready(deadline)
    }
}

pin_project_lite::pin_project! {
    /// Future of [`sleep`] and [`sleep_until`].
    #[must_use = "futures do nothing unless awaited"]
    #[derive(Debug)]
    pub struct Sleep {
        #[pin]
        inner: Inner,
    }
}

pin_project_lite::pin_project! {
    #[project = InnerPinned]
    #[derive(Debug)]
    enum Inner {
        Virtual { timer: Timer },
        Real { #[pin] sleep: tokio::time::Sleep },
    }
}

impl Sleep {
    /// When it is due. Inside a controlled execution an observation.
    #[track_caller]
    pub fn deadline(&self) -> Instant {
        match &self.inner {
            Inner::Virtual { timer } => {
                let time = backend::within(timer.execution, |context| {
                    let time = timer.time(context);
                    context.world.see_time(time);
                    time
                });
                Instant::seen(time)
            }
            Inner::Real { sleep } => Instant::of_tokio(sleep.deadline()),
        }
    }

    /// Whether it is over.
    pub fn is_elapsed(&self) -> bool {
        match &self.inner {
            Inner::Virtual { timer } => timer.fired,
            Inner::Real { sleep } => sleep.is_elapsed(),
        }
    }

    /// Sets it anew, whether or not it is over.
    #[track_caller]
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        match self.project().inner.project() {
            InnerPinned::Virtual { timer } => timer.set(Due::At(deadline.since_start())),
            InnerPinned::Real { sleep } => sleep.reset(deadline.tokio()),
        }
    }
}

impl Sleep {
    /// Sets it anew, for so long: virtual time counts from the next poll.
    pub(crate) fn reset_after(self: Pin<&mut Self>, duration: Duration) {
        match self.project().inner.project() {
            InnerPinned::Virtual { timer } => timer.set(Due::After(nanos(duration))),
            InnerPinned::Real { sleep } => sleep.reset(tokio::time::Instant::now() + duration),
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        match self.project().inner.project() {
            InnerPinned::Virtual { timer } => timer.poll(cx).map(drop),
            InnerPinned::Real { sleep } => sleep.poll(cx),
        }
    }
}

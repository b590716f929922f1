//! Explicit choices: what the environment may decide either way.
//!
//! Inside a controlled execution every outcome is explored, and each is a state of its own. Outside one, a choice is
//! made at random, each outcome equally likely.

#[cfg_attr(not(feature = "controlled"), path = "../plain/choose.rs")]
mod controlled;

use super::{
    backend::{self, Side},
    random::entropy,
};
use crate::limits;
use controlled::Asking;
use std::{
    future::Future,
    panic::Location,
    pin::Pin,
    task::{self, Poll},
};

/// One of `0..outcomes`. The first to be explored is 0. A scheduling point.
///
/// # Panics
/// If `outcomes` is 0 or above [`limits::ALTERNATIVES_MAX`].
///
/// ```
/// # use delay_core::api::choose::choose;
/// async fn body() {
///     let lost = choose(3).await;
///     assert!(lost < 3);
/// }
/// ```
#[track_caller]
pub fn choose(outcomes: usize) -> Choose {
    among(outcomes, false, Location::caller())
}

/// As [`choose`], and fair: where an execution comes back to this choice again and again, each outcome is taken at
/// last. That matters for liveness only (P's `$$`): a monitor that stays hot in a loop which never takes one of the
/// outcomes is no violation.
///
/// # Panics
/// As [`choose`].
///
/// ```
/// # use delay_core::api::choose::fair_choose;
/// async fn backoff() -> usize {
///     fair_choose(4).await
/// }
/// ```
#[track_caller]
pub fn fair_choose(outcomes: usize) -> Choose {
    among(outcomes, true, Location::caller())
}

#[track_caller]
fn among(outcomes: usize, is_fair: bool, site: &'static Location<'static>) -> Choose {
    let most = limits::ALTERNATIVES_MAX;
    assert!(outcomes > 0, "choose(0): there is nothing to choose from");
    let outcomes = u32::try_from(outcomes).ok().filter(|outcomes| *outcomes <= most);
    let Some(outcomes) = outcomes else { panic!("choose: at most {most} outcomes; choose in several stages") };
    asked(outcomes, is_fair, site)
}

/// True or false. The first to be explored is false. A scheduling point.
#[track_caller]
pub fn flip() -> Flip {
    Flip(asked(2, false, Location::caller()))
}

/// As [`flip`], and fair as [`fair_choose`] is: a link that loses messages, but not for ever, say.
///
/// ```
/// # use delay_core::api::choose::fair_flip;
/// async fn send_until_it_gets_through() {
///     while fair_flip().await {}
/// }
/// ```
#[track_caller]
pub fn fair_flip() -> Flip {
    Flip(asked(2, true, Location::caller()))
}

fn asked(outcomes: u32, is_fair: bool, site: &'static Location<'static>) -> Choose {
    let inner =
        if backend::is_controlled() { Side::Controlled(Asking::new(outcomes, is_fair, site)) } else { Side::Tokio(()) };
    Choose { outcomes, inner }
}

/// Future of [`choose`] and [`fair_choose`].
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct Choose {
    outcomes: u32,
    inner: Side<Asking, ()>,
}

impl Choose {
    fn poll_outcome(&mut self, cx: &task::Context<'_>, words: impl Fn(u32) -> String) -> Poll<u32> {
        match &mut self.inner {
            Side::Controlled(asking) => asking.poll(cx, words),
            Side::Tokio(()) => Poll::Ready(random_below(self.outcomes)),
        }
    }
}

impl Future for Choose {
    type Output = usize;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<usize> {
        let outcomes = self.outcomes;
        self.poll_outcome(cx, |outcome| format!("chooses {outcome} of {outcomes}")).map(|outcome| outcome as usize)
    }
}

/// Future of [`flip`] and [`fair_flip`].
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct Flip(Choose);

impl Future for Flip {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<bool> {
        self.0.poll_outcome(cx, |outcome| format!("flips {}", outcome == 1)).map(|outcome| outcome == 1)
    }
}

fn random_below(outcomes: u32) -> u32 {
    // The bias of taking the upper half of a 96-bit product is below 2^-32.
    ((u128::from(entropy()) * u128::from(outcomes)) >> 64) as u32
}

//! Explicit choices: what the environment may decide either way.
//!
//! Inside a controlled execution every outcome is explored, and each is a state of its own. Outside one, a choice is
//! made at random, each outcome equally likely.

use super::{
    backend::{self, Side},
    leaf::Leaf,
};
use crate::{
    limits,
    world::op::{Observation, Op, Site},
};
use std::{
    future::Future,
    hash::{BuildHasher, Hasher},
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
    let site = Location::caller();
    let most = limits::ALTERNATIVES_MAX;
    assert!(outcomes > 0, "choose(0): there is nothing to choose from");
    let outcomes = u32::try_from(outcomes).ok().filter(|outcomes| *outcomes <= most);
    let Some(outcomes) = outcomes else { panic!("choose: at most {most} outcomes; choose in several stages") };
    Choose { outcomes, inner: asked(site) }
}

/// True or false. The first to be explored is false. A scheduling point.
#[track_caller]
pub fn flip() -> Flip {
    Flip(Choose { outcomes: 2, inner: asked(Location::caller()) })
}

fn asked(site: Site) -> Side<Leaf, ()> {
    backend::choose(|context| Leaf::new(context.execution, site), || ())
}

/// Future of [`choose`].
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct Choose {
    outcomes: u32,
    inner: Side<Leaf, ()>,
}

impl Choose {
    fn poll_outcome(&mut self, cx: &task::Context<'_>, words: impl Fn(u32) -> String) -> Poll<u32> {
        let outcomes = self.outcomes;
        match &mut self.inner {
            Side::Controlled(leaf) => {
                let site = leaf.site();
                leaf.poll_with(
                    cx,
                    || Op::Choose(outcomes),
                    |context, seen| {
                        let Observation::Outcome(outcome) = seen else { crate::bug!("a choice saw {seen:?}") };
                        context.record(site, |_| words(outcome));
                        outcome
                    },
                )
            }
            Side::Tokio(()) => Poll::Ready(random_below(outcomes)),
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

/// Future of [`flip`].
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct Flip(Choose);

impl Future for Flip {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<bool> {
        self.0.poll_outcome(cx, |outcome| format!("flips {}", outcome == 1)).map(|outcome| outcome == 1)
    }
}

/// 64 bits nobody can foresee: std's own seed for its hash maps, which differs at every call.
pub(super) fn entropy() -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

fn random_below(outcomes: u32) -> u32 {
    // The bias of taking the upper half of a 96-bit product is below 2^-32.
    ((u128::from(entropy()) * u128::from(outcomes)) >> 64) as u32
}

//! Tasks that wait for each other. Mirrors `tokio::sync::Barrier`.
//!
//! Made of two watched values: who has arrived, and how often all have. Arriving is immediate, in the first poll as in
//! tokio; waiting for the last one is an awaited op. Invariant: `arrived` is less than `n`.

use super::watch;
use crate::{
    api::{
        backend::{self, Side},
        payload::Payload,
    },
    world::op::Site,
};
use std::{fmt, future::Future, panic::Location};
use tokio::sync as theirs;

/// Lets a number of tasks go on together.
///
/// ```
/// # use delay_core::api::sync::Barrier;
/// async fn body() {
///     let barrier = Barrier::new(2);
///     let (one, other) = delay_core::api::join!(barrier.wait(), barrier.wait());
///     // The last to arrive is the leader.
///     assert_ne!(one.is_leader(), other.is_leader());
/// }
/// ```
pub struct Barrier {
    inner: Side<Gate, theirs::Barrier>,
}

struct Gate {
    n: usize,
    arrived: watch::Sender<usize>,
    opened: watch::Sender<u64>,
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

impl Barrier {
    /// A barrier for `n` tasks; 0 counts as 1.
    #[track_caller]
    pub fn new(n: usize) -> Self {
        let inner = if backend::is_controlled() {
            Side::Controlled(Gate {
                n: n.max(1),
                arrived: watch::Sender::part_of(0, Payload::visible(), "barrier"),
                opened: watch::Sender::part_of(0, Payload::visible(), "barrier"),
            })
        } else {
            Side::Tokio(theirs::Barrier::new(n))
        };
        Self { inner }
    }

    /// Waits until `n` tasks wait; the last of them is the leader. A scheduling point for all but the leader.
    ///
    /// Dropped after its first poll it has arrived nevertheless, as in tokio.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> + use<'_> {
        let site = Location::caller();
        async move {
            match &self.inner {
                Side::Controlled(gate) => BarrierWaitResult(gate.wait(site).await),
                Side::Tokio(barrier) => BarrierWaitResult(barrier.wait().await.is_leader()),
            }
        }
    }
}

impl Gate {
    async fn wait(&self, site: Site) -> bool {
        let opened = self.opened.subscribe();
        let mut is_leader = false;
        self.arrived.send_modify(|arrived| {
            is_leader = *arrived + 1 == self.n;
            *arrived = if is_leader { 0 } else { *arrived + 1 };
        });
        if is_leader {
            self.opened.send_modify(|times| *times += 1);
        } else if opened.into_change(site).await.is_err() {
            crate::bug!("a barrier is gone while somebody waits at it");
        }
        is_leader
    }
}

/// Who the leader is.
#[derive(Debug, Clone)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether it was the last to arrive.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

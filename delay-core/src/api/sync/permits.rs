//! The user's side of a World semaphore: asking for permits and holding them. Locks and semaphores are made of it.
//!
//! Invariant: a [`Held`] gives its permits back exactly once, with what became of the value they protect.

use crate::{
    api::{backend, leaf::Leaf},
    ids::{Object, Process},
    live::context::Context,
    world::{
        op::{Observation, Op, Site},
        shared::{Ask, Change, again::SharedLook, semaphore::Refused},
    },
};
use std::future::poll_fn;

/// A semaphore of one execution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permits {
    object: Object,
    execution: u64,
}

/// Permits that are held.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) of: Permits,
    holder: Process,
    pub(super) count: u64,
}

impl Permits {
    pub(super) fn new(context: &mut Context, object: Object, word: &'static str) -> Self {
        context.labels.name_object(object, word, None);
        Self { object, execution: context.execution }
    }

    /// Waits for permits; none if the semaphore was closed.
    pub(super) async fn acquire(self, count: u32, site: Site) -> Option<Held> {
        let mut leaf = Leaf::new(self.execution, site);
        let op = || Op::Shared { object: self.object, ask: Ask::Acquire(count) };
        poll_fn(|cx| {
            leaf.poll_with(cx, op, |context, seen| {
                let closed = seen == Observation::Closed;
                self.record(context, site, if closed { "sees closed" } else { "acquires" });
                (!closed).then(|| self.held(context.world.actor(), u64::from(count)))
            })
        })
        .await
    }

    /// Takes permits without waiting.
    #[track_caller]
    pub(super) fn try_acquire(self, count: u32, site: Site) -> Result<Held, Refused> {
        backend::within(self.execution, |context| {
            let taken = context.world.acquire_now(self.object, count);
            self.record(context, site, if taken.is_ok() { "acquires" } else { "cannot acquire" });
            taken.map(|()| self.held(context.world.actor(), u64::from(count)))
        })
    }

    fn held(self, holder: Process, count: u64) -> Held {
        Held { of: self, holder, count }
    }

    fn record(self, context: &mut Context, site: Site, what: &str) {
        context.record(site, |context| format!("{what} {}", context.labels.object(&context.world, self.object)));
    }

    #[track_caller]
    pub(super) fn add(self, count: u64) {
        backend::within(self.execution, |context| context.world.add_permits(self.object, count));
    }

    #[track_caller]
    pub(super) fn forget_free(self, count: u64) -> u64 {
        backend::within(self.execution, |context| context.world.forget_free(self.object, count))
    }

    #[track_caller]
    pub(super) fn close(self) {
        backend::within(self.execution, |context| context.world.close_semaphore(self.object));
    }

    #[track_caller]
    pub(super) fn look(self, look: SharedLook) -> u64 {
        backend::within(self.execution, |context| context.world.look_at_shared(self.object, look))
    }

    /// The value is reached by whoever owns the lock alone.
    pub(super) fn reach(self) {
        backend::within_if(self.execution, |context| context.world.reach_value(self.object));
    }

    pub(super) fn is(self, other: Self) -> bool {
        (self.object, self.execution) == (other.object, other.execution)
    }
}

impl Held {
    /// Gives so many of the permits back.
    pub(super) fn release(&mut self, count: u64, change: impl FnOnce() -> Change) {
        // The value's `Hash` is the user's code: it does not run for an execution that is over, nor in the course of a panic.
        let Permits { object, execution } = self.of;
        let there = backend::within_if(execution, |_| ()).is_some();
        if there {
            let change = if std::thread::panicking() { Change::Opaque } else { change() };
            backend::within_if(execution, |context| context.world.release_permits(object, self.holder, count, change));
        }
        self.count -= count;
    }

    pub(super) fn forget(mut self) {
        let Permits { object, execution } = self.of;
        let count = std::mem::take(&mut self.count);
        backend::within_if(execution, |context| context.world.forget_held(object, self.holder, count));
    }

    pub(super) fn merge(&mut self, mut other: Self) {
        let Permits { object, execution } = self.of;
        let count = std::mem::take(&mut other.count);
        if other.holder != self.holder {
            backend::within_if(execution, |context| {
                context.world.pass_permits(object, other.holder, self.holder, count);
            });
        }
        self.count += count;
    }

    pub(super) fn split(&mut self, count: u64) -> Option<Self> {
        self.count = self.count.checked_sub(count)?;
        Some(Self { of: self.of, holder: self.holder, count })
    }
}

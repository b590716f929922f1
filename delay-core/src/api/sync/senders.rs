//! How many senders a channel has.
//!
//! Invariant: whoever drops the last one tells the World that nothing can come any more.

use crate::{api::backend, ids::Object, world::World};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The senders of a channel, one to begin with.
#[derive(Debug)]
pub(super) struct Senders(AtomicUsize);

impl Senders {
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(1))
    }

    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire) as u64
    }

    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// One more, unless none is left.
    pub(super) fn revive(&self) -> bool {
        let revive = |count| if count == 0 { None } else { Some(count + 1) };
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, revive).is_ok()
    }

    /// One is dropped: tells the World, and has it `abandon` the channel if it was the last.
    pub(super) fn remove(&self, execution: u64, object: Object, abandon: impl FnOnce(&mut World, Object)) {
        let was_last = self.0.fetch_sub(1, Ordering::AcqRel) == 1;
        backend::within_if(execution, |context| {
            context.world.drops_end(object);
            if was_last {
                abandon(&mut context.world, object);
            }
        });
    }
}

/// The weak senders of a channel.
#[derive(Debug)]
pub(super) struct Weak(AtomicUsize);

impl Weak {
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire) as u64
    }

    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn remove(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

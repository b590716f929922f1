//! How many weak senders a channel has. The World does not know of them: they keep nothing open.

use std::sync::atomic::{AtomicUsize, Ordering};

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

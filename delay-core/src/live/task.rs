//! Wakers of processes, and the wakes that come from outside.
//!
//! The engine knows which process to poll, so its own ops need no waker. A process's waker exists for what the engine
//! does not control: whoever calls it makes the process ready and the test "partly uncontrolled".

use super::context::{self, Wake};
use crate::{ids::Process, limits};
use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::Waker,
    time::Duration,
};

/// Wakes by code the engine does not control, from any thread.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    woken: Mutex<Vec<Process>>,
    any: AtomicBool,
    arrived: Condvar,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Vec<Process>> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, process: Process) {
        self.lock().push(process);
        self.any.store(true, Ordering::Release);
        self.arrived.notify_one();
    }

    #[inline]
    pub(super) fn has_any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    pub(super) fn take(&self) -> Vec<Process> {
        let mut woken = self.lock();
        self.any.store(false, Ordering::Release);
        std::mem::take(&mut *woken)
    }

    /// Waits until somebody is woken from another thread, but not for ever.
    pub(super) fn wait(&self) -> bool {
        let limit = Duration::from_millis(limits::FOREIGN_WAIT_MS);
        let waited = self.arrived.wait_timeout_while(self.lock(), limit, |woken| woken.is_empty());
        let (woken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !woken.is_empty()
    }
}

/// What a process is polled with.
pub(super) struct ProcessWaker {
    process: Process,
    inbox: Arc<Inbox>,
    /// The execution this waker belonged to is over.
    dead: AtomicBool,
}

impl ProcessWaker {
    pub(super) fn new(process: Process, inbox: &Arc<Inbox>) -> Arc<Self> {
        Arc::new(Self { process, inbox: Arc::clone(inbox), dead: AtomicBool::new(false) })
    }

    /// Whether somebody else may still call this waker, given how many references the engine itself holds.
    pub(super) fn is_shared(self: &Arc<Self>, own: usize) -> bool {
        Arc::strong_count(self) > own
    }

    pub(super) fn retire(&self) {
        self.dead.store(true, Ordering::Relaxed);
    }
}

impl std::task::Wake for ProcessWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.dead.load(Ordering::Relaxed) {
            return;
        }
        match context::woken(self.process) {
            Wake::Engine | Wake::Itself => {}
            Wake::Foreign => self.inbox.push(self.process),
        }
    }
}

/// A process's waker, twice: to poll with, and to ask who else holds it.
pub(super) struct Handle {
    pub(super) waker: Waker,
    pub(super) inner: Arc<ProcessWaker>,
}

impl Handle {
    pub(super) fn new(process: Process, inbox: &Arc<Inbox>) -> Self {
        let inner = ProcessWaker::new(process, inbox);
        Self { waker: Waker::from(Arc::clone(&inner)), inner }
    }
}

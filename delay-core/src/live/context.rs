//! The current execution: the only thread-local that an execution depends on.
//!
//! While a process is polled, its execution's `Context` stands here, and the controlled ops of `api/` find it. A
//! borrow never lasts while user code runs: user values are hashed, shown and dropped outside `with`.

use super::{labels::Labels, observed::Observations};
use crate::{
    api::monitor::ear::Monitors,
    ids::{Process, Slot},
    trace::event::Event,
    verdict::Violation,
    world::{After, World, op::Site, words::Keeps},
};
use qcell::QCellOwner;
use std::{
    any::Any,
    cell::{Cell, RefCell},
    future::Future,
    mem::ManuallyDrop,
    pin::Pin,
    sync::Arc,
    task::Waker,
};

/// A spawned process's future. The engine polls it on one thread, so it need not be `Send`.
pub(crate) type TaskFuture<'b> = Pin<Box<dyn Future<Output = ()> + 'b>>;

/// Starts the first process of a node.
pub(crate) type Init = Arc<dyn Fn() -> TaskFuture<'static>>;

/// The values of a store, whose type only its handles know.
pub(crate) struct OpenStore {
    pub(crate) node: Option<Process>,
    pub(crate) name: String,
    pub(crate) keeps: Keeps,
    pub(crate) values: Arc<dyn Any + Send + Sync>,
}

/// What ops see of the execution they run in.
pub(crate) struct Context {
    pub(crate) world: World,
    /// Opens what handles hold of values: `api/owned.rs`.
    pub(crate) owner: QCellOwner,
    /// The first processes of nodes, and how to start each again.
    pub(crate) nodes: Vec<(Process, Init)>,
    /// Links that let something happen to messages: in words, and whether one matched.
    pub(crate) links: Vec<(String, bool)>,
    /// What is stored, by node and name.
    pub(crate) stores: Vec<OpenStore>,
    /// Unique among all executions of this process: handles of another one are refused.
    pub(crate) execution: u64,
    pub(crate) labels: Labels,
    pub(crate) monitors: Monitors,
    pub(crate) observations: Observations,
    /// Spawned in this step and not polled yet, in order.
    pub(crate) spawned: Vec<(Process, TaskFuture<'static>)>,
    /// The waker each process is polled with.
    pub(crate) wakers: Vec<Waker>,
    /// Wakers of leaf futures that are polled by a combinator with a waker of its own.
    pub(crate) leaf_wakers: Vec<(Process, Slot, Waker)>,
    /// The first violation of this execution.
    pub(crate) violation: Option<Violation>,
    /// Events in words; only a confirming replay records them.
    pub(crate) recorder: Option<Vec<Event>>,
    /// Seed of `delay::rng`.
    pub(crate) seed: u64,
    /// Events announced while no monitor listened to their type.
    pub(crate) unheard: u64,
    /// The type of the first of them.
    pub(crate) unheard_first: Option<String>,
    /// Values observed while there was no invariant.
    pub(crate) unseen: u64,
    /// Wakes by code the engine does not control, and the process that was woken first.
    pub(crate) foreign_wakes: u64,
    pub(crate) woken_first: Option<String>,
}

impl Context {
    /// Notes what an op did, if this execution is being recorded.
    #[inline]
    pub(crate) fn record(&mut self, site: Site, text: impl FnOnce(&Self) -> String) {
        if self.recorder.is_some() {
            let text = text(self);
            self.record_text(self.world.actor(), site, text);
        }
    }

    #[cold]
    pub(crate) fn record_text(&mut self, process: Process, site: Site, text: String) {
        let process = self.labels.process(&self.world, process);
        let (step, now) = (self.world.choices(), self.world.now());
        if let Some(events) = &mut self.recorder {
            events.push(Event { step, now, process, text, site: Some(site) });
        }
    }

    /// The first violation stands; later ones are consequences.
    pub(crate) fn violate(&mut self, violation: Violation) {
        self.violation.get_or_insert(violation);
    }
}

/// It needs no destructor, so that nobody has to ask whether its thread is ending: an execution is put in place and taken out again.
struct Current {
    context: RefCell<ManuallyDrop<Option<Box<Context>>>>,
    /// The engine itself is waking a leaf.
    waking: Cell<bool>,
    /// The process being polled.
    polling: Cell<Option<Process>>,
    /// It woke itself.
    self_woken: Cell<bool>,
    /// A panic on this thread is the program's and is kept for the report instead of being printed.
    quiet: Cell<bool>,
}

thread_local! {
    static CURRENT: Current = const {
        Current {
            context: RefCell::new(ManuallyDrop::new(None)),
            waking: Cell::new(false),
            polling: Cell::new(None),
            self_woken: Cell::new(false),
            quiet: Cell::new(false),
        }
    };
    /// Message and place of the last panic that was kept.
    static PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// `with`, by way of what the standard library inlines.
#[inline]
fn here<R>(f: impl FnOnce(&Current) -> R) -> R {
    CURRENT.try_with(f).unwrap_or_else(|_| crate::bug!("it has no destructor"))
}

/// Runs `f` on the current execution, if there is one on this thread.
#[inline]
pub(crate) fn with<R>(f: impl FnOnce(&mut Context) -> R) -> Option<R> {
    here(|current| current.context.borrow_mut().as_deref_mut().map(f))
}

/// The test body has returned.
pub(crate) fn returned(result: Result<(), String>) {
    if let Err(message) = result {
        with(|context| context.violate(Violation::Error { message }));
    }
}

/// Whether a controlled execution runs on this thread.
#[inline]
pub(crate) fn is_controlled() -> bool {
    here(|current| current.context.borrow().is_some())
}

/// Puts an execution in place while user code of one process runs. While `quiet`, the program's panics are kept for
/// the report instead of being printed.
///
/// # Panics
/// If one is in place already: a checker cannot run inside a test body.
#[inline]
pub(crate) fn install(context: &mut Option<Box<Context>>, process: Process, quiet: bool) {
    here(|current| {
        let mut place = current.context.borrow_mut();
        assert!(place.is_none(), "a controlled execution cannot run inside another one");
        std::mem::swap(&mut **place, context);
        current.polling.set(Some(process));
        current.self_woken.set(false);
        current.quiet.set(quiet);
    });
}

/// Takes the execution out again; says whether the process woke itself meanwhile.
#[inline]
pub(crate) fn uninstall(context: &mut Option<Box<Context>>) -> bool {
    here(|current| {
        current.quiet.set(false);
        current.polling.set(None);
        std::mem::swap(&mut **current.context.borrow_mut(), context);
        current.self_woken.get()
    })
}

/// What may come after a poll within the same step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Further {
    /// Nothing: it was a first poll.
    Nothing,
    /// What the World's lane has.
    Taken,
}

/// What comes after the process being polled is pending; none if that is another poll at once.
#[inline(always)]
#[expect(clippy::inline_always, reason = "once in every step of every execution")]
pub(crate) fn after_pending(further: Further) -> Option<After> {
    if further == Further::Nothing {
        return Some(After::Outside);
    }
    here(|current| match current.context.borrow_mut().as_deref_mut() {
        // Else these come first.
        Some(context) if context.violation.is_none() && !current.self_woken.get() => {
            match context.world.after_poll() {
                // Nobody has to be woken for it.
                After::Took if context.leaf_wakers.is_empty() => None,
                after => Some(after),
            }
        }
        _ => Some(After::Outside),
    })
}

/// Who calls a process's waker.
pub(crate) enum Wake {
    /// The engine: the process is about to be polled anyway.
    Engine,
    /// The process itself, in its own poll; it will be polled again.
    Itself,
    /// Code the engine does not control.
    Foreign,
}

/// A process's waker was called on this thread.
pub(crate) fn woken(process: Process) -> Wake {
    here(|current| {
        if current.waking.get() {
            Wake::Engine
        } else if current.polling.get() == Some(process) {
            current.self_woken.set(true);
            Wake::Itself
        } else {
            Wake::Foreign
        }
    })
}

/// Wakes a leaf on the engine's behalf.
pub(crate) fn wake_leaf(waker: Waker) {
    here(|current| current.waking.set(true));
    waker.wake();
    here(|current| current.waking.set(false));
}

/// Called by the panic hook: keeps a panic of the program under test for the report. Returns whether that is all there is
/// to do; else it should be printed.
pub(crate) fn keep_panic(place: impl FnOnce() -> (String, String)) -> bool {
    here(|current| {
        if current.polling.get().is_none() {
            return false;
        }
        PANIC.set(Some(place()));
        current.quiet.get()
    })
}

/// Message and place of the last kept panic.
pub(crate) fn take_panic() -> Option<(String, String)> {
    PANIC.take()
}

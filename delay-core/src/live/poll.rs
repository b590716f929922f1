//! Polling: one granted op at a time, then what the granularity and fresh spawns add to the step.

use super::{
    Handle, Live,
    context::{self, Context, TaskFuture},
    panics,
};
use crate::{
    ids::{Process, Slot},
    limits,
    verdict::Violation,
    world::{Next, op::Site},
};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, Location, catch_unwind},
    task::Poll,
};

/// The place of what the engine does by itself.
const SITE: Site = Location::caller();

/// How often the engine itself refers to a process's waker: the handle's two and the context's.
const OWN_REFERENCES: usize = 3;

/// Runs user code that may panic.
pub(super) fn guarded<R>(f: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(f))
}

impl<'b> Live<'b> {
    /// Does what a granted choice asks for, as far as the step goes.
    #[inline]
    pub(super) fn run(&mut self, next: Next) {
        let mut next = Some(next);
        let mut actor = None;
        while let Some(granted) = next {
            match granted {
                Next::Poll(process, slot) => {
                    actor = Some(process);
                    self.wake_leaf(process, slot);
                    self.poll(process);
                }
                Next::Drop(process) => {
                    context::with(|context| context.record(SITE, |_| "is aborted".to_owned()));
                    self.drop_task(process);
                    self.poll_spawned(process);
                    return;
                }
            }
            next = context::with(|context| if context.violation.is_some() { None } else { context.world.inline() }).flatten();
        }
        if let Some(process) = actor {
            let fresh = context::with(|context| {
                context.world.settle(process);
                !context.spawned.is_empty()
            });
            if fresh == Some(true) {
                self.poll_spawned(process);
            }
        }
        if self.inbox.has_any() {
            self.foreign_wakes_in_step();
        }
    }

    #[inline]
    fn wake_leaf(&mut self, process: Process, slot: Slot) {
        let waker = context::with(|context| {
            if context.leaf_wakers.is_empty() {
                return None;
            }
            let at = context.leaf_wakers.iter().position(|(p, s, _)| (*p, *s) == (process, slot))?;
            Some(context.leaf_wakers.swap_remove(at).2)
        });
        if let Some(waker) = waker.flatten() {
            context::wake_leaf(waker);
        }
    }

    /// Polls a process until it is pending with nothing left to look at, or over.
    #[inline]
    pub(super) fn poll(&mut self, process: Process) {
        let mut rounds = 0;
        loop {
            let Some(task) = self.tasks.get_mut(process.index()).and_then(Option::as_mut) else {
                return;
            };
            let mut cx = std::task::Context::from_waker(&self.handles[process.index()].waker);
            context::set_polling(Some(process));
            let polled = guarded(|| task.as_mut().poll(&mut cx));
            let again = context::set_polling(None);
            match polled {
                Ok(Poll::Ready(())) => {
                    self.drop_task(process);
                    context::with(|context| {
                        context.record(SITE, |_| "ends".to_owned());
                        context.world.finish(process);
                    });
                    return;
                }
                Err(payload) => return self.panicked(process, payload.as_ref()),
                Ok(Poll::Pending) => {}
            }
            let unseen = || context::with(|context| context.world.has_unseen(process)) == Some(true);
            if !again && !unseen() {
                return;
            }
            rounds += 1;
            if rounds > limits::SELF_WAKES_MAX {
                context::with(|context| {
                    let process = context.labels.process(&context.world, process);
                    context.violate(Violation::Spinning { process });
                });
                return;
            }
        }
    }

    fn panicked(&mut self, process: Process, payload: &(dyn Any + Send)) {
        self.totals.panics += 1;
        let (message, place) = context::take_panic().unwrap_or_else(|| (panics::text_of(payload), String::new()));
        let message = match panics::hint_for(&message) {
            Some(hint) => format!("{message}\n  hint: {hint}"),
            None => message,
        };
        context::with(|context| {
            context.record(SITE, |_| format!("panics: {message}"));
            let process = context.labels.process(&context.world, process);
            let place = (!place.is_empty()).then_some(place);
            context.violate(Violation::Panic { process, message, place });
        });
        self.drop_task(process);
    }

    /// Drops a process's future. Its destructors may perform ops, and may panic.
    pub(super) fn drop_task(&mut self, process: Process) {
        let Some(task) = self.tasks.get_mut(process.index()).and_then(Option::take) else {
            return;
        };
        if let Err(payload) = guarded(|| drop(task)) {
            self.panicked(process, payload.as_ref());
        }
    }

    pub(super) fn add_task(&mut self, process: Process, task: TaskFuture<'b>) {
        while self.tasks.len() <= process.index() {
            self.tasks.push(None);
            let handle = Handle::new(Process::new(self.handles.len() as u32), &self.inbox);
            context::with(|context| context.wakers.push(handle.waker.clone()));
            self.handles.push(handle);
        }
        self.tasks[process.index()] = Some(task);
    }

    /// Polls a process for the first time, within its spawner's step.
    pub(super) fn first_poll(&mut self, process: Process, spawner: Process) {
        context::with(|context| context.world.begin_first_poll(process));
        self.poll(process);
        context::with(|context| context.world.end_first_poll(process, spawner));
    }

    /// Polls what was spawned in this step to its first op, in order, and what that spawned in turn.
    pub(super) fn poll_spawned(&mut self, spawner: Process) {
        loop {
            let spawned = context::with(|context| std::mem::take(&mut context.spawned)).unwrap_or_default();
            if spawned.is_empty() {
                return;
            }
            for (process, task) in spawned {
                self.add_task(process, task);
                let waits = context::with(|context| context.world.process(process).waiting().next().is_some());
                if waits != Some(true) {
                    self.first_poll(process, spawner);
                }
            }
        }
    }

    /// Wakes by uncontrolled code that arrived while the step ran.
    #[cold]
    fn foreign_wakes_in_step(&mut self) {
        let woken = self.inbox.take();
        context::with(|context| wake(context, &woken));
    }

    /// Wakes by uncontrolled code that arrived while nothing could run.
    #[cold]
    pub(super) fn take_foreign_wakes(&mut self) {
        let woken = self.inbox.take();
        wake(self.outside_mut(), &woken);
    }

    /// Gives each process whose waker somebody may still hold a new one: a late wake must not reach the next execution.
    pub(super) fn renew_wakers(&mut self) {
        for index in 0..self.handles.len() {
            if self.handles[index].inner.is_shared(OWN_REFERENCES) {
                self.handles[index].inner.retire();
                let handle = Handle::new(Process::new(index as u32), &self.inbox);
                self.outside_mut().wakers[index] = handle.waker.clone();
                self.handles[index] = handle;
            }
        }
    }
}

fn wake(context: &mut Context, woken: &[Process]) {
    for process in woken {
        context.foreign_wakes += 1;
        context.world.wake(*process, SITE);
    }
}

//! Polling: one granted op at a time, then what the granularity and fresh spawns add to the step.

use super::{
    Handle, Live, Status,
    context::{self, Context, Further, TaskFuture},
    panics,
};
use crate::{
    ids::{Process, Slot},
    learned::Call,
    limits,
    verdict::Violation,
    world::{After, Choice, LANE, Next, beyond::Beyond, op::Site},
};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, Location, catch_unwind},
    task::Waker,
};

/// The place of what the engine does by itself.
pub(super) const SITE: Site = Location::caller();

/// How often the engine itself refers to a process's waker: the handle's two and the context's.
const OWN_REFERENCES: usize = 3;

/// Runs user code that may panic.
pub(super) fn guarded<R>(f: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(f))
}

/// What polling a process came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Polled {
    /// It is pending, and took another message in the World's lane.
    Took,
    /// It is pending, and settled by the World's lane.
    Settled,
    /// It is pending.
    Pending,
    /// It has returned.
    Over,
    /// There is no such process any more.
    Gone,
}

/// Polls a process whose execution is in place.
#[inline(always)]
#[expect(clippy::inline_always, reason = "once in every step of every execution")]
fn poll_on(task: &mut TaskFuture<'_>, waker: &Waker, further: Further) -> Polled {
    loop {
        if task.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_ready() {
            return Polled::Over;
        }
        match context::after_pending(further) {
            // At once, and the execution stays in place.
            None => {}
            Some(After::Took) => return Polled::Took,
            Some(After::Settled) => return Polled::Settled,
            Some(After::Outside) => return Polled::Pending,
        }
    }
}

impl<'b> Live<'b> {
    /// Grants one choice and polls.
    #[inline]
    pub(super) fn step_live(&mut self, choice: Choice) -> Status {
        debug_assert_eq!(self.status, Status::Running, "a step needs a running execution");
        if self.watch.is_some() {
            self.watch_choice(choice);
        }
        let mut after = None;
        if self.outside_mut().world.grant_in_lane(choice) {
            self.path.push(choice);
            after = Some(self.poll_granted(choice.process, LANE));
        }
        // Most steps are this and nothing more.
        if after == Some(After::Settled) && self.has_nothing_further() {
            self.status = Status::Running;
            return self.status;
        }
        self.end_step(choice, after)
    }

    /// Whether there is nothing to do after a step that is settled, and nothing to say of the execution but that it goes on.
    #[inline]
    fn has_nothing_further(&self) -> bool {
        let Context { recorder, spawned, observations, world, .. } = self.outside();
        recorder.is_none()
            && spawned.is_empty()
            && !self.inbox.has_any()
            && world.notes().early.is_none()
            && !observations.changed
            && self.goes_on()
    }

    /// What is left of a step after the first poll of one in the World's lane; or all of it.
    #[inline(never)]
    fn end_step(&mut self, choice: Choice, after: Option<After>) -> Status {
        let polled = if let Some(after) = after {
            self.further(choice.process, after)
        } else {
            let Some(next) = self.outside_mut().world.grant(choice) else {
                self.status = Status::Diverged;
                return self.status;
            };
            self.path.push(choice);
            self.asks_for(next)
        };
        self.run_polled(polled);
        if self.outside().world.notes().early.is_some() && self.learn_apart() {
            return self.again();
        }
        self.conclude()
    }

    /// Does what a granted choice asks for, as far as the step goes.
    #[cfg(feature = "test-hooks")]
    pub(super) fn run(&mut self, next: Next) {
        let polled = self.asks_for(next);
        self.run_polled(polled);
    }

    /// Polls whom a granted choice asks to poll, as far as the step goes.
    fn run_polled(&mut self, mut polled: Option<(Process, Slot)>) {
        while let Some((process, slot)) = polled {
            let after = self.poll_granted(process, slot);
            polled = self.further(process, after);
        }
        let context = self.outside_mut();
        if context.recorder.is_some() {
            context.record_environment();
        }
        let process = context.world.actor();
        context.world.settle(process);
        if !context.spawned.is_empty() {
            self.poll_spawned(process);
        }
        if self.inbox.has_any() {
            self.take_foreign_wakes();
        }
    }

    /// Whom to poll further in the step, after a process was polled.
    #[inline]
    fn further(&mut self, process: Process, after: After) -> Option<(Process, Slot)> {
        match after {
            After::Took => Some((process, LANE)),
            After::Settled => None,
            After::Outside if self.outside().violation.is_some() => None,
            After::Outside => self.goes_on_outside_lane(),
        }
    }

    /// Polls a process that was granted the op in this slot.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once in every step of every execution")]
    fn poll_granted(&mut self, process: Process, slot: Slot) -> After {
        self.wake_leaf(process, slot);
        self.learn_from(process, Call::Granted, |live| live.poll(process, Further::Taken))
    }

    /// Whom to poll further, if the step goes on by an op that is not in the World's lane.
    fn goes_on_outside_lane(&mut self) -> Option<(Process, Slot)> {
        let next = self.outside_mut().world.inline()?;
        self.asks_for(next)
    }

    /// Whom a granted choice asks to poll, after what it asks for besides.
    #[inline]
    fn asks_for(&mut self, granted: Next) -> Option<(Process, Slot)> {
        if let Next::Poll(process, slot) = granted { Some((process, slot)) } else { self.do_first(granted) }
    }

    /// Does what a choice asks for before a poll, or instead of one.
    fn do_first(&mut self, granted: Next) -> Option<(Process, Slot)> {
        match granted {
            Next::Poll(process, slot) => Some((process, slot)),
            Next::Crash(root, then) => self.crash(root, then),
            Next::Restart(root, then) => {
                self.restart_node(root, then.map(|(process, _)| process));
                then
            }
            Next::Stay(process) => {
                self.record_stay(process);
                None
            }
            Next::Drop(process) => {
                self.record("is aborted");
                self.learn_from(process, Call::Dropped, |live| live.drop_task(process));
                None
            }
        }
    }

    #[inline]
    fn wake_leaf(&mut self, process: Process, slot: Slot) {
        let leaf_wakers = &mut self.outside_mut().leaf_wakers;
        if leaf_wakers.is_empty() {
            return;
        }
        if let Some(at) = leaf_wakers.iter().position(|(p, s, _)| (*p, *s) == (process, slot)) {
            let waker = leaf_wakers.swap_remove(at).2;
            context::wake_leaf(waker);
        }
    }

    /// Writes down what the engine itself did with the actor, if this execution is being recorded.
    fn record(&mut self, text: &str) {
        self.outside_mut().record(SITE, |_| text.to_owned());
    }

    /// Writes down what the actor waits for at its new place; unless it was the environment that did something.
    fn record_stay(&mut self, process: Process) {
        if process.is_environment() || !self.world().happened().is_empty() {
            return;
        }
        self.outside_mut().record(SITE, |context| {
            let ops =
                context.world.process(process).waiting().map(|pending| context.labels.op(&context.world, pending.op));
            format!("waits for {}", ops.collect::<Vec<_>>().join(" or "))
        });
    }

    /// Polls a process until it is pending with nothing left to look at, or over. Says what comes after that; where that is another poll
    /// and nothing else, it is made here, with the execution still in place.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once in every step of every execution")]
    pub(super) fn poll(&mut self, process: Process, further: Further) -> After {
        let mut rounds = 0;
        loop {
            let (polled, self_woken) = self.installed(process, |live| {
                let waker = &live.handles[process.index()].waker;
                let task = live.tasks.get_mut(process.index()).and_then(Option::as_mut);
                task.map_or(Ok(Polled::Gone), |task| guarded(|| poll_on(task, waker, further)))
            });
            match polled {
                Ok(Polled::Settled) => return After::Settled,
                Ok(Polled::Took) => return After::Took,
                Ok(Polled::Pending) if self_woken => {}
                Ok(Polled::Pending) => {
                    self.outside_mut().world.set_aside(process);
                    return After::Outside;
                }
                Ok(Polled::Over) => {
                    self.finished(process);
                    return After::Outside;
                }
                Ok(Polled::Gone) => return After::Outside,
                Err(payload) => {
                    self.panicked(process, payload.as_ref());
                    return After::Outside;
                }
            }
            rounds += 1;
            if rounds > limits::SELF_WAKES_MAX {
                let context = self.outside_mut();
                let process = context.labels.process(&context.world, process);
                context.violate(Violation::Spinning { process });
                return After::Outside;
            }
        }
    }

    fn finished(&mut self, process: Process) {
        self.drop_task(process);
        self.record("ends");
        self.outside_mut().world.finish(process);
    }

    fn panicked(&mut self, process: Process, payload: &(dyn Any + Send)) {
        self.totals.panics += 1;
        let (message, place) = context::take_panic().unwrap_or_else(|| (panics::text_of(payload), String::new()));
        let message = match panics::hint_for(&message) {
            Some(hint) => format!("{message}\n  hint: {hint}"),
            None => message,
        };
        self.record(&format!("panics: {message}"));
        let context = self.outside_mut();
        let name = context.labels.process(&context.world, process);
        let place = (!place.is_empty()).then_some(place);
        context.violate(Violation::Panic { process: name, message, place });
        self.drop_task(process);
    }

    /// Drops a process's future. Its destructors may perform ops, and may panic.
    pub(super) fn drop_task(&mut self, process: Process) {
        let Some(task) = self.tasks.get_mut(process.index()).and_then(Option::take) else {
            return;
        };
        let (dropped, _) = self.installed(process, |_| guarded(|| drop(task)));
        if let Err(payload) = dropped {
            self.panicked(process, payload.as_ref());
        }
    }

    pub(super) fn add_task(&mut self, process: Process, task: TaskFuture<'b>) {
        while self.tasks.len() <= process.index() {
            self.tasks.push(None);
            let handle = Handle::new(Process::new(self.handles.len() as u32), &self.inbox);
            self.outside_mut().wakers.push(handle.waker.clone());
            self.handles.push(handle);
        }
        self.tasks[process.index()] = Some(task);
    }

    /// Polls a process for the first time, within its spawner's step.
    pub(super) fn first_poll(&mut self, process: Process, spawner: Process) {
        self.outside_mut().world.begin_first_poll(process);
        self.learn_from(process, Call::First, |live| live.poll(process, Further::Nothing));
        self.outside_mut().world.end_first_poll(process, spawner);
    }

    /// Polls what was spawned in this step to its first op, in order, and what that spawned in turn.
    pub(super) fn poll_spawned(&mut self, spawner: Process) {
        loop {
            let mut spawned = std::mem::take(&mut self.outside_mut().spawned);
            for (process, task) in spawned.drain(..) {
                self.add_task(process, task);
                // A process that waits already has a start that is a step of its own.
                if self.outside().world.process(process).waiting().next().is_none() {
                    self.first_poll(process, spawner);
                }
            }
            let born = &mut self.outside_mut().spawned;
            if born.is_empty() {
                // For the room it has.
                *born = spawned;
                return;
            }
        }
    }

    /// Wakes by uncontrolled code.
    #[cold]
    pub(super) fn take_foreign_wakes(&mut self) {
        let woken = self.inbox.take();
        let context = self.outside_mut();
        context.world.beyond_journal(Beyond::Wakes);
        for process in woken {
            context.foreign_wakes += 1;
            if context.woken_first.is_none() {
                context.woken_first = Some(context.labels.process_at(&context.world, process));
            }
            context.world.wake(process, SITE);
        }
    }

    /// Gives each process whose waker somebody may still hold a new one: a late wake must not reach the next execution.
    pub(super) fn renew_wakers(&mut self) {
        for index in 0..self.handles.len() {
            if self.handles[index].inner.is_shared(OWN_REFERENCES) {
                self.handles[index].inner.retire();
                let handle = Handle::new(Process::new(index as u32), &self.inbox);
                self.outside_mut().wakers[index].clone_from(&handle.waker);
                self.handles[index] = handle;
            }
        }
    }
}

//! The part every awaited op's future shares: register with the World, wait for the grant, give back when dropped.

use super::backend;
use crate::{
    ids::{Object, Process, Slot},
    live::context::Context,
    world::op::{Observation, Op, Site},
};
use std::task::{self, Poll, Waker};

/// An awaited op, from its first poll on.
#[derive(Debug)]
pub(crate) struct Leaf {
    execution: u64,
    site: Site,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    New,
    Waiting(Process, Slot),
    Done,
}

impl Leaf {
    pub(crate) fn new(execution: u64, site: Site) -> Self {
        Self { execution, site, state: State::New }
    }

    #[inline]
    pub(crate) fn site(&self) -> Site {
        self.site
    }

    #[inline]
    pub(crate) fn is_new(&self) -> bool {
        self.state == State::New
    }

    pub(crate) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Asks for `op` at the first poll; ready once it was granted, with what `then` makes of the observation.
    #[inline]
    pub(crate) fn poll_with<R>(
        &mut self,
        cx: &task::Context<'_>,
        op: impl FnOnce() -> Op,
        then: impl FnOnce(&mut Context, Observation) -> R,
    ) -> Poll<R> {
        if self.is_new() {
            self.begin(cx, op);
            return Poll::Pending;
        }
        let Self { execution, site, state } = self;
        backend::within(*execution, |context| match *state {
            State::Waiting(process, slot) if process == context.world.actor() => {
                if let Some(seen) = context.world.look_at(process, slot) {
                    *state = State::Done;
                    return Poll::Ready(then(context, seen));
                }
                remember_waker(context, process, slot, cx);
                Poll::Pending
            }
            State::Waiting(process, slot) => {
                // It was moved to another task, which waits from here on.
                context.world.cancel(process, slot);
                *state = wait(context, cx, op(), site);
                Poll::Pending
            }
            State::New | State::Done => panic!("a future of delay was polled after it had completed"),
        })
    }

    /// Asks for `op`: the first poll.
    #[inline]
    fn begin(&mut self, cx: &task::Context<'_>, op: impl FnOnce() -> Op) {
        self.state = backend::within(self.execution, |context| wait(context, cx, op(), self.site));
    }

    /// Asks for a receive. A function of its own for what tasks wait for most, whatever is received.
    pub(crate) fn begin_receive(&mut self, cx: &task::Context<'_>, from: Object) {
        self.begin(cx, || Op::Receive(from));
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "which op it is, is known where it is called")]
fn wait(context: &mut Context, cx: &task::Context<'_>, op: Op, site: Site) -> State {
    let process = context.world.actor();
    let slot = context.world.wait(op, site);
    remember_waker(context, process, slot, cx);
    State::Waiting(process, slot)
}

/// A leaf polled by a combinator has another waker than its process: it must be called before the next poll.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a comparison, and nearly always nothing more")]
fn remember_waker(context: &mut Context, process: Process, slot: Slot, cx: &task::Context<'_>) {
    if context.wakers[process.index()].will_wake(cx.waker()) {
        return;
    }
    keep_waker(context, process, slot, cx.waker().clone());
}

fn keep_waker(context: &mut Context, process: Process, slot: Slot, waker: Waker) {
    match context.leaf_wakers.iter_mut().find(|(p, s, _)| (*p, *s) == (process, slot)) {
        Some(known) => known.2 = waker,
        None => context.leaf_wakers.push((process, slot, waker)),
    }
}

impl Drop for Leaf {
    #[inline]
    fn drop(&mut self) {
        if let State::Waiting(process, slot) = self.state {
            give_up(self.execution, process, slot);
        }
    }
}

/// An op is waited for no more.
fn give_up(execution: u64, process: Process, slot: Slot) {
    let waker = backend::within_if(execution, |context| {
        context.world.cancel(process, slot);
        let known = context.leaf_wakers.iter().position(|(p, s, _)| (*p, *s) == (process, slot));
        known.map(|at| context.leaf_wakers.swap_remove(at).2)
    });
    // Dropped outside the borrow: a waker's destructor is somebody else's code.
    drop(waker);
}

//! Choices(s): one flat list of alternatives.
//!
//! Processes come in the explorer's order; within a process its ready ops by canonical name; within an op its messages
//! by arrival; last the moves of the environment: timers that may fire, by deadline, then what may go wrong. An explicit
//! choice is resolved as soon as its process has reached it, before anything else happens: it is a state of its own whose
//! outcomes come in order.

use super::{
    World,
    op::{Grant, Op, Pending},
    process::ProcessState,
};
use crate::ids::{Process, Slot};
use std::cmp::Ordering;

/// One alternative of one process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Choice {
    /// Who moves; [`Process::CLOCK`] if a timer fires, [`Process::FAULTS`] if something goes wrong.
    pub process: Process,
    /// Which of its alternatives, from 0.
    pub alternative: u32,
}

impl World {
    /// How many alternatives the state has in all: |Choices(s)|.
    #[inline]
    pub fn choice_count(&self) -> u32 {
        if self.is_still() { self.alternatives } else { self.count_with_environment() }
    }

    fn count_with_environment(&self) -> u32 {
        match self.choosing() {
            Some((_, outcomes)) => outcomes,
            None => self.alternatives + self.clock_choices() + self.fault_choices(),
        }
    }

    /// Alternatives of all processes.
    #[inline]
    pub fn all_alternatives(&self) -> u32 {
        self.alternatives
    }

    /// Alternatives of a process, or of an environment; 0 if there is no such process.
    #[inline]
    pub fn alternatives_of(&self, process: Process) -> u32 {
        if process.is_environment() {
            return self.alternatives_of_environment(process);
        }
        let state = self.processes.get(process.index()).filter(|state| state.is_live());
        state.map_or(0, |state| state.alternatives)
    }

    /// Whether nothing has to be decided before anything else happens.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.choosing.is_empty() && self.environment.decisions.is_empty()
    }

    /// Whether nothing but a process can move: no timer is set, no message held back, nothing to be decided or to go wrong.
    #[inline]
    fn is_still(&self) -> bool {
        self.choosing.is_empty() && self.sleepers.is_empty() && self.environment.is_still()
    }

    /// How many alternatives a process has. 0 means it is not enabled.
    #[inline]
    pub fn alternatives(&self, process: Process) -> u32 {
        if process.is_environment() {
            return self.alternatives_of_environment(process);
        }
        self.processes[process.index()].alternatives
    }

    fn alternatives_of_environment(&self, environment: Process) -> u32 {
        if environment == Process::CLOCK { self.clock_choices() } else { self.fault_choices() }
    }

    /// Counts a process's alternatives anew.
    #[inline]
    pub(super) fn count(&self, process: Process) -> u32 {
        let state = &self.processes[process.index()];
        if !state.is_live() || state.in_use == 0 {
            return 0;
        }
        match state.pending.first() {
            // What most wait for.
            Some(only) if state.in_use == 1 && only.state == Grant::Waiting && !state.cancelled => {
                self.ready_op(process, &only.op)
            }
            _ => self.count_all(process, state),
        }
    }

    fn count_all(&self, process: Process, state: &ProcessState) -> u32 {
        if state.cancelled {
            return state.waiting().filter(|pending| pending.op == Op::Cancel).count() as u32;
        }
        state.waiting().map(|pending| self.ready_op(process, &pending.op)).sum()
    }

    #[inline]
    pub(super) fn ready(&self, process: Process, pending: &Pending) -> u32 {
        if pending.state != Grant::Waiting {
            return 0;
        }
        if self.processes[process.index()].cancelled {
            return u32::from(pending.op == Op::Cancel);
        }
        self.ready_op(process, &pending.op)
    }

    /// How many alternatives an op has that its process waits for.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "asked with every message")]
    fn ready_op(&self, process: Process, op: &Op) -> u32 {
        let Op::Receive(from) = *op else { return self.ready_other(process, *op) };
        let receives = self.receivable(from);
        #[cfg(feature = "test-hooks")]
        let receives = receives + self.losses(from);
        receives
    }

    /// The same, of what is no receive.
    fn ready_other(&self, process: Process, op: Op) -> u32 {
        match op {
            Op::Start
            | Op::Yield
            | Op::Woken
            | Op::Cancel
            | Op::Choose(_)
            | Op::Crash(_)
            | Op::Restart(_)
            | Op::Store(..) => 1,
            Op::Send { to, rule, .. } if self.decides_at_send(to) && !self.mailboxes[to.index()].closed => {
                self.fates(process, to, rule).count() as u32
            }
            Op::Send { to, .. } | Op::Reserve(to) => {
                let mailbox = &self.mailboxes[to.index()];
                u32::from(mailbox.closed || mailbox.has_room())
            }
            Op::Receive(_) => crate::bug!("it is a receive"),
            Op::Closed(of) => u32::from(self.mailboxes[of.index()].closed),
            Op::Join(process) => u32::from(!self.processes[process.index()].is_live()),
            Op::Down(root) => u32::from(!self.node(root).is_up),
            Op::Sleep(_) => 0,
            Op::Shared { object, ask } => self.ready_shared(object, ask),
        }
    }

    /// Which pending op an alternative of a process belongs to, and which of that op's alternatives it is.
    #[inline]
    pub(super) fn locate(&mut self, choice: Choice) -> Option<(Process, Slot, u32)> {
        let state = self.processes.get(choice.process.index()).filter(|state| state.is_live())?;
        if choice.alternative >= state.alternatives {
            return None;
        }
        if let Some(slot) = state.sole() {
            return Some((choice.process, slot, choice.alternative));
        }
        self.locate_among(choice)
    }

    fn locate_among(&mut self, choice: Choice) -> Option<(Process, Slot, u32)> {
        let mut ready = std::mem::take(&mut self.scratch);
        ready.clear();
        let state = &self.processes[choice.process.index()];
        for (index, pending) in state.pending.iter().enumerate() {
            if self.ready(choice.process, pending) > 0 {
                ready.push(Slot(index as u32));
            }
        }
        ready.sort_by(|a, b| {
            let by_op = self.cmp_ops(state.pending[a.index()].op, state.pending[b.index()].op);
            by_op.then_with(|| self.cmp_slots(choice.process, *a, *b))
        });
        let mut left = choice.alternative;
        let mut found = None;
        for slot in &ready {
            let pending = &state.pending[slot.index()];
            let alternatives = self.ready(choice.process, pending);
            if left < alternatives {
                found = Some((choice.process, *slot, left));
                break;
            }
            left -= alternatives;
        }
        self.scratch = ready;
        found
    }

    /// Canonical order of ops: by kind, then by the name of what they are about; never by order of registration.
    fn cmp_ops(&self, a: Op, b: Op) -> Ordering {
        const fn rank(op: Op) -> u32 {
            match op {
                Op::Cancel => 0,
                Op::Woken => 1,
                Op::Start => 2,
                Op::Yield => 3,
                Op::Choose(_) => 4,
                Op::Join(_) => 5,
                Op::Receive(_) => 6,
                Op::Send { .. } => 7,
                Op::Reserve(_) => 8,
                Op::Closed(_) => 9,
                Op::Sleep(_) => 10,
                Op::Crash(_) => 11,
                Op::Restart(_) => 12,
                Op::Down(_) => 13,
                Op::Store(..) => 14,
                Op::Shared { .. } => 15,
            }
        }
        let object = |op| match op {
            Op::Send { to, .. } | Op::Reserve(to) => Some(to),
            Op::Receive(object) | Op::Closed(object) | Op::Shared { object, .. } => Some(object),
            _ => None,
        };
        let names = &self.names;
        rank(a).cmp(&rank(b)).then_with(|| match (a, b, object(a), object(b)) {
            (Op::Join(x), Op::Join(y), ..)
            | (Op::Crash(x), Op::Crash(y), ..)
            | (Op::Restart(x), Op::Restart(y), ..)
            | (Op::Down(x), Op::Down(y), ..) => names.cmp_processes(x, y),
            (Op::Shared { ask: one, .. }, Op::Shared { ask: other, .. }, Some(x), Some(y)) => {
                names.cmp_objects(x, y).then_with(|| self.ask_mark(x, one).cmp(&self.ask_mark(y, other)))
            }
            (Op::Store(x, _), Op::Store(y, _), ..) => self.store_print(x).cmp(&self.store_print(y)),
            (_, _, Some(x), Some(y)) => names.cmp_objects(x, y),
            _ => Ordering::Equal,
        })
    }

    /// Order of a process's ops that are equal otherwise: by place, and only then by the order of asking.
    pub(super) fn cmp_slots(&self, process: Process, a: Slot, b: Slot) -> Ordering {
        let pending = &self.processes[process.index()].pending;
        pending[a.index()].site.cmp(pending[b.index()].site).then(a.0.cmp(&b.0))
    }
}

//! What a reduction refuses, since it is not known what of it commutes.

use super::{World, op::Op};
use crate::ids::{Object, Process};

impl World {
    /// The program does what is not modelled.
    #[inline]
    pub(super) fn cannot_reduce(&mut self, what: &'static str) {
        self.accesses.cannot.get_or_insert(what);
    }

    /// A process waits from here on.
    #[inline]
    pub(super) fn touch_waits(&mut self, process: Process) {
        if self.accesses.is_wanted && self.processes[process.index()].in_use > 1 {
            self.refuse_rooms(process);
        }
    }

    /// A send for which there is room may lose it to others while its process goes on by another op: that it was there is not modelled.
    #[cold]
    fn refuse_rooms(&mut self, process: Process) {
        let bounded = |to: Object| self.mailboxes[to.index()].capacity != u32::MAX;
        let waits_for_room = self.processes[process.index()].waiting().any(|pending| match pending.op {
            Op::Send { to, .. } | Op::Reserve(to) => bounded(to),
            _ => false,
        });
        if waits_for_room {
            self.cannot_reduce("a send to a bounded channel beside other ops that a task waits for (select!, join!)");
        }
    }

    /// A send that does not wait for room.
    #[inline]
    pub(super) fn touch_room_now(&mut self, to: Object) {
        if self.accesses.is_wanted && self.mailboxes[to.index()].capacity != u32::MAX {
            self.cannot_reduce("try_send or try_reserve on a bounded channel");
        }
    }
}

//! Where an execution stands after a step: running, at its end, cut, or in violation.

use super::{Context, End, Live, Status, Waiting};
use crate::{
    ids::Process,
    verdict::{Violation, Wait, place},
};

impl Live<'_> {
    /// Whether there is nothing to say of the execution but that it goes on, as there is after most steps. If not,
    /// [`Live::decide`] says what there is.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "asked after every step")]
    pub(super) fn goes_on(&self) -> bool {
        let Context { world, violation, .. } = self.outside();
        violation.is_none()
            && world.enabled() > 0
            && world.is_unremarkable()
            && self.watch.is_none()
            && self.options.temperature.is_none()
            && (self.options.end == End::Quiescent || world.process(Process::BODY).is_live())
            && world.steps() < u64::from(self.options.max_steps)
    }

    /// Decides where the execution stands.
    pub(super) fn decide(&mut self) -> Status {
        let (end, max_steps) = (self.options.end, u64::from(self.options.max_steps));
        let context = self.outside();
        if context.violation.is_some() {
            return Status::Violated;
        }
        if context.world.notes().two_choices {
            let message = "a task waits for two explicit choices at once (a select! or join! over choose or flip), whose order the program leaves open: await one after the other".to_owned();
            self.outside_mut().violate(Violation::Refused { message });
            return Status::Violated;
        }
        if let Some(premises) = context.world.lacks().filter(|_| !self.options.premises_are_given) {
            self.outside_mut().violate(Violation::Premises(premises));
            return Status::Violated;
        }
        if context.world.notes().fifo_in_macro {
            let message = "granularity \"macro\" loses interleavings of FIFO mailboxes: use granularity \"send\", or endpoints with per-sender or unordered delivery".to_owned();
            self.outside_mut().violate(Violation::Refused { message });
            return Status::Violated;
        }
        if context.world.has_too_many_nodes() {
            let message =
                "partitions are explored among at most 8 nodes: start fewer, or leave `partition` out of faults(..)"
                    .to_owned();
            self.outside_mut().violate(Violation::Refused { message });
            return Status::Violated;
        }
        let body_ended = !context.world.process(Process::BODY).is_live();
        if body_ended && end == End::Body {
            return self.finished_cold();
        }
        if context.world.is_quiescent() {
            return self.quiescent(body_ended);
        }
        if let Some(violation) = self.too_hot() {
            self.outside_mut().violate(violation);
            return Status::Violated;
        }
        let is_cut = self.world().steps() >= max_steps;
        match self.watch.take() {
            Some(watch) => self.watched(watch),
            None if is_cut => Status::Truncated,
            None => Status::Running,
        }
    }

    #[cold]
    fn quiescent(&mut self, body_ended: bool) -> Status {
        if self.totals.unbound.is_none() {
            let context = self.outside();
            self.totals.unbound = context.world.unbound().map(|object| context.labels.object(&context.world, object));
        }
        if let Some(waiter) = self.waits_uncontrolled()
            && (!body_ended || self.inbox.has_any())
        {
            if self.inbox.wait() {
                self.take_foreign_wakes();
                return self.decide();
            }
            let context = self.outside();
            let process = context.labels.process_at(&context.world, waiter);
            let violation = Violation::Uncontrolled { process };
            self.outside_mut().violate(violation);
            return Status::Violated;
        }
        let waits = self.waits();
        // Pitfall B.20: only the body must come to its end; a server that waits is no deadlock.
        if !body_ended {
            self.outside_mut().violate(Violation::Deadlock { waits });
            return Status::Violated;
        }
        if self.options.waiting == Waiting::Deny && !waits.is_empty() {
            self.outside_mut().violate(Violation::Waiting { waits });
            return Status::Violated;
        }
        self.finished_cold()
    }

    /// A monitor has been hot for too many choices.
    #[inline]
    fn too_hot(&self) -> Option<Violation> {
        let most = self.options.temperature?;
        let Context { world, monitors, .. } = self.outside();
        let (monitor, since) = world.hot_monitors().find(|(_, since)| world.choices() - since > u64::from(most))?;
        Some(Violation::Temperature { monitor: monitors[monitor].name.clone(), since, most })
    }

    /// The execution is at its end: nothing may be owed.
    fn finished_cold(&mut self) -> Status {
        let context = self.outside_mut();
        let Some((monitor, since)) = context.world.hot() else { return Status::Finished };
        let monitor = context.monitors[monitor].name.clone();
        context.violate(Violation::Hot { monitor, since });
        Status::Violated
    }

    /// A live process that waits for nothing the engine knows.
    fn waits_uncontrolled(&self) -> Option<Process> {
        let world = self.world();
        let lost = |process: &&Process| {
            let state = world.process(**process);
            state.is_live() && state.waiting().next().is_none()
        };
        world.processes().iter().find(lost).copied()
    }

    /// Who waits for what.
    fn waits(&self) -> Vec<Wait> {
        let Context { world, labels, .. } = self.outside();
        let live = world.processes().iter().filter(|process| world.process(**process).is_live());
        live.map(|process| {
            let pending: Vec<_> = world.process(*process).waiting().collect();
            Wait {
                process: labels.process(world, *process),
                ops: pending.iter().map(|pending| labels.op(world, pending.op)).collect(),
                sites: pending.iter().map(|pending| place(pending.site)).collect(),
            }
        })
        .collect()
    }
}

//! The fingerprint of the whole state, kept incrementally.
//!
//! Part by part: every process and mailbox has a cached print, recomputed only when it changed. Everything the future
//! depends on is in; the destructuring below makes a new field ask.

#[cfg(feature = "test-hooks")]
use super::masked;
use super::{World, mailbox::print_of_queue, op::Outcomes, words::Delivery};
use crate::{
    hash::{Domain, Print},
    ids::{Object, Process, Slot},
};

impl World {
    /// The fingerprint of the state, between steps.
    pub fn fingerprint(&mut self) -> Print {
        while let Some(process) = self.stale_processes.pop() {
            let name = self.names.process_print(process);
            #[cfg(feature = "test-hooks")]
            let name = self.masked_name(process, name);
            let seen = self.histories[process.index()];
            #[cfg(feature = "test-hooks")]
            let seen = self.masked_history(seen);
            // Two prints, as with mailboxes.
            let (print, seen) = (self.processes[process.index()].fingerprint(name), seen.fingerprint(name));
            let (state, history) = (&mut self.processes[process.index()], &mut self.histories[process.index()]);
            self.sum = self.sum.minus(state.print).minus(history.print).plus(print).plus(seen);
            (state.print, history.print, history.stale) = (print, seen, false);
        }
        while let Some(object) = self.stale_mailboxes.pop() {
            let mailbox = &self.mailboxes[object.index()];
            let queue = mailbox.queue.iter().map(|queued| (queued.sender, queued.id));
            // Two prints that are added up, so that one who knows what became of each knows the sum.
            let print = mailbox.fingerprint(self.names.object_print(object), &self.names).plus(self.print_of_queue(
                object,
                mailbox.delivery,
                queue,
            ));
            #[cfg(feature = "test-hooks")]
            let print = self.masked_mailbox(object, print);
            let mailbox = &mut self.mailboxes[object.index()];
            self.sum = self.sum.minus(mailbox.print).plus(print);
            (mailbox.print, mailbox.stale) = (print, false);
        }
        while let Some(object) = self.stale_shared.pop() {
            let print = self.shared[object.index()].fingerprint(self.names.object_print(object), &self.names);
            #[cfg(feature = "test-hooks")]
            let print = self.masked_shared(object, print);
            let shared = &mut self.shared[object.index()];
            self.sum = self.sum.minus(shared.print).plus(print);
            (shared.print, shared.stale) = (print, false);
        }
        self.rest()
    }

    /// The order in which queued messages arrived, where the fingerprint leaves it out. It does not decide what can
    /// happen, but it orders the alternatives of a receive.
    pub fn arrivals(&self) -> Print {
        self.present_mailboxes.iter().fold(Print::default(), |bag, object| bag.plus(self.arrivals_of(*object)))
    }

    /// What one mailbox adds to that.
    fn arrivals_of(&self, object: Object) -> Print {
        let mailbox = &self.mailboxes[object.index()];
        let queue = mailbox.queue.iter().map(|queued| (queued.sender, queued.id));
        self.arrivals_print(object, mailbox.delivery, queue)
    }

    /// The order in which the messages of a mailbox arrived, where its print leaves that out.
    pub(super) fn arrivals_print(
        &self,
        object: Object,
        delivery: Delivery,
        queue: impl ExactSizeIterator<Item = (Process, Print)>,
    ) -> Print {
        if delivery == Delivery::Fifo || queue.len() < 2 {
            return Print::default();
        }
        let name = Print::of(Domain::Mailbox).and(self.names.object_print(object));
        queue.fold(name, |print, (sender, id)| print.and(self.names.process_print(sender)).and(id))
    }

    /// What these messages of a mailbox add to the fingerprint, of each its sender and what it is.
    pub(super) fn print_of_queue(
        &self,
        object: Object,
        delivery: Delivery,
        queue: impl Iterator<Item = (Process, Print)> + Clone,
    ) -> Print {
        let name = self.names.object_print(object);
        let print = print_of_queue(delivery, queue.clone(), name, |who| self.names.process_print(who));
        self.with_arrival(object, print, queue)
    }

    /// What messages add, with their order where that counts after all.
    pub(super) fn with_arrival(
        &self,
        object: Object,
        print: Print,
        queue: impl Iterator<Item = (Process, Print)>,
    ) -> Print {
        if !self.names.shows_arrival(object) {
            return print;
        }
        // A receive that does not wait has shown their order.
        print.plus(queue.fold(Print::of(Domain::Queue), |print, (_, id)| print.and(id)))
    }

    /// The parts that are cheap enough to compute anew.
    fn rest(&self) -> Print {
        let Self {
            sum,
            sleepers,
            stores,
            // In `print_of_rest`, below.
            choosing: _,
            // In `environment_print`, below.
            environment: _,
            now,
            // What it is the names of, is in the prints.
            names: _,
            // Constant for a search.
            granularity: _,
            // In `sum`.
            processes: _,
            histories: _,
            mailboxes: _,
            monitors: _,
            shown: _,
            shared: _,
            // Which processes and mailboxes there are follows from the parts in `sum`.
            present: _,
            present_mailboxes: _,
            present_shared: _,
            // Functions of the rest.
            enabled: _,
            alternatives: _,
            // Whether a monitor is hot is a function of its state; since when, is how the state was reached.
            hot_since: _,
            // How the state was reached, not what it is.
            choices: _,
            steps: _,
            messages: _,
            taken: _,
            events: _,
            happened: _,
            actor: _,
            first_poll: _,
            inside: _,
            notes: _,
            // Bookkeeping.
            stale_processes: _,
            stale_mailboxes: _,
            stale_shared: _,
            scratch: _,
            journal: _,
            accesses: _,
            before: _,
            looked: _,
            looks: _,
            // A function of who watches.
            is_lane_open: _,
            // Constant for a search.
            tells_sent: _,
            // Constant for a search.
            #[cfg(feature = "test-hooks")]
                masked: _,
            // Constant for a search, and empty between steps.
            #[cfg(feature = "test-hooks")]
                as_set: _,
        } = self;
        let mut print = Self::print_of_rest(*sum, &self.choosing, |who| self.names.process_print(who));
        #[cfg(feature = "test-hooks")]
        let sleepers = self.unless(masked::Part::Timers, sleepers);
        if !sleepers.is_empty() {
            print = with_timers(print, self.timers_print());
        }
        #[cfg(feature = "test-hooks")]
        let stores = self.unless(masked::Part::Storage, stores);
        if !stores.is_empty() {
            print = Print::of(Domain::Store).and(print).and(self.stores_print());
        }
        if self.reads_clock() {
            print = Print::of(Domain::Clock).and(print).with(*now);
        }
        self.environment_print(print)
    }

    /// The parts, and what is to be chosen first.
    pub(super) fn print_of_rest(
        sum: Print,
        choosing: &[(Process, Slot, Outcomes)],
        name: impl Fn(Process) -> Print,
    ) -> Print {
        let mut print = sum;
        for (process, _, outcomes) in choosing {
            let who = name(*process);
            print = Print::of(Domain::Choosing).and(print).and(who).with(u64::from(outcomes.count));
        }
        print
    }

    /// The pending timers.
    pub(super) fn timers_print(&self) -> Print {
        // Pitfall B.11: deadlines are relative, since absolute time would make every state different.
        self.sleepers.iter().fold(Print::default(), |bag, sleeper| {
            let who = self.names.process_print(sleeper.0);
            let timer = Print::of(Domain::Clock).and(who).with(self.op_mark(sleeper.0, sleeper.1));
            bag.plus(timer.with(self.deadline(*sleeper).wrapping_sub(self.now)))
        })
    }
}

/// The fingerprint with that of pending timers.
pub(super) fn with_timers(print: Print, timers: Print) -> Print {
    Print::of(Domain::Clock).and(print).and(timers)
}

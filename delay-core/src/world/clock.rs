//! Time: the timers that may fire, in what order, and the messages that were held back. The moves of [`Process::CLOCK`].

use super::{
    World, beyond::Beyond, environment::Happened, fault::Time, mailbox::Queued, op::Op, step::Next, words::Delivery,
};
use crate::{
    hash::{Domain, Print},
    ids::{Message, Object, Process, Slot},
};
use std::cmp::Ordering;

impl World {
    /// The program takes up what time it is, without looking: it matters if others can let time pass before that, and somebody
    /// looks.
    #[inline]
    pub(super) fn meets_time(&mut self) {
        if self.reads_clock() && self.lets_time_pass() {
            self.apart_from_inside();
        }
    }

    /// The actor looked at the clock.
    pub fn look_at_clock(&mut self) -> u64 {
        self.beyond_journal(Beyond::Time);
        let now = self.actors_now();
        self.see_time(now);
        now
    }

    /// The actor learnt a point in time. From then on the time of day is part of the state: what the clock will show
    /// next is not a function of anything else.
    pub fn see_time(&mut self, time: u64) {
        self.beyond_journal(Beyond::Time);
        self.visible();
        (self.notes.needs.reads_clock, self.notes.is_remarkable) = (true, true);
        let actor = self.actor;
        self.observe_print(actor, Print::of(Domain::Clock).with(time));
    }

    /// The actor was handed a point in time and has not looked at it. In a program that looks at times it is part of the
    /// actor's state from now on.
    pub fn hold_time(&mut self, time: u64) {
        self.meets_time();
        if self.reads_clock() {
            self.beyond_journal(Beyond::Time);
            let actor = self.actor;
            self.observe_print(actor, Print::of(Domain::Clock).with(time).with(1));
        }
    }

    /// The actor is about to wait until a point in time that it was handed before: how far off that is, what it has seen does not say.
    pub fn waits_until(&mut self) {
        self.beyond_journal(Beyond::Time);
    }

    /// How many timers may fire, and messages that were held back may arrive.
    #[inline]
    pub(super) fn clock_choices(&self) -> u32 {
        self.timer_choices() + self.environment.late.iter().map(|late| self.landings(late)).sum::<u32>()
    }

    /// In how many places a message that was held back may land: those that are queued may have come before or after it. Where
    /// that is decided when it was sent, some of them may have to come before it, by the delivery.
    pub(super) fn landings(&self, (object, late): &(Object, Queued)) -> u32 {
        let mailbox = &self.mailboxes[object.index()];
        if mailbox.closed {
            return 1;
        }
        match (self.decides_at_send(*object), mailbox.delivery) {
            (false, Delivery::Unordered) => 1,
            (false, _) => mailbox.queued() + 1,
            (true, _) => mailbox.passable_late(late) + 1,
        }
    }

    /// Which of the others to its mailbox, queued or held back too, a message that was held back was sent before, where that decides
    /// where it may land.
    pub(super) fn late_print(&self, print: Print, (object, late): &(Object, Queued)) -> Print {
        if !self.decides_at_send(*object) {
            return print;
        }
        let mailbox = &self.mailboxes[object.index()];
        let queued =
            mailbox.queue.iter().fold(print, |print, other| print.with(u64::from(mailbox.may_pass(late, other))));
        let others = self.environment.late.iter().filter(|(to, _)| to == object);
        others.fold(queued, |print, (_, other)| print.with(u64::from(mailbox.may_pass(late, other))))
    }

    /// Which of the messages that were held back the n-th arrival is of, and ahead of how many it lands.
    pub(super) fn arrival(&self, mut n: u32) -> Option<(usize, u32)> {
        for (index, late) in self.environment.late.iter().enumerate() {
            let landings = self.landings(late);
            if n < landings {
                return Some((index, n));
            }
            n -= landings;
        }
        None
    }

    #[inline]
    pub(super) fn timer_choices(&self) -> u32 {
        match self.environment.time {
            Time::Any => self.sleepers.len() as u32,
            Time::Ordered if self.enabled > 0 => 0,
            Time::Ordered => self.sleepers.iter().filter(|sleeper| self.is_due(**sleeper)).count() as u32,
        }
    }

    /// Whether a timer may fire next where time is ordered: it is the first of its node, and none is before it for certain.
    pub(super) fn is_due(&self, sleeper: (Process, Slot)) -> bool {
        let node = |process: Process| self.processes.unnoted(process.index()).node;
        let (deadline, own) = (self.deadline(sleeper), node(sleeper.0));
        self.sleepers.iter().all(|other| {
            let before = self.deadline(*other);
            let slack = if node(other.0) == own { 0 } else { self.environment.skew };
            deadline <= before.saturating_add(slack)
        })
    }

    /// Whether time may pass while something else can happen.
    #[inline]
    pub(super) fn lets_time_pass(&self) -> bool {
        self.environment.time == Time::Any
    }

    /// What the clock of the actor's node shows.
    pub fn actors_now(&self) -> u64 {
        self.now.saturating_add(self.ahead(self.actor))
    }

    /// How far the clock of a process is ahead.
    pub(super) fn ahead(&self, process: Process) -> u64 {
        match self.node_of(process) {
            Some(root) if self.environment.skew > 0 => self.node(root).ahead,
            _ => 0,
        }
    }

    /// The n-th timer in order of deadline, then of its process's name.
    pub(super) fn sleeper(&self, n: u32) -> Option<(Process, Slot)> {
        if self.sleepers.len() == 1 {
            return (n == 0).then(|| self.sleepers[0]);
        }
        let mut sleepers = self.sleepers.clone();
        if self.environment.time == Time::Ordered {
            sleepers.retain(|sleeper| self.is_due(*sleeper));
        }
        sleepers.sort_by(|a, b| {
            let site =
                |(process, slot): (Process, Slot)| self.processes.unnoted(process.index()).pending[slot.index()].site;
            let by_slot = || if a.0 == b.0 { site(*a).cmp(site(*b)).then(a.1.0.cmp(&b.1.0)) } else { Ordering::Equal };
            let by_name = || self.names.cmp_processes(a.0, b.0).then_with(by_slot);
            self.deadline(*a).cmp(&self.deadline(*b)).then_with(by_name)
        });
        sleepers.get(n as usize).copied()
    }

    pub(super) fn deadline(&self, (process, slot): (Process, Slot)) -> u64 {
        // No look at the process: steps are known by how far off timers are.
        match self.processes.unnoted(process.index()).pending[slot.index()].op {
            Op::Sleep(deadline) => deadline,
            other => crate::bug!("{process:?} is listed as a sleeper but waits for {other:?}"),
        }
    }

    pub(super) fn grant_clock(&mut self, alternative: u32) -> Option<Next> {
        let timers = self.timer_choices();
        if alternative < timers {
            let (process, slot) = self.sleeper(alternative)?;
            self.begin_step(process);
            return Some(self.perform(process, slot, 0));
        }
        let (index, ahead_of) = self.arrival(alternative - timers)?;
        self.begin_step(Process::CLOCK);
        self.steps += 1;
        let (object, queued) = self.environment.late.remove(index);
        let queued = Queued { arrival: self.next_message().0, ..queued };
        self.happened.push(Happened::Arrived(object, queued.message, ahead_of));
        if !self.mailboxes[object.index()].closed {
            self.arrive(object, queued, ahead_of);
        }
        Some(Next::Stay(Process::CLOCK))
    }

    /// Whether a message is held back.
    pub fn is_held_back(&self, object: Object, message: Message) -> bool {
        self.environment.late.iter().any(|(to, queued)| *to == object && queued.message == message)
    }

    /// Holds a message back. Late messages stand in a canonical order: by mailbox, then by what they are.
    pub(super) fn hold_back(&mut self, object: Object, queued: Queued) {
        let names = &self.names;
        let at = self.environment.late.partition_point(|(other, message)| {
            let by_sender = || names.cmp_processes(message.sender, queued.sender);
            names.cmp_objects(*other, object).then_with(by_sender).then(message.id.cmp(&queued.id)).is_le()
        });
        self.environment.late.insert(at, (object, queued));
    }
}

//! Taking steps back.
//!
//! A step that may be taken back begins with [`World::begin_kept_step`]; what it changes in the tables is kept there
//! (`tracked.rs`), the rest here. Between steps only, after [`World::fingerprint`]: nothing is stale then.
//!
//! Invariant: what a step cannot have changed without the journal saying that it cannot be done again (stores,
//! nodes) is not kept.

use super::{Notes, World, environment::KeptEnvironment, op::Outcomes};
use crate::{
    hash::Print,
    ids::{Process, Slot},
};

/// What the state was before each of some steps, each after the one before.
#[derive(Debug, Default)]
pub(super) struct Before {
    steps: Vec<Kept>,
    monitors: Vec<(Print, Option<u64>)>,
    shown: Vec<Print>,
    choosing: Vec<(Process, Slot, Outcomes)>,
    sleepers: Vec<(Process, Slot)>,
    environment: Vec<KeptEnvironment>,
}

/// What is kept of one state.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// Marks in the tables.
    processes: usize,
    histories: usize,
    mailboxes: usize,
    shared: usize,
    /// How many there were.
    present: usize,
    present_mailboxes: usize,
    present_shared: usize,
    /// How many of these are kept.
    monitors: usize,
    shown: usize,
    choosing: usize,
    sleepers: usize,
    /// Whether the environment is kept.
    environment: bool,
    now: u64,
    enabled: u32,
    alternatives: u32,
    choices: u64,
    steps: u64,
    messages: u32,
    actor: Process,
    notes: Notes,
    sum: Print,
    bag: Print,
}

impl World {
    /// The next step may be taken back.
    pub fn begin_kept_step(&mut self) {
        let is_current =
            self.stale_processes.is_empty() && self.stale_mailboxes.is_empty() && self.stale_shared.is_empty();
        debug_assert!(is_current, "the fingerprint is current");
        self.close_lane();
        let kept = Kept {
            processes: self.processes.begin_step(),
            histories: self.histories.begin_step(),
            mailboxes: self.mailboxes.begin_step(),
            shared: self.shared.begin_step(),
            present: self.present.len(),
            present_mailboxes: self.present_mailboxes.len(),
            present_shared: self.present_shared.len(),
            monitors: self.monitors.len(),
            shown: self.shown.values.len(),
            choosing: self.choosing.len(),
            sleepers: self.sleepers.len(),
            environment: self.environment.may_change(),
            now: self.now,
            enabled: self.enabled,
            alternatives: self.alternatives,
            choices: self.choices,
            steps: self.steps,
            messages: self.messages,
            actor: self.actor,
            notes: self.notes,
            sum: self.sum,
            bag: self.shown.bag,
        };
        let Before { steps, monitors, shown, choosing, sleepers, environment } = &mut self.before;
        steps.push(kept);
        monitors.extend(self.monitors.iter().copied().zip(self.hot_since.iter().copied()));
        shown.extend(&self.shown.values);
        choosing.extend(&self.choosing);
        sleepers.extend(&self.sleepers);
        if kept.environment {
            environment.push(self.environment.kept());
        }
    }

    /// Takes the last kept step back.
    pub fn step_back(&mut self) {
        let Some(kept) = self.before.steps.pop() else { crate::bug!("no step to take back") };
        let Kept {
            processes,
            histories,
            mailboxes,
            shared,
            present,
            present_mailboxes,
            present_shared,
            monitors,
            shown,
            choosing,
            sleepers,
            environment,
            now,
            enabled,
            alternatives,
            choices,
            steps,
            messages,
            actor,
            notes,
            sum,
            bag,
        } = kept;
        self.processes.take_back(processes);
        self.histories.take_back(histories);
        self.mailboxes.take_back(mailboxes);
        self.shared.take_back(shared);
        self.present.truncate(present);
        self.present_mailboxes.truncate(present_mailboxes);
        self.present_shared.truncate(present_shared);
        (self.enabled, self.alternatives, self.choices, self.steps) = (enabled, alternatives, choices, steps);
        (self.messages, self.actor, self.notes, self.sum) = (messages, actor, notes, sum);
        let from = self.before.monitors.len() - monitors;
        self.monitors.clear();
        self.hot_since.clear();
        for (state, since) in self.before.monitors.drain(from..) {
            self.monitors.push(state);
            self.hot_since.push(since);
        }
        let from = self.before.shown.len() - shown;
        self.shown.values.clear();
        self.shown.values.extend(self.before.shown.drain(from..));
        self.shown.bag = bag;
        let from = self.before.choosing.len() - choosing;
        self.choosing.clear();
        self.choosing.extend(self.before.choosing.drain(from..));
        let from = self.before.sleepers.len() - sleepers;
        self.sleepers.clear();
        self.sleepers.extend(self.before.sleepers.drain(from..));
        self.now = now;
        if let Some(kept) = environment.then(|| self.before.environment.pop()).flatten() {
            self.environment.restore(kept);
        }
        self.stale_processes.clear();
        self.stale_mailboxes.clear();
        self.stale_shared.clear();
        self.inside = None;
        self.first_poll = false;
    }

    /// Whether the last kept step has shown values of which it is not known that the invariants hold.
    pub(crate) fn shows_news(&self) -> bool {
        let before = self.before.steps.last().map(|kept| kept.bag);
        before != Some(self.shown.bag) && !self.invariants_hold_of(self.shown.bag)
    }

    /// What is done from here on is not kept; what was kept before still is, for the state it belongs to.
    pub fn keep_nothing(&mut self) {
        self.processes.keep_nothing();
        self.histories.keep_nothing();
        self.mailboxes.keep_nothing();
        self.shared.keep_nothing();
    }

    /// No step can be taken back any more.
    pub fn forget_kept_steps(&mut self) {
        self.processes.forget();
        self.histories.forget();
        self.mailboxes.forget();
        self.shared.forget();
        let Before { steps, monitors, shown, choosing, sleepers, environment } = &mut self.before;
        steps.clear();
        monitors.clear();
        shown.clear();
        choosing.clear();
        sleepers.clear();
        environment.clear();
    }
}

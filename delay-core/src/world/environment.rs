//! The environment: timers that may fire, messages under way, nodes that crash and restart, partitions.
//!
//! Its moves are the alternatives of two processes that are no tasks: [`Process::CLOCK`] and [`Process::FAULTS`], ranked after
//! all others unless the explorer says otherwise. A fault that may happen does not keep an execution from ending: where
//! nothing else can happen, the first move of `FAULTS` is that nothing does. A recovery (a restart the budget allows, the end of
//! a partition) happens at the latest then.
//!
//! Invariant: what is left of each budget is part of the state.

use super::{
    Choice, World,
    beyond::Beyond,
    fault::{Faults, Kind, Rule, Time},
    mailbox::Queued,
    node::Node,
    premises::Premises,
    step::Next,
    store::Store,
};
use crate::{
    hash::{Domain, Print},
    ids::{Message, Object, Process},
    name::{Histories, Point},
};
use std::collections::VecDeque;

/// Most nodes among which partitions are explored: each way to cut them in two is an alternative.
const PARTITIONED_NODES_MAX: usize = 8;

/// Something that must be settled before anything else happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decision {
    /// Whether the clock of a node is ahead.
    Skew(Process),
    /// What of a store survives a crash.
    Lose(Store),
}

/// See the module.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that have nothing to do with each other")]
pub(super) struct Environment {
    pub(super) time: Time,
    pub(super) premises: Premises,
    /// How far the clocks of two nodes may differ, in nanoseconds.
    pub(super) skew: u64,
    /// The budget of the test, in full.
    asked: Faults,
    /// What is left of it, then of those of rules, each with its name.
    pub(super) budgets: Vec<(Print, Faults)>,
    /// Something may go wrong at all.
    is_hostile: bool,
    /// In canonical order of names.
    pub(super) nodes: Vec<Node>,
    pub(super) is_cut: bool,
    /// Messages that were held back.
    pub(super) late: Vec<(Object, Queued)>,
    pub(super) decisions: VecDeque<Decision>,
    /// That nothing more goes wrong was chosen where nothing else could happen.
    pub(super) is_over: bool,
    /// A node is being dropped: what its destructors do has no effect.
    pub(super) is_crashing: bool,
    /// Faults so far.
    pub(super) spent: u32,
    /// Kinds of faults for which the program has what they need: an endpoint, a node.
    possible: u8,
    /// Kinds of faults for which there was something to happen to: a message, a node.
    met: u8,
}

impl Environment {
    /// Whether it has nothing to do.
    #[inline]
    pub(super) fn is_still(&self) -> bool {
        !self.is_hostile && self.late.is_empty() && self.decisions.is_empty()
    }

    /// Whether a step can change it, without nodes.
    #[inline]
    pub(super) fn may_change(&self) -> bool {
        self.is_hostile
    }

    /// What a step can change of it, without nodes. What was possible and met, was so in some execution.
    pub(super) fn kept(&self) -> KeptEnvironment {
        KeptEnvironment { budgets: self.budgets.clone(), late: self.late.clone(), spent: self.spent }
    }

    /// Is again as it was.
    pub(super) fn restore(&mut self, kept: KeptEnvironment) {
        let KeptEnvironment { budgets, late, spent } = kept;
        (self.budgets, self.late, self.spent) = (budgets, late, spent);
    }

    pub(super) fn reset(&mut self) {
        let Self {
            time: _,
            premises: _,
            skew: _,
            asked,
            budgets,
            is_hostile,
            nodes,
            is_cut,
            late,
            decisions,
            is_over,
            is_crashing,
            spent,
            possible,
            met,
        } = self;
        budgets.clear();
        budgets.push((Print::default(), *asked));
        *is_hostile = asked.is_any();
        nodes.clear();
        late.clear();
        decisions.clear();
        (*is_cut, *is_over, *is_crashing) = (false, false, false);
        (*spent, *possible, *met) = (0, 0, 0);
    }
}

/// What a step can change of an environment without nodes.
#[derive(Debug)]
pub(super) struct KeptEnvironment {
    budgets: Vec<(Print, Faults)>,
    late: Vec<(Object, Queued)>,
    spent: u32,
}

/// A move of `FAULTS`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Move {
    Heal,
    Restart(Process),
    Nothing,
    Crash(Process),
    /// The nodes with these indices are cut off from the others.
    Cut(u32),
}

impl World {
    /// Which faults may happen, how time passes, and what is taken for granted. Constant for a search.
    pub fn set_environment(&mut self, faults: Faults, premises: Premises, time: Time, skew: u64) {
        let environment = &mut self.environment;
        (environment.premises, environment.time, environment.skew) = (premises, time, skew);
        environment.asked = faults;
    }

    /// From the next execution on, hashes what processes have seen, or only if it has to: not only states are told apart by that where
    /// something may go wrong.
    pub fn keep_histories(&mut self, kept: Histories) {
        self.names.keep_histories(if self.environment.asked.is_any() { Histories::Kept } else { kept });
    }

    /// The kinds of faults for which the program has what they need, a bit each.
    pub fn possible_faults(&self) -> u8 {
        self.environment.possible
    }

    /// The kinds of faults for which there was something to happen to, a bit each.
    pub fn met_faults(&self) -> u8 {
        self.environment.met
    }

    pub(super) fn make_possible(&mut self, kinds: &[Kind]) {
        for kind in kinds {
            self.environment.possible |= 1 << *kind as u8;
            self.environment.met |= u8::from(!kind.is_of_messages()) << *kind as u8;
        }
    }

    /// Something of the test's budget can happen to a message.
    pub(super) fn note_met(&mut self, kind: Kind) {
        self.environment.met |= 1 << kind as u8;
    }

    /// Faults that happened so far.
    pub fn faults(&self) -> u32 {
        self.environment.spent
    }

    /// A budget of its own for some messages or nodes, on behalf of the actor.
    pub fn add_budget(&mut self, faults: Faults) -> Rule {
        self.beyond_step(Beyond::Faults);
        if faults.is_any() && !self.names.keeps_histories() {
            // What was held back stands in an order of what it is: the path is run anew, with histories.
            self.notes.early.get_or_insert(Point::Start(Print::default()));
        }
        let object = self.next_object();
        let name = self.names.object_print(object);
        let environment = &mut self.environment;
        environment.is_hostile |= faults.is_any();
        environment.budgets.push((name, faults));
        Rule(environment.budgets.len() as u16 - 1)
    }

    #[inline]
    pub(super) fn left(&self, rule: Rule, kind: Kind) -> u32 {
        self.environment.budgets.get(usize::from(rule.0)).map_or(0, |(_, faults)| faults.left(kind))
    }

    /// Takes one fault from a budget.
    pub(super) fn spend(&mut self, rule: Rule, kind: Kind) {
        let budget = &mut self.environment.budgets[usize::from(rule.0)].1;
        *budget = budget.with(kind, budget.left(kind) - 1);
        self.environment.spent += 1;
        if kind.is_of_messages() && self.left(rule, kind) == 0 {
            // Others lose an alternative: of a receive, or of a send. Which mailboxes are a network's, is known once the program is set up.
            for index in 0..self.present_mailboxes.len() {
                let object = self.present_mailboxes[index];
                if self.mailboxes.unnoted(object.index()).is_networked {
                    self.refresh_readers(object);
                }
            }
        }
    }

    /// Whether something can come between two ops of a process, though it waits for nothing.
    #[inline]
    pub(super) fn is_exposed(&self, process: Process) -> bool {
        let environment = &self.environment;
        if environment.nodes.is_empty() {
            return false;
        }
        let crash = self.processes[process.index()].node.is_some_and(|root| self.may_crash(root));
        crash || environment.is_cut || self.left(Rule::TEST, Kind::Partition) > 0
    }

    /// Whether a message of one process reaches a mailbox, as far as partitions go.
    #[inline]
    pub(super) fn reaches(&self, from: Process, host: Option<Process>) -> bool {
        if !self.environment.is_cut {
            return true;
        }
        let (Some(one), Some(other)) = (self.node_of(from), host) else { return true };
        self.node(one).side == self.node(other).side
    }

    /// With how many outcomes the environment decides something before anything else happens, if it does.
    #[inline]
    pub(super) fn deciding(&self) -> Option<u32> {
        self.environment.decisions.front().map(|decision| match decision {
            Decision::Skew(_) => 2,
            Decision::Lose(store) => self.ways_to_lose(*store),
        })
    }

    /// Whether anything may go wrong at all.
    #[inline]
    pub fn is_hostile(&self) -> bool {
        self.environment.is_hostile
    }

    /// How many moves `FAULTS` has.
    #[inline]
    pub(super) fn fault_choices(&self) -> u32 {
        if !self.environment.is_hostile || self.environment.is_over {
            return 0;
        }
        let mut count = 0;
        self.each_fault(&mut |_| {
            count += 1;
            true
        });
        count
    }

    /// Shows each move of `FAULTS` in its canonical order, until `go_on` says no.
    fn each_fault(&self, go_on: &mut impl FnMut(Move) -> bool) {
        let environment = &self.environment;
        let mut recovers = environment.is_cut;
        if environment.is_cut && !go_on(Move::Heal) {
            return;
        }
        for node in environment.nodes.iter().filter(|node| self.can_restart(node)) {
            recovers = true;
            if !go_on(Move::Restart(node.root)) {
                return;
            }
        }
        let mut may_end = !recovers && self.enabled == 0 && self.clock_choices() == 0;
        let mut show = |fault: Move| {
            if std::mem::take(&mut may_end) && !go_on(Move::Nothing) {
                return false;
            }
            go_on(fault)
        };
        for node in &environment.nodes {
            let can_crash = node.is_up && self.left(node.rule, Kind::Crash) > 0;
            if can_crash && !show(Move::Crash(node.root)) {
                return;
            }
        }
        if !environment.is_cut && self.left(Rule::TEST, Kind::Partition) > 0 {
            self.each_cut(&mut |cut| show(Move::Cut(cut)));
        }
    }

    /// Shows each way to cut the nodes in two, the smallest side first, until `go_on` says no.
    fn each_cut(&self, go_on: &mut impl FnMut(u32) -> bool) {
        let nodes = self.environment.nodes.len();
        if !(2..=PARTITIONED_NODES_MAX).contains(&nodes) {
            return;
        }
        for size in 1..=nodes / 2 {
            for cut in 1..1u32 << nodes {
                let is_twin = size * 2 == nodes && cut & 1 == 0;
                if cut.count_ones() as usize == size && !is_twin && !go_on(cut) {
                    return;
                }
            }
        }
    }

    /// Whether there are more nodes than partitions can be explored of.
    #[inline]
    pub fn has_too_many_nodes(&self) -> bool {
        self.environment.nodes.len() > PARTITIONED_NODES_MAX && self.left(Rule::TEST, Kind::Partition) > 0
    }

    pub(super) fn can_restart(&self, node: &Node) -> bool {
        !node.is_up && self.left(node.rule, Kind::Restart) > 0
    }

    /// The move of `FAULTS` behind an alternative.
    pub(super) fn fault_move(&self, alternative: u32) -> Option<Move> {
        if self.environment.is_over {
            return None;
        }
        let mut found = None;
        let mut number = 0;
        self.each_fault(&mut |fault| {
            found = (number == alternative).then_some(fault);
            number += 1;
            found.is_none()
        });
        found
    }

    /// Grants a move of the environment.
    pub(super) fn grant_environment(&mut self, choice: Choice) -> Option<Next> {
        if choice.process == Process::CLOCK {
            return self.grant_clock(choice.alternative);
        }
        let found = self.fault_move(choice.alternative)?;
        self.begin_step(Process::FAULTS);
        self.steps += 1;
        Some(match found {
            Move::Heal => self.heal(),
            Move::Restart(root) => {
                let rule = self.node(root).rule;
                self.spend(rule, Kind::Restart);
                Next::Restart(root, None)
            }
            Move::Nothing => {
                self.environment.is_over = true;
                Next::Stay(Process::FAULTS)
            }
            Move::Crash(root) => {
                let rule = self.node(root).rule;
                self.spend(rule, Kind::Crash);
                Next::Crash(root, None)
            }
            Move::Cut(cut) => self.cut(cut),
        })
    }

    /// Settles the next decision of the environment.
    pub(super) fn decide(&mut self, outcome: u32) -> Option<Next> {
        if outcome >= self.deciding()? {
            return None;
        }
        let decision = self.environment.decisions.pop_front()?;
        self.begin_step(Process::FAULTS);
        self.steps += 1;
        match decision {
            Decision::Lose(store) => self.lose_writes(store, outcome),
            Decision::Skew(root) => {
                let ahead = if outcome == 0 { 0 } else { self.environment.skew };
                self.node_mut(root).ahead = ahead;
                self.happened.push(Happened::Skewed(root, ahead));
            }
        }
        Some(Next::Stay(Process::FAULTS))
    }

    /// What the environment's state adds to a fingerprint.
    pub(super) fn environment_print(&self, print: Print) -> Print {
        let Some((bag, flags)) = self.environment_bag() else { return print };
        let mut print = with_environment(print, bag, flags);
        for decision in &self.environment.decisions {
            print = print.and(match decision {
                Decision::Skew(root) => self.names.process_print(*root),
                Decision::Lose(store) => self.store_print(*store),
            });
        }
        print
    }

    /// What it adds to the fingerprint, but for what is to be decided first; nothing where nothing can happen.
    pub(super) fn environment_bag(&self) -> Option<(Print, u64)> {
        let Environment {
            // Constant for a search.
            time: _,
            premises: _,
            skew: _,
            asked: _,
            budgets,
            is_hostile: _,
            nodes,
            is_cut,
            late,
            decisions,
            is_over,
            // Never so between steps.
            is_crashing: _,
            // How the state was reached.
            spent: _,
            possible: _,
            met: _,
        } = &self.environment;
        if nodes.is_empty() && !self.environment.is_hostile {
            return None;
        }
        let mut bag = Print::default();
        #[cfg(feature = "test-hooks")]
        let budgets = self.unless(super::masked::Part::Budgets, budgets);
        // Pitfall B.3: what can still go wrong decides what can still be reached.
        for (name, faults) in budgets {
            let words = Kind::ALL.into_iter().map(|kind| faults.left(kind));
            bag = bag.plus(words.fold(Print::of(Domain::Budget).and(*name), |print, left| print.with(u64::from(left))));
        }
        for node in nodes {
            // Its mail and its budget are what its spawner said, which is in `initial`; who watches or has a handle, histories tell.
            let Node { root, initial, is_up, side, mail: _, rule: _, watchers: _, handles: _, ahead } = node;
            let flags = u64::from(*is_up) | u64::from(*is_cut && *side != nodes[0].side) << 1;
            let name = self.names.process_print(*root);
            // A restart begins with what its spawner knew, whatever was forgotten since.
            bag = bag.plus(Print::of(Domain::Node).and(name).and(*initial).with(flags).with(*ahead));
        }
        for message in late {
            let (object, queued) = message;
            let sender = self.names.process_print(queued.sender);
            let late = Print::of(Domain::Late).and(self.names.object_print(*object)).and(sender).and(queued.id);
            bag = bag.plus(self.late_print(late, message));
        }
        Some((bag, u64::from(*is_cut) | u64::from(*is_over) << 1 | (decisions.len() as u64) << 2))
    }
}

/// The fingerprint with that of an environment in which nothing is to be decided first.
pub(super) fn with_environment(print: Print, bag: Print, flags: u64) -> Print {
    Print::of(Domain::Environment).and(print).and(bag).with(flags)
}

/// What the environment did in a step, for people.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happened {
    /// The network did this to a message.
    Message(Kind, Object, Message),
    /// A message that was held back has arrived, ahead of so many others.
    Arrived(Object, Message, u32),
    /// A partition began.
    Cut,
    /// A partition ended.
    Healed,
    /// The clock of a node is ahead by so many nanoseconds.
    Skewed(Process, u64),
    /// A store lost so many of its last writes; one of them may be torn.
    Lost(Store, u32, bool),
}

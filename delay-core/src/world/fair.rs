//! Fairness: what must not be put off for ever in an execution that goes on for ever.
//!
//! - Weak: a process that can run in every state of a loop runs in it; a timer that is pending in every state fires.
//! - Strong: a message that a waiting receiver could take in some state of a loop is taken in it, and an explicit fair choice
//!   that a loop comes to takes each of its outcomes in it.
//!
//! Of faults nothing is demanded: no environment has to do its worst. That it recovers, as far as its budget goes, is demanded
//! weakly, and so is that a message that was held back arrives.

use super::{
    Choice, World,
    environment::{Environment, Move},
};
use crate::{
    hash::Print,
    ids::{Object, Process},
};

/// Something that must not stay open for ever without being met.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Demand {
    /// A process that can run is run.
    Process(Process),
    /// A pending timer fires: which of its process's it is.
    Timer(Process, u64),
    /// A message that was held back arrives.
    Late(Object, Print),
    /// A node that is down and may restart does.
    Restart(Process),
    /// A partition heals.
    Heal,
    /// A message that a waiting receiver could take is taken, or another one with the same content.
    Message(Object, Print),
}

impl Demand {
    /// Whether it is enough that it is open in some state of a loop. A receiver does not wait in every one: it comes back
    /// to a message that stays.
    pub fn is_strong(self) -> bool {
        matches!(self, Self::Message(..))
    }
}

/// What a loop that is being gone around still lacks to be fair. States are told apart by an `S`.
#[derive(Debug)]
pub struct Lacking<S> {
    /// Weak demands that were open in every state so far and not met.
    weak: Vec<Demand>,
    /// Strong demands that were open in some state and not met before or after.
    strong: Vec<Demand>,
    /// Strong demands that were met.
    met: Vec<Demand>,
    /// States with a fair choice that it came to.
    fair: Vec<S>,
    /// Outcomes of these that were not taken.
    outcomes: Vec<(S, u32)>,
}

impl<S: Copy + PartialEq> Lacking<S> {
    /// The loop begins in a state with these demands and so many fair outcomes.
    pub fn at(state: S, open: &[Demand], outcomes: u32) -> Self {
        let weak = open.iter().copied().filter(|demand| !demand.is_strong()).collect();
        let mut lacking = Self { weak, strong: Vec::new(), met: Vec::new(), fair: Vec::new(), outcomes: Vec::new() };
        lacking.come_to(state, open, outcomes);
        lacking
    }

    /// An alternative of a state meets some demands.
    pub fn leave(&mut self, state: S, alternative: u32, met: &[Demand]) {
        self.outcomes.retain(|outcome| *outcome != (state, alternative));
        self.weak.retain(|demand| met.binary_search(demand).is_err());
        self.strong.retain(|demand| met.binary_search(demand).is_err());
        let new: Vec<Demand> = met.iter().copied().filter(|met| met.is_strong() && !self.met.contains(met)).collect();
        self.met.extend(new);
    }

    /// The loop comes to a state with these demands and so many fair outcomes.
    pub fn come_to(&mut self, state: S, open: &[Demand], outcomes: u32) {
        self.weak.retain(|demand| open.binary_search(demand).is_ok());
        for demand in open.iter().filter(|demand| demand.is_strong()) {
            if !self.met.contains(demand) && !self.strong.contains(demand) {
                self.strong.push(*demand);
            }
        }
        if outcomes > 0 && !self.fair.contains(&state) {
            self.fair.push(state);
            self.outcomes.extend((0..outcomes).map(|outcome| (state, outcome)));
        }
    }

    /// Whether an alternative of a state, which meets some demands and leads to where others are open, would supply
    /// something.
    pub fn is_helped_by(&self, state: S, alternative: u32, met: &[Demand], open: &[Demand]) -> bool {
        self.weak.iter().any(|demand| met.binary_search(demand).is_ok() || open.binary_search(demand).is_err())
            || self.strong.iter().any(|demand| met.binary_search(demand).is_ok())
            || self.outcomes.contains(&(state, alternative))
    }

    /// Whether the loop is fair if it ends here.
    pub fn is_nothing(&self) -> bool {
        self.weak.is_empty() && self.strong.is_empty() && self.outcomes.is_empty()
    }
}

impl World {
    /// What is open in this state, ascending. While an explicit choice is being resolved, the other processes are not
    /// disabled: they wait for their turn.
    pub fn demands(&self) -> Vec<Demand> {
        let enabled = self.present.iter().filter(|process| self.alternatives(**process) > 0);
        let mut demands: Vec<Demand> = enabled.map(|process| Demand::Process(*process)).collect();
        demands
            .extend(self.sleepers.iter().map(|sleeper| Demand::Timer(sleeper.0, self.op_mark(sleeper.0, sleeper.1))));
        demands.extend(self.environment_demands());
        for object in &self.present_mailboxes {
            let mailbox = &self.mailboxes[object.index()];
            if mailbox.readers.all().iter().any(|reader| !self.processes[reader.index()].cancelled) {
                demands.extend(mailbox.deliverable().map(|queued| Demand::Message(*object, queued.id)));
            }
        }
        demands.sort_unstable();
        demands.dedup();
        demands
    }

    /// What a choice meets by whom it moves.
    pub fn moved_by(&self, choice: Choice) -> Option<Demand> {
        match choice.process {
            Process::FAULTS => match self.fault_move(choice.alternative)? {
                Move::Heal => Some(Demand::Heal),
                Move::Restart(root) => Some(Demand::Restart(root)),
                Move::Nothing | Move::Crash(_) | Move::Cut(_) => None,
            },
            Process::CLOCK => {
                if let Some(arrival) = choice.alternative.checked_sub(self.timer_choices()) {
                    let (object, queued) = self.environment.late[self.arrival(arrival)?.0];
                    return Some(Demand::Late(object, queued.id));
                }
                let sleeper = self.sleeper(choice.alternative)?;
                Some(Demand::Timer(sleeper.0, self.op_mark(sleeper.0, sleeper.1)))
            }
            process => self.is_live(process).then_some(Demand::Process(process)),
        }
    }

    /// What of the environment must not be put off for ever: that late messages arrive, and recoveries.
    fn environment_demands(&self) -> impl Iterator<Item = Demand> {
        let Environment { late, nodes, is_cut, .. } = &self.environment;
        let late = late.iter().map(|(object, queued)| Demand::Late(*object, queued.id));
        let restarts = nodes.iter().filter(|node| self.can_restart(node)).map(|node| Demand::Restart(node.root));
        late.chain(restarts).chain(is_cut.then_some(Demand::Heal))
    }

    /// What the last step met, given what its choice moved; ascending.
    pub fn met(&self, moved: Option<Demand>) -> Vec<Demand> {
        let taken = self.taken.iter().map(|(object, message)| Demand::Message(*object, *message));
        let mut met: Vec<Demand> = moved.into_iter().chain(taken).collect();
        met.sort_unstable();
        met.dedup();
        met
    }

    /// The number of outcomes of the fair choice that is being resolved; 0 if none is.
    pub fn fair_outcomes(&self) -> u32 {
        self.choosing.first().map_or(0, |(_, _, outcomes)| if outcomes.is_fair { outcomes.count } else { 0 })
    }
}

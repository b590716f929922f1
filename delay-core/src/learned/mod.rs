//! Learned execution: what a process does next is looked up, if it was seen doing it before.
//!
//! A process is a function of what it has seen. [`Automata`] remember, for each place a process was polled at, the acts that
//! followed ([`crate::world::journal`]), and after each answer of the World the acts that followed that one: a tree of reactions for
//! each place. Doing them again needs neither the future nor the path that leads there.
//!
//! Invariants:
//! - What was learnt twice was the same both times, but for the order in which a combinator asked. If not, the processes share
//!   something the World does not see: [`Automata::learn`] says so.
//! - A reaction is done again to its end or not at all: what is unknown is found out by the same walk, and the step taken back.

mod queues;
mod reaction;
pub mod state;
pub mod steps;
mod ways;

use crate::{
    hash::{IdMap, Print},
    ids::Process,
    world::{
        World,
        journal::{Act, Told},
    },
};
use reaction::are_alike;

/// Why a process is polled, or dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// It was granted something.
    Granted,
    /// For the first time.
    First,
    /// It was aborted.
    Dropped,
}

/// How a poll ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// It waits.
    Pending,
    /// It returned.
    Finished,
}

/// What follows a place, or an answer.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// Where its acts begin and end.
    from: u32,
    to: u32,
    then: Then,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Then {
    /// The last act is answered by the World.
    Asks,
    Ends(Ending),
}

/// The reactions of all processes.
#[derive(Debug)]
pub struct Automata {
    stretches: IdMap<u64, Stretch>,
    acts: Vec<Act>,
    /// How many acts may be kept before nothing more is learnt.
    acts_max: usize,
}

/// Where a reaction goes on after an answer.
#[inline]
fn after(key: u64, answer: u64) -> u64 {
    Print::default().with(key).with(answer).short()
}

impl Automata {
    /// Nothing is known yet; at most so many acts will be.
    pub fn new(acts_max: usize) -> Self {
        Self { stretches: IdMap::default(), acts: Vec::new(), acts_max }
    }

    /// Where the reaction begins that a process is about to show.
    #[inline]
    pub fn key(world: &World, process: Process, call: Call) -> u64 {
        world.place_of(process).with(call as u64).short()
    }

    /// Does again what the actor does at this place. Processes that are spawned on the way are added to `born`.
    ///
    /// Returns none where that is not known: then the state is of no use, and the step has to be taken back.
    #[inline]
    pub fn follow(&self, world: &mut World, mut key: u64, born: &mut Vec<Process>) -> Option<Ending> {
        loop {
            let stretch = self.stretches.get(&key)?;
            let mut answer = None;
            for act in &self.acts[stretch.from as usize..stretch.to as usize] {
                debug_assert!(answer.is_none(), "an act that is answered ends its stretch: {act:?} follows one");
                if world.names_another(act) {
                    return None;
                }
                match world.do_again(*act) {
                    Told::Nothing => {}
                    Told::Answer(told) => answer = Some(told),
                    Told::Spawned(process) => born.push(process),
                }
            }
            match (stretch.then, answer) {
                (Then::Ends(ending), None) => return Some(ending),
                (Then::Asks, Some(answer)) => key = after(key, answer),
                (then, answer) => crate::bug!("a stretch {then:?} was answered {answer:?}"),
            }
        }
    }

    /// Learns what a process did from a place on. False if a process that had seen the same did something else.
    pub fn learn(&mut self, mut key: u64, acts: &[Act], ending: Ending) -> bool {
        let mut begins = 0;
        for (at, act) in acts.iter().enumerate() {
            let Act::Answered(answer) = *act else { continue };
            if !self.agrees(key, &acts[begins..at], Then::Asks) {
                return false;
            }
            (key, begins) = (after(key, answer), at + 1);
        }
        self.agrees(key, &acts[begins..], Then::Ends(ending))
    }

    fn agrees(&mut self, key: u64, acts: &[Act], then: Then) -> bool {
        if let Some(known) = self.stretches.get(&key) {
            return known.then == then && are_alike(&self.acts[known.from as usize..known.to as usize], acts);
        }
        if self.acts.len() + acts.len() <= self.acts_max {
            let from = self.acts.len() as u32;
            self.acts.extend_from_slice(acts);
            self.stretches.insert(key, Stretch { from, to: self.acts.len() as u32, then });
        }
        true
    }
}

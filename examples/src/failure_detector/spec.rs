//! What a failure detector must never do, and what it must do.

use delay::{monitor::Monitor, net::Address};
use std::collections::BTreeSet;

/// What everybody may know of a failure detector: who is down, and what its clients hear of that.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Membership {
    /// A node is down.
    Down(Address),
    /// A client is told that a node is down.
    Told(Address),
}

/// What the detector announces, and what everybody may know.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Progress {
    /// The detector begins to ask.
    RoundBegins,
    /// The detector takes a node for dead.
    Suspects(Address),
    /// The detector has asked all nodes.
    RoundEnds,
    /// Seen from outside.
    Membership(Membership),
}

impl From<Membership> for Progress {
    fn from(seen: Membership) -> Self {
        Self::Membership(seen)
    }
}

/// Safety: a node that was down before a round began is taken for dead at its end. Liveness: the client is told of every node
/// that is taken for dead.
#[derive(Clone, Hash, Debug, Default)]
pub struct Detection {
    down: BTreeSet<Address>,
    /// Of the nodes that were down when this round began, those that are not taken for dead.
    missed: BTreeSet<Address>,
    suspected: BTreeSet<Address>,
    told: BTreeSet<Address>,
}

impl Monitor for Detection {
    type Event = Progress;

    fn on(&mut self, event: &Progress) -> Result<(), String> {
        match *event {
            Progress::Membership(Membership::Down(node)) => {
                self.down.insert(node);
            }
            Progress::Membership(Membership::Told(node)) => {
                self.told.insert(node);
            }
            Progress::RoundBegins => self.missed = &self.down - &self.suspected,
            Progress::Suspects(node) => {
                self.missed.remove(&node);
                self.suspected.insert(node);
            }
            Progress::RoundEnds => {
                if let Some(node) = self.missed.first() {
                    return Err(format!("{node} was down before the round began, and counts as alive at its end"));
                }
            }
        }
        Ok(())
    }

    fn is_hot(&self) -> bool {
        !self.suspected.is_subset(&self.told)
    }
}

/// Safety where messages are fast: nobody is told that a node is down which is not.
#[derive(Clone, Hash, Debug, Default)]
pub struct Accuracy {
    down: BTreeSet<Address>,
}

impl Monitor for Accuracy {
    type Event = Membership;

    fn on(&mut self, event: &Membership) -> Result<(), String> {
        match *event {
            Membership::Down(node) => {
                self.down.insert(node);
                Ok(())
            }
            Membership::Told(node) if self.down.contains(&node) => Ok(()),
            Membership::Told(node) => Err(format!("{node} is taken for dead, and is not")),
        }
    }
}

//! Multi-Paxos: what is lost with n of 2n + 1 replicas is nothing, and nobody has to tell which of them have failed.
//!
//! Source: L. Lamport, "Paxos made simple", 2001, section 3; L. Lamport, "The part-time parliament", 1998, for the replica that is behind.
//!
//! A log has slots; each gets a batch of requests, or none. A leader, that a majority has promised a ballot, proposes in one slot
//! after the other, without waiting: a few are under way at once. What a majority has accepted in a ballot is chosen. Replicas
//! promise and accept on their disk before they say so, and carry out what is chosen in the order of the slots, none left out.
//!
//! A new leader proposes again what was accepted in the highest ballot it hears of, and nothing where nobody has accepted anything: a gap
//! that a leader before it has left is filled by a batch without requests. A replica that is behind asks another for what is chosen.
//!
//! [`protocol`] is what a replica does, [`leader`] what it does to lead, [`bugs`] the mutations that a search must find. What must never
//! happen is said by [`Agreement`](super::agreement::Agreement), and by linearizability.

pub mod bugs;
pub mod leader;
pub mod protocol;

use super::{Request, machine::Data, replica::Id};
pub use bugs::Bug;
pub use protocol::Replica;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A slot's place in the log, from 0.
pub type Slot = u64;

/// What is proposed in a slot.
pub type Batch<Op> = Vec<Request<Op>>;

/// An attempt to lead. Totally ordered; no two replicas share one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Ballot {
    /// Counts the attempts, from 1.
    pub round: u64,
    /// Whose it is.
    pub leader: Id,
}

impl fmt::Debug for Ballot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.round, self.leader)
    }
}

/// What is sent between replicas.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "Op: Data")]
pub enum Message<Op> {
    /// To all: promise me this ballot, and tell what you have accepted.
    Prepare(Ballot),
    /// In answer to that: this was accepted in a slot, in an earlier ballot.
    Vote {
        /// In answer to which.
        ballot: Ballot,
        /// Where.
        slot: Slot,
        /// In which ballot.
        accepted: Ballot,
        /// What.
        batch: Batch<Op>,
    },
    /// In answer to that: promised. All slots below are chosen, and so many votes were sent before this, for those from there on.
    Promise {
        /// In answer to which.
        ballot: Ballot,
        /// All slots below.
        chosen: Slot,
        /// How many.
        votes: u64,
    },
    /// From the leader to all: accept this in this slot.
    Accept {
        /// Whose.
        ballot: Ballot,
        /// Where.
        slot: Slot,
        /// What.
        batch: Batch<Op>,
    },
    /// In answer to that: accepted.
    Accepted {
        /// In answer to which.
        ballot: Ballot,
        /// Where.
        slot: Slot,
    },
    /// In answer to what comes too late: this ballot was promised.
    Refused(Ballot),
    /// From the leader to all, also to show that it is there: all slots below are chosen.
    Chosen(Ballot, Slot),
    /// To another: what is chosen from this slot on?
    Ask(Slot),
    /// In answer to that: this was chosen in the slot.
    Learn(Slot, Batch<Op>),
}

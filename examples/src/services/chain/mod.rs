//! Chain replication with a master that versions the membership: what is lost with n of n + 1 replicas is nothing.
//!
//! Source: R. van Renesse, F. B. Schneider, "Chain replication for supporting high throughput and availability", OSDI 2004; section 6 of the P
//! report for what makes it safe where failures are only suspected.
//!
//! Requests go down the chain from the head, each replica stores them before it passes them on, and the tail answers. Differs from
//! the paper: reads go down the chain too. A tail that was taken out of the chain without knowing it must not answer from what it
//! has, and it cannot tell that it was.
//!
//! **Views.** A [`View`] is a chain with a number. The master makes them, one after the other, and keeps the newest on its disk before
//! anybody hears of it. A replica keeps its view on its disk before it acts in it, never goes back to an older one, and drops what
//! was sent in another than its own. What is committed has been stored by every replica of a view, while it was in that view. So what a
//! wrong suspicion costs is time.
//!
//! **Full replicas.** Each view has a replica of the view before, that is full: it has all that was committed in earlier views. One that
//! joins becomes the tail, and is not full before it has what its predecessor had when that entered the view. Only then the
//! others can be taken out.
//!
//! **Logs.** An entry is known by its place and the view in which a head put it there: where two logs have the same entry, they are the
//! same up to it. A replica that joins may have requests that a chain it was once in never committed; they give way to those of its
//! predecessor.
//!
//! [`protocol`] is what a replica does, [`master`] how views are made, [`bugs`] the mutations that a search must find. What must never
//! happen is said by [`Agreement`](super::agreement::Agreement), and by linearizability.

pub mod bugs;
pub mod master;
pub mod protocol;

use super::{
    Request,
    machine::Data,
    replica::{Group, Id},
};
pub use bugs::Bug;
pub use master::Master;
pub use protocol::Replica;
use serde::{Deserialize, Serialize};

/// A chain.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct View {
    /// The newest is the highest; the first is [`View::FOUNDING`].
    pub number: u64,
    /// From head to tail. Invariant: no id twice.
    pub chain: Vec<Id>,
}

impl View {
    /// The number of the first view, which lasts until all of its replicas have put it on their disks.
    pub const FOUNDING: u64 = 1;

    /// The first view of a group: all replicas.
    pub fn founding(group: &Group) -> Self {
        Self { number: Self::FOUNDING, chain: (0..group.replicas.len() as Id).collect() }
    }

    /// Who takes requests.
    pub fn head(&self) -> Option<Id> {
        self.chain.first().copied()
    }

    /// Whether it ends with this replica.
    pub fn is_tail(&self, id: Id) -> bool {
        self.chain.last() == Some(&id)
    }

    /// Who stands before this replica.
    pub fn before(&self, id: Id) -> Option<Id> {
        let place = self.chain.iter().position(|other| *other == id)?;
        self.chain.get(place.checked_sub(1)?).copied()
    }

    /// Who stands after this replica.
    pub fn after(&self, id: Id) -> Option<Id> {
        let place = self.chain.iter().position(|other| *other == id)?;
        self.chain.get(place + 1).copied()
    }
}

/// A request in its place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Entry<Op> {
    /// The number of the view whose head put it there.
    pub view: u64,
    /// What is to be done.
    pub request: Request<Op>,
}

/// What is sent between replicas and their master. Those between replicas are of a view, by its number.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "Op: Data")]
pub enum Message<Op> {
    /// Master to replicas, whether they are in it or not, and to dispatchers: this is the view.
    Ping(View),
    /// Replica to master: I am in the view with this number, and full or not; number 0 if I have lost what I had stored.
    Pong(u64, bool),
    /// To the successor.
    Append {
        /// In which view.
        view: u64,
        /// After how many entries these come, and the view of the last of those.
        after: (usize, u64),
        /// The next entries; none, to ask how far the successor is.
        entries: Vec<Entry<Op>>,
        /// How many entries the sender has.
        end: usize,
    },
    /// To the predecessor: I have so many entries of yours, and so many are committed.
    Has {
        /// In which view.
        view: u64,
        /// How many it has.
        has: usize,
        /// How many are committed.
        committed: usize,
    },
    /// To the predecessor: I have something else there; send what comes after so many entries.
    Lacks {
        /// In which view.
        view: u64,
        /// After how many entries.
        after: usize,
    },
}

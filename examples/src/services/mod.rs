//! Replicated services, as they are deployed: a hash table, lists, and accounts between which transfers are atomic; each over
//! chain replication or over Multi-Paxos.
//!
//! Source: section 6 of Desai, Jackson, Phanishayee, Qadeer, Seshia, "Building reliable distributed systems with P", 2015: state
//! machine replication is one protocol, what is replicated another, and who asks does not know which of them answer.
//!
//! ```text
//!    client  --Request-->  dispatcher  --Request-->  head, or any replica
//!       ^                     ^   |                        |
//!       +------Answer---------+   +<-------Answer----------+  the tail, or the leader
//! ```
//!
//! [`machine`] is what is replicated: a deterministic state machine, and the sessions that keep a request from being carried out
//! twice. [`chain`] and [`multi_paxos`] replicate it; both are a [`replica::Protocol`], a state machine over messages and ticks, which
//! [`replica`] runs over a network, a log and a clock. [`dispatcher`] finds the replica to ask, [`client`] asks until it is answered
//! or loses patience, [`commit`] is two-phase commit between groups of replicas. [`deploy`] reads who is who from a file, for
//! `src/bin/services.rs`. [`agreement`] is what must never happen, [`single_node`] what
//! stands in for all that replicates in the tests of its clients.
//!
//! Nothing here knows whether it is tested or deployed.

pub mod agreement;
pub mod chain;
pub mod client;
pub mod clock;
pub mod commit;
pub mod deploy;
pub mod dispatcher;
pub mod machine;
pub mod multi_paxos;
pub mod replica;
pub mod single_node;

use machine::{Data, Machine};
use replica::Status;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Most bytes of an op, as its machine counts them: what takes part in it must fit a frame between nodes.
pub const OP_BYTES_MAX: usize = 1 << 16;

/// Most bytes of the ops that are sent together. With what goes around it, and one op more, less than a frame.
pub const BATCH_BYTES_MAX: usize = 1 << 17;

/// Which request of which client.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ticket {
    /// The name of its endpoint.
    pub client: String,
    /// Which life of that client: rises from one to the next.
    pub session: u64,
    /// Counts the requests of a session, from 1.
    pub number: u64,
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, session, number } = self;
        write!(f, "{client}.{session}.{number}")
    }
}

/// What a client asks for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Request<Op> {
    /// Under which it is carried out once, however often it arrives.
    pub ticket: Ticket,
    /// The dispatcher that waits for the answer: its place in the list that every replica has.
    pub via: u16,
    /// What is to be done.
    pub op: Op,
}

/// What came of a request.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Answer<Ret> {
    /// Which request.
    pub ticket: Ticket,
    /// What it returned.
    pub ret: Ret,
}

/// What is sent between clients, dispatchers, replicas and masters.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "Op: Data, Ret: Data")]
pub enum Message<Op, Ret> {
    /// Client to dispatcher to replica.
    Request(Request<Op>),
    /// Replica to dispatcher to client.
    Answer(Answer<Ret>),
    /// To a replica: how far are you?
    Ask,
    /// In answer to that.
    Status(Status),
    /// Of chain replication.
    Chain(chain::Message<Op>),
    /// Of Multi-Paxos.
    Paxos(multi_paxos::Message<Op>),
}

/// What is sent for a machine.
pub type MessageOf<M> = Message<<M as Machine>::Op, <M as Machine>::Ret>;

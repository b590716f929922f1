//! Single-decree Paxos: proposers get a majority of acceptors to choose one value, for ever.
//!
//! Source: L. Lamport, "Paxos made simple", 2001. The network may reorder messages.
//!
//! [`protocol`] is what proposers and acceptors do, [`spec`] what must never happen, [`bugs`] the mutations that a search
//! must find.

pub mod bugs;
pub mod protocol;
pub mod spec;

pub use bugs::Bug;
pub use protocol::{Acceptor, Ballot, Message, Proposer, Value};
pub use spec::{Agreement, Progress};

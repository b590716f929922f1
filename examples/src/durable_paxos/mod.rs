//! Single-decree Paxos whose acceptors crash and start again from what they have stored.
//!
//! Source: L. Lamport, "Paxos made simple", 2001, section 2.5: an acceptor must record its intended response in stable
//! storage before it sends it. Proposers, messages and the specification are those of [`paxos`](crate::paxos).
//!
//! [`protocol`] is what acceptors do, [`bugs`] the mutations that a search must find.

pub mod bugs;
pub mod protocol;

pub use bugs::Bug;
pub use protocol::serve;

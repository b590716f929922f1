//! Two-phase commit: a coordinator and its participants carry out a transaction everywhere or nowhere.
//!
//! Source: J. Gray, "Notes on data base operating systems", 1978. Here the network may reorder messages, and the
//! coordinator, which cannot tell a slow participant from a silent one, asks again and gives up in the end.
//!
//! [`protocol`] is what coordinator and participants do, [`spec`] what must never happen, [`bugs`] the mutations that a
//! search must find, [`accounts`] a bank that runs on it, under tokio as it stands.

pub mod accounts;
pub mod bugs;
pub mod protocol;
pub mod spec;

pub use bugs::Bug;
pub use protocol::{Coordinator, Decision, Message, Participant, Resource, Transaction, Vote};
pub use spec::{Atomicity, Progress, observer, vocabulary};

//! Ring leader election after Chang and Roberts: the node with the highest number becomes the leader.
//!
//! Source: E. Chang, R. Roberts, "An improved algorithm for decentralized extrema-finding in circular configurations of
//! processes", CACM 22(5), 1979.
//!
//! [`protocol`] is what a node does, [`spec`] what must never happen, [`bugs`] the mutations that a search must find.

pub mod bugs;
pub mod protocol;
pub mod spec;

pub use bugs::Bug;
pub use protocol::{Message, Node, Number, elect};
pub use spec::{OneLeader, Progress};

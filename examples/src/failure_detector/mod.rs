//! A failure detector: it asks the nodes whether they are alive, and tells its clients who does not answer.
//!
//! Source: the failure detector under chain replication in Desai, Jackson, Phanishayee, Qadeer, Seshia, "Building
//! reliable distributed systems with P", 2015. Where no time is long enough for an answer it may be wrong about a node
//! that is slow; where messages are faster than its patience it is right.
//!
//! [`protocol`] is what detector, nodes and clients do, [`abstraction`] a detector that clients can be tested with, [`spec`]
//! says what must never happen and what must happen, [`bugs`] are the mutations that a search must find.

pub mod abstraction;
pub mod bugs;
pub mod protocol;
pub mod spec;

pub use bugs::Bug;
pub use protocol::{Detector, Message, answer, follow};
pub use spec::{Accuracy, Detection, Membership, Progress};

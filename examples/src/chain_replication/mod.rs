//! Chain replication: servers in a chain hold copies of a register; the head takes updates, the tail answers.
//!
//! Source: R. van Renesse, F. B. Schneider, "Chain replication for supporting high throughput and availability",
//! OSDI 2004. Servers fail by stopping, and the master is told which one; links keep the order of what is sent.
//!
//! [`protocol`] is what a server does, [`master`] how a chain is mended and what a client does about it, [`spec`] what
//! must never happen, [`bugs`] the mutations that a search must find.

pub mod bugs;
pub mod master;
pub mod protocol;
pub mod spec;

pub use bugs::Bug;
pub use master::{Client, Master};
pub use protocol::{Message, Server, Value};
pub use spec::{Progress, Register};

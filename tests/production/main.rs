//! Networks between nodes, over sockets on loopback: what is promised of them holds when peers are away, slow, dead or hostile.
//!
//! Invariants: ports are those the system gives; nothing is concluded from how long something took, a test waits for what it waits for, and
//! [`guard`] only keeps it from waiting for ever.

mod authority;
mod events;
mod failing;
mod files;
mod hostile;
mod ordinary;
mod rig;
mod tls;
mod transports;

//! A reliable channel over a network that loses, repeats and reorders: what is sent arrives once and in order.
//!
//! Source: the running example of Desai, Jackson, Phanishayee, Qadeer, Seshia, "Building reliable distributed systems
//! with P", 2015 (listings 2 to 8). There the sender tries for ever; here it gives up some time and says so.
//!
//! [`Channel`] is what clients see. [`protocol`] implements it, [`abstraction`] is all that clients may rely on and
//! stands in for it in their tests, [`spec`] says what must never happen and what must happen, [`bugs`] are the mutations
//! that a search must find, [`client`] is a client.

pub mod abstraction;
pub mod bugs;
pub mod client;
pub mod protocol;
pub mod spec;

pub use abstraction::Abstraction;
pub use bugs::Bug;
pub use protocol::{Packet, Sender, receive};
pub use spec::{ExactlyOnce, Progress};
use std::{fmt, future::Future};

/// What is sent.
pub type Value = u32;

/// The sending end of a reliable channel.
pub trait Channel: Send {
    /// Sends a value, and waits until it has arrived.
    ///
    /// # Errors
    /// The channel is broken, for ever. The value may have arrived, may arrive later, or not at all.
    fn send(&mut self, value: Value) -> impl Future<Output = Result<(), Broken>> + Send;
}

/// The other end does not answer any more.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the other end does not answer any more")
    }
}

impl std::error::Error for Broken {}

//! A client that sets a timer for each of its requests, and cancels a timer that may have fired already.
//!
//! Source: Desai, Jackson, Phanishayee, Qadeer, Seshia, "Building reliable distributed systems with P", 2015 (listing
//! 1): the timer's model is the one there.
//!
//! [`protocol`] is the client, [`timer`] the timer on a clock, [`abstraction`] all that may be relied on of any timer,
//! [`spec`] says what must never happen and what must happen, [`bugs`] are the mutations that a search must find.

pub mod abstraction;
pub mod bugs;
pub mod protocol;
pub mod spec;
pub mod timer;

pub use bugs::Bug;
pub use protocol::{Client, Message};
pub use spec::{Patience, Progress};

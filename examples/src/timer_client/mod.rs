//! A client that sets a timer for each of its requests, and cancels a timer that may have fired already.
//!
//! Source: Desai, Phanishayee, Qadeer, Seshia, "Compositional programming and testing of dynamic distributed systems"
//! (listing 1 of its technical report): the timer's model is the one there.
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

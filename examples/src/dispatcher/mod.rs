//! A dispatcher: clients send their requests to it, and it knows which replica serves at present.
//!
//! Source: the dispatcher in front of replicated services in Desai, Jackson, Phanishayee, Qadeer, Seshia, "Building
//! reliable distributed systems with P", 2015: it keeps a versioned copy of the replicas' membership, which may be out
//! of date whenever it is used.
//!
//! [`protocol`] is what dispatcher and replicas do, [`abstraction`] what clients may rely on, [`spec`] says what must never
//! happen and what must happen, [`bugs`] are the mutations that a search must find.

pub mod abstraction;
pub mod bugs;
pub mod protocol;
pub mod spec;

pub use bugs::Bug;
pub use protocol::{Dispatcher, Membership, Message, ask, replica};
pub use spec::{Executed, OnceEach, Progress, Service};

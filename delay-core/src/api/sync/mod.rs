//! Channels, with tokio's names and semantics.

pub(crate) mod mailbox;
pub mod mpsc;
pub mod oneshot;

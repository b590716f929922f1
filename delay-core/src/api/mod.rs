//! What protocol code calls: tokio's tree, names and signatures, and what tokio has no word for.
//!
//! Twin of `world/`: here are the handles and the user's values, there is what they mean. Inside a controlled
//! execution a handle's ops are the World's; outside one the same types run on tokio. That choice is made in
//! `backend.rs` only.

pub(crate) mod backend;
pub mod checkpoint;
pub mod choose;
pub mod collections;
pub mod inbox;
pub mod invariant;
pub(crate) mod leaf;
pub mod linearizability;
pub mod monitor;
pub mod net;
pub mod node;
pub mod payload;
pub mod random;
pub mod record;
pub mod storage;
pub mod sync;
pub mod task;
pub mod time;
pub mod tokio_stream;
pub mod tokio_util;

// They need no control: they only poll what is in them. In `select!` which branch is ready first is the schedule's choice.
pub use tokio::{join, pin, select, task_local, try_join};

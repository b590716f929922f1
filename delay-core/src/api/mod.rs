//! What protocol code calls: tokio's tree, names and signatures, and what tokio has no word for.
//!
//! Twin of `world/`: here are the handles and the user's values, there is what they mean. Inside a controlled
//! execution a handle's ops are the World's; outside one the same types run on tokio. That choice is made in
//! `backend.rs` only.
//!
//! Without the feature `controlled` nothing is left to choose: what stands in `plain/` takes the place of what is controlled, and the
//! types of `sync`, `task` and `time`, and of `tokio_util` and `tokio_stream`, are tokio's own. Where a whole module is exchanged, it is here; of a module of which one side is
//! shared, the other side is its file `controlled.rs`, exchanged at the module's top.

#[cfg_attr(not(feature = "controlled"), path = "plain/backend.rs")]
pub(crate) mod backend;
pub mod checkpoint;
pub mod choose;
pub mod collections;
pub mod inbox;
#[cfg_attr(not(feature = "controlled"), path = "plain/invariant.rs")]
pub mod invariant;
#[cfg(feature = "controlled")]
pub(crate) mod leaf;
pub mod linearizability;
pub mod monitor;
pub mod net;
pub mod node;
#[cfg(feature = "controlled")]
pub(crate) mod owned;
#[cfg_attr(not(feature = "controlled"), path = "plain/payload.rs")]
pub mod payload;
pub mod random;
pub mod record;
#[cfg(feature = "controlled")]
pub mod select;
pub mod storage;
#[cfg_attr(not(feature = "controlled"), path = "plain/sync.rs")]
pub mod sync;
#[cfg_attr(not(feature = "controlled"), path = "plain/task.rs")]
pub mod task;
#[cfg_attr(not(feature = "controlled"), path = "plain/time.rs")]
pub mod time;
#[cfg_attr(not(feature = "controlled"), path = "plain/tokio_stream.rs")]
pub mod tokio_stream;
#[cfg_attr(not(feature = "controlled"), path = "plain/tokio_util.rs")]
pub mod tokio_util;

// They need no control: they only poll what is in them.
#[cfg(feature = "controlled")]
pub use select::select;
#[cfg(not(feature = "controlled"))]
pub use tokio::select;
pub use tokio::{join, pin, task_local, try_join};

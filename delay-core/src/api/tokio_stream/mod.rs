//! Streams over our channels and timers. Mirrors the crate `tokio-stream`, whose names and signatures these have.
//!
//! What needs no control is the crate's own. The wrappers, and the methods that need a timer, are over ours.

mod ext;
mod join_set;
mod timed;
pub mod wrappers;

pub use crate::api::time::error::Elapsed;
pub use ::tokio_stream::{
    Empty, FromStream, Iter, Once, Pending, Stream, StreamMap, StreamNotifyClose, empty, iter, once, pending,
};
pub use ext::{Next, StreamExt, TryNext};

/// Streams made of other streams.
pub mod adapters {
    pub use super::timed::{ChunksTimeout, Throttle, Timeout, TimeoutRepeating};
    pub use ::tokio_stream::adapters::{
        Chain, Filter, FilterMap, Fuse, Map, MapWhile, Merge, Peekable, Skip, SkipWhile, Take, TakeWhile, Then,
    };
}

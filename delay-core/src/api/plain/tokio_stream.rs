//! Streams: those of the crate `tokio-stream`.

// Its `JoinSet` is a type of ours.
#[path = "../tokio_stream/join_set.rs"]
mod join_set;

pub use ::tokio_stream::{
    Elapsed, Empty, FromStream, Iter, Once, Pending, Stream, StreamExt, StreamMap, StreamNotifyClose, empty, iter,
    once, pending,
};

/// Streams made of other streams.
pub mod adapters {
    pub use ::tokio_stream::adapters::{
        Chain, ChunksTimeout, Filter, FilterMap, Fuse, Map, MapWhile, Merge, Peekable, Skip, SkipWhile, Take,
        TakeWhile, Then, Timeout, TimeoutRepeating,
    };
}

/// Receivers and intervals as streams.
pub mod wrappers {
    pub use super::join_set::JoinSetStream;
    pub use ::tokio_stream::wrappers::{
        BroadcastStream, IntervalStream, ReceiverStream, UnboundedReceiverStream, WatchStream, errors,
    };
}

//! Streams: those of the crate `tokio-stream`.

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
    use super::Stream;
    use crate::api::task::{JoinError, JoinSet};
    pub use ::tokio_stream::wrappers::{
        BroadcastStream, IntervalStream, ReceiverStream, UnboundedReceiverStream, WatchStream, errors,
    };
    use std::{
        pin::Pin,
        task::{Context, Poll},
    };

    /// Results of the tasks of a set, which is of a type of ours.
    #[derive(Debug)]
    pub struct JoinSetStream<T> {
        inner: JoinSet<T>,
    }

    impl<T> JoinSetStream<T> {
        /// Streams the results of its tasks.
        pub fn new(set: JoinSet<T>) -> Self {
            Self { inner: set }
        }

        /// The set.
        pub fn into_inner(self) -> JoinSet<T> {
            self.inner
        }
    }

    impl<T: 'static> Stream for JoinSetStream<T> {
        type Item = Result<T, JoinError>;

        fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            self.inner.poll_join_next(cx)
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            (self.inner.len(), Some(self.inner.len()))
        }
    }

    impl<T> AsRef<JoinSet<T>> for JoinSetStream<T> {
        fn as_ref(&self) -> &JoinSet<T> {
            &self.inner
        }
    }

    impl<T> AsMut<JoinSet<T>> for JoinSetStream<T> {
        fn as_mut(&mut self) -> &mut JoinSet<T> {
            &mut self.inner
        }
    }

    impl<T> From<JoinSet<T>> for JoinSetStream<T> {
        fn from(set: JoinSet<T>) -> Self {
            Self::new(set)
        }
    }
}

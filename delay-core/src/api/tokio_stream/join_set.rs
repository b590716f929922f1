//! The results of tasks as a stream. Mirrors `tokio_stream::wrappers::JoinSetStream`.
//!
//! Of ours on both sides: `JoinSet` is a type of ours without the controlled side too.

use super::Stream;
use crate::api::task::{JoinError, JoinSet};
use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// The results of the tasks of a set, in the order in which they end.
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

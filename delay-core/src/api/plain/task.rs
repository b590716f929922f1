//! Tasks: tokio's own.
//!
//! What spawns is a function of ours, and [`JoinSet`] a set of tokio's in a type of ours: a task belongs to the node of the task that
//! spawns it, which tokio does not know.

use super::node;
use std::{
    borrow::Cow,
    fmt,
    future::Future,
    ops::{Deref, DerefMut},
    task::{Context, Poll},
};
pub use tokio::task::{
    AbortHandle, Id, JoinError, JoinHandle, LocalKey, block_in_place, coop, futures, id, try_id, yield_now,
};

/// Spawns a task.
///
/// # Panics
/// As tokio's: if there is no runtime.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let Some(node) = node::here() else { return tokio::spawn(future) };
    let task = tokio::spawn(node.within(future));
    node.adopted(task.abort_handle());
    task
}

/// Spawns a task; the name is for tests.
#[track_caller]
pub fn spawn_named<F>(_name: impl Into<Cow<'static, str>>, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawn(future)
}

/// Spawns a task that need not be `Send`, on a `tokio::task::LocalSet`.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let Some(node) = node::here() else { return tokio::task::spawn_local(future) };
    let task = tokio::task::spawn_local(node.within(future));
    node.adopted(task.abort_handle());
    task
}

/// Runs code that may block, outside of the threads that run tasks.
///
/// # Panics
/// As tokio's: if there is no runtime.
#[track_caller]
pub fn spawn_blocking<F, R>(f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let task = tokio::task::spawn_blocking(f);
    if let Some(node) = node::here() {
        // One that has not begun does not begin after a crash; one that has goes on, as it cannot be stopped.
        node.adopted(task.abort_handle());
    }
    task
}

/// Spawns `count` tasks that do the same: each runs its own clone of `task`. That they do counts in tests.
#[track_caller]
pub fn spawn_identical<F, T>(count: usize, task: F) -> JoinSet<T::Output>
where
    F: FnOnce() -> T + Clone + Send + 'static,
    T: Future + Send + 'static,
    T::Output: Send + 'static,
{
    let mut set = JoinSet::new();
    for task in vec![task; count] {
        set.spawn(async move { task().await });
    }
    set
}

/// Configures a task before it is spawned.
#[derive(Debug, Default, Clone)]
pub struct Builder {
    _private: (),
}

impl Builder {
    /// An unnamed task.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The name is for tests.
    #[must_use]
    pub fn name(self, _name: impl Into<Cow<'static, str>>) -> Self {
        self
    }

    /// Spawns the task.
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn(future)
    }
}

/// A set of tasks that are joined in the order in which they end: tokio's, which is what it derefs to, but for what spawns. The rest is passed
/// on, so that it can also be called by its path.
pub struct JoinSet<T>(tokio::task::JoinSet<T>);

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Deref for JoinSet<T> {
    type Target = tokio::task::JoinSet<T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> DerefMut for JoinSet<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<T> JoinSet<T> {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self(tokio::task::JoinSet::new())
    }

    /// How many tasks have not been joined.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether all tasks have been joined.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: 'static> JoinSet<T> {
    /// Spawns a task into the set.
    #[track_caller]
    pub fn spawn<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        match node::here() {
            None => self.0.spawn(task),
            Some(node) => node.adopted(self.0.spawn(node.within(task))),
        }
    }

    /// Spawns a task into the set; the name is for tests.
    #[track_caller]
    pub fn spawn_named<F>(&mut self, _name: impl Into<Cow<'static, str>>, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.spawn(task)
    }

    /// Spawns a task that need not be `Send`, on a `tokio::task::LocalSet`.
    #[track_caller]
    pub fn spawn_local<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        match node::here() {
            None => self.0.spawn_local(task),
            Some(node) => node.adopted(self.0.spawn_local(node.within(task))),
        }
    }

    /// Runs code that may block as a task of the set.
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        let abort = self.0.spawn_blocking(f);
        match node::here() {
            None => abort,
            Some(node) => node.adopted(abort),
        }
    }

    /// Joins a task that has ended; none if the set is empty.
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.0.join_next().await
    }

    /// As [`JoinSet::join_next`], with the task's id.
    pub async fn join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        self.0.join_next_with_id().await
    }

    /// Joins a task that has ended, without waiting.
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.0.try_join_next()
    }

    /// As [`JoinSet::try_join_next`], with the task's id.
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        self.0.try_join_next_with_id()
    }

    /// Polls to join a task, for hand-written futures.
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.0.poll_join_next(cx)
    }

    /// As [`JoinSet::poll_join_next`], with the task's id.
    pub fn poll_join_next_with_id(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<(Id, T), JoinError>>> {
        self.0.poll_join_next_with_id(cx)
    }

    /// Aborts all tasks.
    pub fn abort_all(&mut self) {
        self.0.abort_all();
    }

    /// Lets all tasks go on by themselves.
    pub fn detach_all(&mut self) {
        self.0.detach_all();
    }

    /// Aborts all tasks, and waits until they have ended.
    pub async fn shutdown(&mut self) {
        self.0.shutdown().await;
    }

    /// Joins them all; their results in the order in which they ended.
    ///
    /// # Panics
    /// If a task was aborted, or panicked.
    pub async fn join_all(self) -> Vec<T> {
        self.0.join_all().await
    }
}

impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    fn from_iter<I: IntoIterator<Item = F>>(tasks: I) -> Self {
        let mut set = Self::new();
        set.extend(tasks);
        set
    }
}

impl<T, F> Extend<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    fn extend<I: IntoIterator<Item = F>>(&mut self, tasks: I) {
        for task in tasks {
            self.spawn(task);
        }
    }
}

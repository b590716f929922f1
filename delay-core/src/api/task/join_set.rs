//! A set of tasks that are joined in the order in which they end. Mirrors `tokio::task::JoinSet`.

use super::{AbortHandle, Id, JoinError, JoinHandle, handle::Joining, spawn, spawn_blocking, spawn_local, spawn_named};
use crate::{
    api::{
        backend::{self, Side},
        node,
    },
    live::context,
    world::op::Site,
};
use std::{
    borrow::Cow,
    fmt,
    future::Future,
    panic::Location,
    pin::Pin,
    task::{self, Poll},
};

/// A set of tasks. Dropping it aborts them all.
///
/// ```
/// # use delay_core::api::task::JoinSet;
/// async fn body() {
///     let mut replicas = JoinSet::new();
///     for replica in 0..3 {
///         replicas.spawn(async move { replica });
///     }
///     let first =
///         replicas.join_next().await.expect("there are three").expect("it was not aborted");
///     assert!(first < 3);
///     replicas.shutdown().await;
/// }
/// ```
pub struct JoinSet<T> {
    inner: Side<Vec<Joining<T>>, tokio::task::JoinSet<T>>,
}

// Nothing in a set is pinned: the tasks are elsewhere.
impl<T> Unpin for JoinSet<T> {}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish()
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> JoinSet<T> {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self { inner: backend::choose(|_| Vec::new(), tokio::task::JoinSet::new) }
    }

    /// How many tasks have not been joined.
    pub fn len(&self) -> usize {
        match &self.inner {
            Side::Controlled(tasks) => tasks.len(),
            Side::Tokio(set) => set.len(),
        }
    }

    /// Whether every task has been joined.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
        match &mut self.inner {
            Side::Controlled(tasks) => insert(tasks, spawn(task)),
            Side::Tokio(set) => spawn_on_tokio(set, task),
        }
    }

    /// Spawns a task into the set, under a name for traces and reports.
    #[track_caller]
    pub fn spawn_named<F>(&mut self, name: impl Into<Cow<'static, str>>, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        match &mut self.inner {
            Side::Controlled(tasks) => insert(tasks, spawn_named(name, task)),
            Side::Tokio(set) => spawn_on_tokio(set, task),
        }
    }

    /// Spawns a task that need not be `Send`. Outside a controlled execution it needs a `tokio::task::LocalSet`.
    #[track_caller]
    pub fn spawn_local<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        match &mut self.inner {
            Side::Controlled(tasks) => insert(tasks, spawn_local(task)),
            Side::Tokio(set) => AbortHandle::tokio(match node::here() {
                None => set.spawn_local(task),
                Some(node) => node.adopted(set.spawn_local(node.within(task))),
            }),
        }
    }

    /// Runs code that may block, as [`spawn_blocking`](super::spawn_blocking), as a task of the set.
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        match &mut self.inner {
            Side::Controlled(tasks) => insert(tasks, spawn_blocking(f)),
            Side::Tokio(set) => {
                let abort = set.spawn_blocking(f);
                AbortHandle::tokio(match node::here() {
                    None => abort,
                    Some(node) => node.adopted(abort),
                })
            }
        }
    }

    /// Joins a task that has ended; none if the set is empty. A scheduling point, and a choice where several have.
    pub fn join_next(&mut self) -> JoinNext<'_, T> {
        JoinNext { set: self }
    }

    /// As [`JoinSet::join_next`], with the task's id.
    pub fn join_next_with_id(&mut self) -> JoinNextWithId<'_, T> {
        JoinNextWithId { next: self.join_next() }
    }

    /// Joins a task that has ended, without waiting: immediate.
    #[track_caller]
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.try_next().map(without_id)
    }

    /// As [`JoinSet::try_join_next`], with the task's id.
    #[track_caller]
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        self.try_next().map(with_id)
    }

    #[track_caller]
    fn try_next(&mut self) -> Option<Result<(Id, T), JoinError>> {
        match &mut self.inner {
            Side::Controlled(tasks) => {
                for task in tasks.iter() {
                    task.target().asked_in_order();
                }
                for index in 0..tasks.len() {
                    if let Some(joined) = tasks[index].join_now() {
                        let id = tasks.remove(index).target().id();
                        return Some(joined.map(|result| (id, result)));
                    }
                }
                None
            }
            Side::Tokio(set) => set.try_join_next_with_id().map(of_tokio),
        }
    }

    /// Polls to join a task, for hand-written futures.
    pub fn poll_join_next(&mut self, cx: &mut task::Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_next(cx).map(|next| next.map(without_id))
    }

    /// As [`JoinSet::poll_join_next`], with the task's id.
    pub fn poll_join_next_with_id(&mut self, cx: &mut task::Context<'_>) -> Poll<Option<Result<(Id, T), JoinError>>> {
        self.poll_next(cx).map(|next| next.map(with_id))
    }

    fn poll_next(&mut self, cx: &mut task::Context<'_>) -> Poll<Option<Result<(Id, T), JoinError>>> {
        match &mut self.inner {
            Side::Controlled(tasks) if tasks.is_empty() => Poll::Ready(None),
            Side::Controlled(tasks) => {
                for index in 0..tasks.len() {
                    if let Poll::Ready(joined) = tasks[index].poll(cx) {
                        let id = tasks.remove(index).target().id();
                        return Poll::Ready(Some(joined.map(|result| (id, result))));
                    }
                }
                Poll::Pending
            }
            Side::Tokio(set) => set.poll_join_next_with_id(cx).map(|next| next.map(of_tokio)),
        }
    }

    /// Joins them all; their results in the order in which they ended.
    ///
    /// # Panics
    /// If a task was aborted, or panicked.
    pub async fn join_all(mut self) -> Vec<T> {
        let mut results = Vec::with_capacity(self.len());
        while let Some(joined) = self.join_next().await {
            match joined {
                Ok(result) => results.push(result),
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(error) => panic!("{error}"),
            }
        }
        results
    }

    /// Aborts them all and waits until they have ended.
    #[track_caller]
    pub fn shutdown(&mut self) -> impl Future<Output = ()> {
        let site = Location::caller();
        async move {
            self.abort_all_at(site);
            while self.join_next().await.is_some() {}
        }
    }

    /// Aborts them all. They stay in the set until they are joined.
    #[track_caller]
    pub fn abort_all(&mut self) {
        self.abort_all_at(Location::caller());
    }

    fn abort_all_at(&mut self, site: Site) {
        match &mut self.inner {
            Side::Controlled(tasks) => {
                for task in tasks {
                    task.target().abort(site);
                }
            }
            Side::Tokio(set) => set.abort_all(),
        }
    }

    /// Forgets them all: they go on by themselves.
    pub fn detach_all(&mut self) {
        match &mut self.inner {
            Side::Controlled(tasks) => tasks.clear(),
            Side::Tokio(set) => set.detach_all(),
        }
    }
}

/// The program sees the id.
fn with_id<T>(joined: Result<(Id, T), JoinError>) -> Result<(Id, T), JoinError> {
    joined.map(|(id, result)| (id.seen(), result))
}

fn without_id<T>(joined: Result<(Id, T), JoinError>) -> Result<T, JoinError> {
    joined.map(|(_, result)| result)
}

fn of_tokio<T>(joined: Result<(tokio::task::Id, T), tokio::task::JoinError>) -> Result<(Id, T), JoinError> {
    joined.map(|(id, result)| (Id::of_tokio(id), result)).map_err(JoinError::from_tokio)
}

#[track_caller]
fn spawn_on_tokio<T, F>(set: &mut tokio::task::JoinSet<T>, task: F) -> AbortHandle
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    AbortHandle::tokio(match node::here() {
        None => set.spawn(task),
        Some(node) => node.adopted(set.spawn(node.within(task))),
    })
}

#[track_caller]
fn insert<T>(tasks: &mut Vec<Joining<T>>, handle: JoinHandle<T>) -> AbortHandle {
    match handle.into_side() {
        Side::Controlled(joining) => {
            let abort = joining.abort_handle();
            tasks.push(joining);
            abort
        }
        Side::Tokio(_) => backend::misplaced(),
    }
}

/// Spawns `count` tasks that do the same: each runs its own clone of `task`, which is told no number.
///
/// An exhaustive search does not tell them apart: states that differ only in which of them is which are one state, so that up to
/// `count`! times fewer are visited. It says so in its coverage statement; and where something does tell the tasks apart, it says what, and
/// visits all states. Outside a test it is a loop of [`JoinSet::spawn`]s.
///
/// ```
/// use delay_core::api::{payload::Payload, sync::mpsc, task};
/// async fn body() {
///     let (requests, mut received) = mpsc::unbounded_channel_with(Payload::visible());
///     let mut clients = task::spawn_identical(3, move || async move {
///         task::yield_now().await;
///         requests.send(1).expect("the body receives");
///     });
///     let mut sum = 0;
///     while let Some(one) = received.recv().await {
///         sum += one;
///     }
///     assert_eq!(sum, 3);
///     while clients.join_next().await.is_some() {}
/// }
/// ```
#[track_caller]
pub fn spawn_identical<F, T>(count: usize, task: F) -> JoinSet<T::Output>
where
    F: FnOnce() -> T + Clone + Send + 'static,
    T: Future + Send + 'static,
    T::Output: Send + 'static,
{
    // All clones first: a clone may do something that its parent then has seen, and the tasks are to be spawned alike.
    let tasks = vec![task; count];
    let mut set = JoinSet::new();
    context::with(|context| context.world.declare_copies(count as u32));
    for task in tasks {
        // Called by the task itself: what it makes is the task's.
        set.spawn(async move { task().await });
    }
    set
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        // Tokio's own set does the same by itself.
        if let Side::Controlled(tasks) = &self.inner {
            // Nobody can say where a set is dropped: each task is shown with the place where it was put in.
            for task in tasks {
                task.target().abort(task.site());
            }
        }
    }
}

impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
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
    #[track_caller]
    fn extend<I: IntoIterator<Item = F>>(&mut self, tasks: I) {
        for task in tasks {
            self.spawn(task);
        }
    }
}

/// Future of [`JoinSet::join_next`]. Dropped, it loses nothing.
#[must_use = "futures do nothing unless awaited"]
pub struct JoinNext<'a, T> {
    set: &'a mut JoinSet<T>,
}

impl<T> fmt::Debug for JoinNext<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinNext").finish_non_exhaustive()
    }
}

impl<T: 'static> Future for JoinNext<'_, T> {
    type Output = Option<Result<T, JoinError>>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        self.get_mut().set.poll_join_next(cx)
    }
}

/// Future of [`JoinSet::join_next_with_id`]. Dropped, it loses nothing.
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct JoinNextWithId<'a, T> {
    next: JoinNext<'a, T>,
}

impl<T: 'static> Future for JoinNextWithId<'_, T> {
    type Output = Option<Result<(Id, T), JoinError>>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        self.get_mut().next.set.poll_join_next_with_id(cx)
    }
}

impl<T> Drop for JoinNext<'_, T> {
    fn drop(&mut self) {
        // Otherwise the joins would stay pending while the task does something else.
        if let Side::Controlled(tasks) = &mut self.set.inner
            && context::is_controlled()
        {
            for joining in tasks {
                joining.give_up();
            }
        }
    }
}

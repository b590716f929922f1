//! Tasks: spawn, join, abort, yield. Mirrors `tokio::task`.

mod error;
mod handle;
mod join_set;

use super::{
    backend::{self, Side},
    leaf::Leaf,
    node,
};
use crate::{
    live::context,
    world::op::{Op, Site},
};
pub use error::JoinError;
use handle::Joining;
pub use handle::{AbortHandle, Id, JoinHandle, id, try_id};
pub use join_set::{JoinNext, JoinSet};
use std::{
    borrow::Cow,
    fmt,
    future::Future,
    panic::Location,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{self, Poll},
};

/// Spawns a task.
///
/// # Panics
/// Outside a controlled execution, as tokio's: if there is no runtime.
///
/// ```
/// # use delay_core::api::task;
/// async fn body() {
///     let answer = task::spawn(async { 42 }).await.expect("it neither panics nor is aborted");
///     assert_eq!(answer, 42);
/// }
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawn_as(None, future)
}

/// Spawns a task under a name for traces and reports.
#[track_caller]
pub fn spawn_named<F>(name: impl Into<Cow<'static, str>>, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawn_as(Some(name.into()), future)
}

#[track_caller]
fn spawn_as<F>(name: Option<Cow<'static, str>>, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let site = Location::caller();
    if context::is_controlled() {
        return controlled_spawn(name, future, site);
    }
    let Some(node) = node::here() else { return JoinHandle::tokio(tokio::spawn(future)) };
    let task = tokio::spawn(node.within(future));
    node.adopted(task.abort_handle());
    JoinHandle::tokio(task)
}

/// Spawns a task that need not be `Send`. Outside a controlled execution it needs a `tokio::task::LocalSet`.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let site = Location::caller();
    if context::is_controlled() {
        return controlled_spawn(None, future, site);
    }
    let Some(node) = node::here() else { return JoinHandle::tokio(tokio::task::spawn_local(future)) };
    let task = tokio::task::spawn_local(node.within(future));
    node.adopted(task.abort_handle());
    JoinHandle::tokio(task)
}

fn controlled_spawn<F>(name: Option<Cow<'static, str>>, future: F, site: Site) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let cell = Arc::new(Mutex::new(None));
    let result = Arc::clone(&cell);
    // Boxed before the execution is borrowed: nothing of the user's runs inside the borrow.
    let task = Box::pin(async move {
        let output = future.await;
        *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(output);
    });
    let spawned = context::with(|context| {
        let process = context.world.spawn(site);
        context.labels.name_process(process, name, site);
        context.spawned.push((process, task));
        context.record(site, |context| format!("spawns {}", context.labels.process(&context.world, process)));
        (process, context.execution)
    });
    let Some((process, execution)) = spawned else { crate::bug!("spawned without an execution") };
    JoinHandle::controlled(Joining::new(process, execution, cell, site))
}

/// Configures a task before it is spawned.
#[derive(Debug, Default, Clone)]
pub struct Builder {
    name: Option<Cow<'static, str>>,
}

impl Builder {
    /// An unnamed task.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the task for traces and reports.
    #[must_use]
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Spawns the task.
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn_as(self.name, future)
    }
}

/// Gives others a turn: a scheduling point.
#[track_caller]
pub fn yield_now() -> YieldNow {
    let site = Location::caller();
    YieldNow { inner: backend::choose(|context| Leaf::new(context.execution, site), || false) }
}

/// Future of [`yield_now`].
#[must_use = "futures do nothing unless awaited"]
pub struct YieldNow {
    inner: Side<Leaf, bool>,
}

impl fmt::Debug for YieldNow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("YieldNow").finish_non_exhaustive()
    }
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        match &mut self.inner {
            Side::Controlled(leaf) => {
                let site = leaf.site();
                leaf.poll_with(cx, || Op::Yield, |context, _| context.record(site, |_| "goes on".to_owned()))
            }
            Side::Tokio(yielded) if *yielded => Poll::Ready(()),
            Side::Tokio(yielded) => {
                *yielded = true;
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}

//! Tasks: spawn, join, abort, yield. Mirrors `tokio::task`.

mod blocking;
mod error;
mod handle;
mod join_set;

use super::{
    backend::{self, Side},
    leaf::Leaf,
    node,
    owned::Owned,
};
use crate::{
    live::context::{self, Context},
    world::op::{Op, Site},
};
pub use blocking::{block_in_place, spawn_blocking};
pub use error::JoinError;
use handle::Joining;
pub use handle::{AbortHandle, Id, JoinHandle, id, try_id};
pub use join_set::{JoinNext, JoinNextWithId, JoinSet, spawn_identical};
use std::{
    borrow::Cow,
    future::{Future, poll_fn},
    panic::Location,
    sync::Arc,
};
// They need no control: what a task may use is what its own polls have left.
pub use tokio::task::{LocalKey, coop};

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
    let cell = context::with(|context| Arc::new(Owned::new(context, None)));
    let Some(cell) = cell else { crate::bug!("spawned without an execution") };
    let result = Arc::clone(&cell);
    // Boxed before the execution is borrowed: nothing of the user's runs inside the borrow.
    let task = Box::pin(async move {
        let output = future.await;
        context::with(|context| *result.of(context) = Some(output));
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
pub fn yield_now() -> impl Future<Output = ()> + Send + Sync + use<> {
    let site = Location::caller();
    let side = backend::choose(|context| Leaf::new(context.execution, site), || ());
    async move {
        match side {
            Side::Controlled(mut leaf) => {
                let goes_on = |context: &mut Context, _| context.record(site, |_| "goes on".to_owned());
                poll_fn(|cx| leaf.poll_with(cx, || Op::Yield, goes_on)).await;
            }
            Side::Tokio(()) => tokio::task::yield_now().await,
        }
    }
}

/// Named futures.
pub mod futures {
    pub use tokio::task::futures::TaskLocalFuture;
}

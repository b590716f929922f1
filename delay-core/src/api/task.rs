//! Tasks: spawn, join, abort, yield. Mirrors `tokio::task`.

use super::{
    backend::{self, Side},
    leaf::Leaf,
};
use crate::{
    ids::Process,
    live::{context, is_over},
    world::op::{Op, Site},
};
use std::{
    any::Any,
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
    JoinHandle { inner: Side::Tokio(tokio::spawn(future)) }
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
    JoinHandle { inner: Side::Tokio(tokio::task::spawn_local(future)) }
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
        let process = context.world.spawn(site).process();
        context.labels.name_process(process, name);
        context.spawned.push((process, task));
        context.record(site, |context| format!("spawns {}", context.labels.process(&context.world, process)));
        (process, context.execution)
    });
    let Some((process, execution)) = spawned else {
        crate::bug!("spawned without an execution")
    };
    JoinHandle { inner: Side::Controlled(Joining { target: Target { process, execution }, cell, leaf: Leaf::new(execution, site) }) }
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

#[derive(Debug, Clone, Copy)]
struct Target {
    process: Process,
    execution: u64,
}

impl Target {
    #[track_caller]
    fn abort(self) {
        let site = Location::caller();
        backend::within_if(self.execution, |context| {
            context.record(site, |context| format!("aborts {}", context.labels.process(&context.world, self.process)));
            context.world.abort(self.process, site);
        });
    }

    fn is_finished(self) -> bool {
        backend::within_if(self.execution, |context| is_over(context.world.look_at_process(self.process))).unwrap_or(true)
    }
}

struct Joining<T> {
    target: Target,
    cell: Arc<Mutex<Option<T>>>,
    leaf: Leaf,
}

/// Owned permission to await a task's result, as tokio's.
pub struct JoinHandle<T> {
    inner: Side<Joining<T>, tokio::task::JoinHandle<T>>,
}

// Nothing in a handle is pinned: the task is elsewhere.
impl<T> Unpin for JoinHandle<T> {}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

impl<T> JoinHandle<T> {
    /// Aborts the task. The cancellation is a step of the task.
    #[track_caller]
    pub fn abort(&self) {
        match &self.inner {
            Side::Controlled(joining) => joining.target.abort(),
            Side::Tokio(handle) => handle.abort(),
        }
    }

    /// A handle that can abort the task and nothing else.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle {
            inner: match &self.inner {
                Side::Controlled(joining) => Side::Controlled(joining.target),
                Side::Tokio(handle) => Side::Tokio(handle.abort_handle()),
            },
        }
    }

    /// Whether the task has ended. An observation.
    pub fn is_finished(&self) -> bool {
        match &self.inner {
            Side::Controlled(joining) => joining.target.is_finished(),
            Side::Tokio(handle) => handle.is_finished(),
        }
    }

    /// Names the task for the explorer.
    pub fn id(&self) -> Id {
        match &self.inner {
            Side::Controlled(joining) => Id(Some(joining.target.process)),
            Side::Tokio(_) => Id(None),
        }
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        match &mut self.get_mut().inner {
            Side::Controlled(Joining { target, cell, leaf }) => {
                let (child, site) = (target.process, leaf.site());
                task::ready!(leaf.poll_with(cx, || Op::Join(child), |context, _| {
                    context.record(site, |context| format!("joins {}", context.labels.process(&context.world, child)));
                }));
                let output = cell.lock().unwrap_or_else(PoisonError::into_inner).take();
                Poll::Ready(output.ok_or(JoinError { kind: Kind::Cancelled }))
            }
            Side::Tokio(handle) => Pin::new(handle).poll(cx).map_err(JoinError::from_tokio),
        }
    }
}

/// Aborts a task.
pub struct AbortHandle {
    inner: Side<Target, tokio::task::AbortHandle>,
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").finish_non_exhaustive()
    }
}

impl AbortHandle {
    /// Aborts the task. The cancellation is a step of the task.
    #[track_caller]
    pub fn abort(&self) {
        match &self.inner {
            Side::Controlled(target) => target.abort(),
            Side::Tokio(handle) => handle.abort(),
        }
    }

    /// Whether the task has ended. An observation.
    pub fn is_finished(&self) -> bool {
        match &self.inner {
            Side::Controlled(target) => target.is_finished(),
            Side::Tokio(handle) => handle.is_finished(),
        }
    }
}

/// A task, as the explorer knows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Id(Option<Process>);

impl Id {
    /// Tells the explorer about this task (the paper's `Step` callback): the `ordered` explorer takes the value as the
    /// task's rank, lowest first. Without effect outside a controlled execution.
    pub fn rank(self, value: u32) {
        if let Some(process) = self.0 {
            context::with(|context| context.world.call(process, value));
        }
    }
}

/// The running task.
pub fn id() -> Id {
    Id(context::with(|context| context.world.actor()))
}

enum Kind {
    Cancelled,
    Panicked(Box<dyn Any + Send + 'static>),
}

/// Why a task has no result, as tokio's.
pub struct JoinError {
    kind: Kind,
}

impl JoinError {
    fn from_tokio(error: tokio::task::JoinError) -> Self {
        let kind = error.try_into_panic().map_or(Kind::Cancelled, Kind::Panicked);
        Self { kind }
    }

    /// Whether the task was aborted.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.kind, Kind::Cancelled)
    }

    /// Whether the task panicked. Never within a controlled execution: there a panic is the violation.
    pub fn is_panic(&self) -> bool {
        matches!(self.kind, Kind::Panicked(_))
    }

    /// The panic's payload.
    ///
    /// # Panics
    /// If the task did not panic.
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        match self.kind {
            Kind::Panicked(payload) => payload,
            Kind::Cancelled => panic!("`JoinError` reason is not a panic."),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_cancelled() { "JoinError::Cancelled" } else { "JoinError::Panic" })
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_cancelled() { "task was cancelled" } else { "task panicked" })
    }
}

impl std::error::Error for JoinError {}

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

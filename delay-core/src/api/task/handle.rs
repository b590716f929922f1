//! Handles to spawned tasks.

use super::JoinError;
use crate::{
    api::{
        backend::{self, Side},
        leaf::Leaf,
        owned::Owned,
    },
    ids::Process,
    live::context,
    world::op::{Op, Site},
};
use std::{
    fmt,
    future::Future,
    panic::Location,
    pin::Pin,
    sync::Arc,
    task::{self, Poll},
};

/// A task of a controlled execution that can be aborted as long as this exists: the World counts them.
#[derive(Debug)]
pub(super) struct Target {
    process: Process,
    execution: u64,
}

impl Clone for Target {
    fn clone(&self) -> Self {
        Self::new(self.process, self.execution)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        backend::within_if(self.execution, |context| context.world.release_handle(self.process));
    }
}

impl Target {
    fn new(process: Process, execution: u64) -> Self {
        backend::within_if(execution, |context| context.world.add_handle(process));
        Self { process, execution }
    }

    pub(super) fn abort(&self, site: Site) {
        backend::within_if(self.execution, |context| {
            context.record(site, |context| format!("aborts {}", context.labels.process(&context.world, self.process)));
            context.world.abort(self.process, site);
        });
    }

    fn is_finished(&self) -> bool {
        backend::within_if(self.execution, |context| context.world.look_at_process(self.process).is_over())
            .unwrap_or(true)
    }

    pub(super) fn id(&self) -> Id {
        Id(Named::Controlled(self.process))
    }

    /// It is asked for among others, in the order in which they were spawned.
    pub(super) fn asked_in_order(&self) {
        backend::within_if(self.execution, |context| context.world.ask_in_order(self.process));
    }
}

/// A join of a controlled task that may still be waited for.
pub(super) struct Joining<T> {
    target: Target,
    /// Where the task leaves its result.
    cell: Arc<Owned<Option<T>>>,
    leaf: Leaf,
}

impl<T> Joining<T> {
    pub(super) fn new(process: Process, execution: u64, cell: Arc<Owned<Option<T>>>, site: Site) -> Self {
        Self { target: Target::new(process, execution), cell, leaf: Leaf::new(execution, site) }
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// Where the task was spawned.
    pub(super) fn site(&self) -> Site {
        self.leaf.site()
    }

    pub(super) fn abort_handle(&self) -> AbortHandle {
        AbortHandle { inner: Side::Controlled(self.target.clone()) }
    }

    pub(super) fn poll(&mut self, cx: &task::Context<'_>) -> Poll<Result<T, JoinError>> {
        let (child, site) = (self.target.process, self.leaf.site());
        task::ready!(self.leaf.poll_with(
            cx,
            || Op::Join(child),
            |context, _| {
                context.record(site, |context| format!("joins {}", context.labels.process(&context.world, child)));
            }
        ));
        Poll::Ready(self.take())
    }

    /// Joins without waiting: immediate.
    #[track_caller]
    pub(super) fn join_now(&mut self) -> Option<Result<T, JoinError>> {
        self.give_up();
        let (child, site) = (self.target.process, Location::caller());
        let over = backend::within(self.target.execution, |context| {
            let over = context.world.join_now(child);
            if over {
                context.record(site, |context| format!("joins {}", context.labels.process(&context.world, child)));
            }
            over
        });
        over.then(|| self.take())
    }

    /// Stops waiting.
    pub(super) fn give_up(&mut self) {
        self.leaf = Leaf::new(self.target.execution, self.leaf.site());
    }

    fn take(&mut self) -> Result<T, JoinError> {
        let output = backend::within(self.target.execution, |context| self.cell.of(context).take());
        output.ok_or_else(|| JoinError::cancelled(self.target.id()))
    }
}

/// Owned permission to await a task's result, as tokio's. Dropping it detaches the task.
pub struct JoinHandle<T> {
    inner: Side<Joining<T>, tokio::task::JoinHandle<T>>,
}

// Nothing in a handle is pinned: the task is elsewhere.
impl<T> Unpin for JoinHandle<T> {}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("id", &self.id()).finish_non_exhaustive()
    }
}

impl<T> JoinHandle<T> {
    pub(super) fn controlled(joining: Joining<T>) -> Self {
        Self { inner: Side::Controlled(joining) }
    }

    pub(super) fn tokio(handle: tokio::task::JoinHandle<T>) -> Self {
        Self { inner: Side::Tokio(handle) }
    }

    /// The two kinds of handle, for a set of them.
    pub(super) fn into_side(self) -> Side<Joining<T>, tokio::task::JoinHandle<T>> {
        self.inner
    }

    /// Aborts the task. The cancellation is a step of the task.
    #[track_caller]
    pub fn abort(&self) {
        match &self.inner {
            Side::Controlled(joining) => joining.target.abort(Location::caller()),
            Side::Tokio(handle) => handle.abort(),
        }
    }

    /// A handle that can abort the task and nothing else.
    pub fn abort_handle(&self) -> AbortHandle {
        match &self.inner {
            Side::Controlled(joining) => joining.abort_handle(),
            Side::Tokio(handle) => AbortHandle { inner: Side::Tokio(handle.abort_handle()) },
        }
    }

    /// Whether the task has ended. An observation.
    pub fn is_finished(&self) -> bool {
        match &self.inner {
            Side::Controlled(joining) => joining.target.is_finished(),
            Side::Tokio(handle) => handle.is_finished(),
        }
    }

    /// Names the task.
    pub fn id(&self) -> Id {
        match &self.inner {
            Side::Controlled(joining) => joining.target.id().seen(),
            Side::Tokio(handle) => Id::of_tokio(handle.id()),
        }
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        match &mut self.get_mut().inner {
            Side::Controlled(joining) => joining.poll(cx),
            Side::Tokio(handle) => Pin::new(handle).poll(cx).map_err(JoinError::from_tokio),
        }
    }
}

/// Aborts a task.
#[derive(Clone)]
pub struct AbortHandle {
    inner: Side<Target, tokio::task::AbortHandle>,
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("id", &self.id()).finish()
    }
}

impl AbortHandle {
    pub(super) fn tokio(handle: tokio::task::AbortHandle) -> Self {
        Self { inner: Side::Tokio(handle) }
    }

    /// Aborts the task. The cancellation is a step of the task.
    #[track_caller]
    pub fn abort(&self) {
        self.abort_at(Location::caller());
    }

    /// The same on behalf of a destructor, which is called from no place of the user's.
    pub(in crate::api) fn abort_at(&self, site: Site) {
        match &self.inner {
            Side::Controlled(target) => target.abort(site),
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

    /// Names the task.
    pub fn id(&self) -> Id {
        match &self.inner {
            Side::Controlled(target) => target.id().seen(),
            Side::Tokio(handle) => Id::of_tokio(handle.id()),
        }
    }
}

/// Names a task, as tokio's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(Named);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Named {
    Controlled(Process),
    Tokio(tokio::task::Id),
}

impl Id {
    pub(super) fn of_tokio(id: tokio::task::Id) -> Self {
        Self(Named::Tokio(id))
    }

    /// The program sees it, and can tell the task from others.
    pub(super) fn seen(self) -> Self {
        if let Named::Controlled(process) = self.0 {
            context::with(|context| context.world.tell_apart(process));
        }
        self
    }

    /// Tells the explorer about this task (the paper's `Step` callback): the `ordered` explorer takes the value as the
    /// task's rank, lowest first. Without effect outside a controlled execution.
    pub fn rank(self, value: u32) {
        if let Named::Controlled(process) = self.0 {
            context::with(|context| context.world.call(process, value));
        }
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({self})")
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Named::Controlled(process) => {
                self.seen();
                let label = context::with(|context| context.labels.process(&context.world, process));
                f.pad(&label.unwrap_or_else(|| format!("{process:?}")))
            }
            Named::Tokio(id) => id.fmt(f),
        }
    }
}

/// The running task.
///
/// # Panics
/// Outside a task, as tokio's.
#[track_caller]
pub fn id() -> Id {
    try_id().expect("Can't get a task id when not inside a task")
}

/// The running task, if there is one.
pub fn try_id() -> Option<Id> {
    match context::with(|context| context.world.actor()) {
        Some(process) => Some(Id(Named::Controlled(process)).seen()),
        None => tokio::task::try_id().map(Id::of_tokio),
    }
}

//! Nodes outside a controlled execution: what is spawned by a task of a node belongs to it and is aborted by its crash.
//!
//! Invariant: a task belongs to the life of the node in which it was spawned. A node starts again only after all tasks of the life
//! before were dropped, so that two lives never run side by side, and one node at a time knows all its tasks.

use crate::world::fault::Mail;
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::{
    sync::watch,
    task::{AbortHandle, futures::TaskLocalFuture},
};

tokio::task_local! {
    static HERE: Member;
}

/// Whether there ever was a node: a program without nodes pays for no more than this.
static ANY: AtomicBool = AtomicBool::new(false);

/// Makes the first task.
pub(super) type Init = Box<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// A node that runs on tokio.
pub(super) struct OnTokio {
    name: String,
    mail: Mail,
    init: Init,
    status: watch::Sender<Status>,
    /// Of its tasks, and of some that have ended.
    tasks: Mutex<Vec<AbortHandle>>,
}

struct Status {
    is_up: bool,
    /// How many of its tasks were not dropped yet.
    members: usize,
}

/// A task of a node is not dropped while this exists.
pub(crate) struct Member(Arc<OnTokio>);

impl Member {
    fn of(node: &Arc<OnTokio>) -> Self {
        node.status.send_modify(|status| status.members += 1);
        Self(Arc::clone(node))
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.0.status.send_modify(|status| status.members -= 1);
    }
}

/// Where a task is to run: on a node.
pub(crate) struct Here(Arc<OnTokio>);

/// The node of the running task, outside a controlled execution.
#[inline]
pub(crate) fn here() -> Option<Here> {
    // Whoever runs on a node was spawned after it was started, and sees that it was.
    if ANY.load(Ordering::Relaxed) { here_among_nodes() } else { None }
}

fn here_among_nodes() -> Option<Here> {
    HERE.try_with(|member| Here(Arc::clone(&member.0))).ok()
}

impl Here {
    /// The future as one of a task of this node.
    // A task local's value goes after its future: the node is left when all of the task is dropped.
    pub(crate) fn within<F: Future>(&self, future: F) -> TaskLocalFuture<Member, F> {
        HERE.scope(Member::of(&self.0), future)
    }

    /// Has the node abort the task when it crashes.
    pub(crate) fn adopted(&self, task: AbortHandle) -> AbortHandle {
        self.0.adopt(task.clone());
        task
    }

    /// What becomes of messages to the node, if it has crashed.
    pub(crate) fn mail_if_down(&self) -> Option<Mail> {
        (!self.0.is_up()).then_some(self.0.mail)
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }
}

impl OnTokio {
    pub(super) fn start(name: String, mail: Mail, init: Init) -> Arc<Self> {
        ANY.store(true, Ordering::Relaxed);
        let status = watch::Sender::new(Status { is_up: true, members: 0 });
        let node = Arc::new(Self { name, mail, init, status, tasks: Mutex::default() });
        node.run();
        node
    }

    /// Spawns its first task.
    fn run(self: &Arc<Self>) {
        let node = Arc::clone(self);
        // Called by the task: what it does is done on the node.
        let first = async move { (node.init)().await };
        self.adopt(tokio::spawn(HERE.scope(Member::of(self), first)).abort_handle());
    }

    fn adopt(&self, task: AbortHandle) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock under which a crash takes them: one that comes too late is seen here.
        if !self.is_up() {
            drop(tasks);
            task.abort();
            return;
        }
        if tasks.len() == tasks.capacity() {
            // At most as much work as the pushes since the last time, as a vector grows by a factor.
            tasks.retain(|task| !task.is_finished());
            let room = tasks.len() + 1;
            tasks.reserve(room);
        }
        tasks.push(task);
    }

    pub(super) fn is_up(&self) -> bool {
        self.status.borrow().is_up
    }

    pub(super) async fn down(self: Arc<Self>) {
        self.wait(|status| !status.is_up).await;
    }

    /// Returns when none of its tasks is left, unless it is called by one of them.
    pub(super) async fn crash(self: Arc<Self>) {
        let tasks = {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            self.status.send_modify(|status| status.is_up = false);
            std::mem::take(&mut *tasks)
        };
        for task in tasks {
            task.abort();
        }
        self.wait(|status| status.is_up || status.members == 0).await;
    }

    pub(super) async fn restart(self: Arc<Self>) {
        while !self.is_up() {
            self.wait(|status| status.is_up || status.members == 0).await;
            // Another may have started it meanwhile.
            let is_ours = self.status.send_if_modified(|status| {
                let is_ready = !status.is_up && status.members == 0;
                status.is_up |= is_ready;
                is_ready
            });
            if is_ours {
                return self.run();
            }
        }
    }

    async fn wait(&self, until: impl FnMut(&Status) -> bool) {
        let waited = self.status.subscribe().wait_for(until).await.is_ok();
        debug_assert!(waited, "the node holds the sender");
    }
}

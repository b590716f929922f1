//! Nodes: fault domains. What runs on a node crashes with it, and what it has not stored is gone.
//!
//! A node is started with a closure that makes its first task. Tasks that are spawned on a node belong to it. When it crashes
//! all of them are dropped at once; when it starts again the closure is called again.
//!
//! Outside a controlled execution a node is a part of the operating system's process: its tasks run on tokio, and a crash, which only the
//! program itself can cause, aborts them all. Nothing that was written to a store is lost by that.

mod on_tokio;

use super::{
    backend::{self, Side},
    leaf::Leaf,
};
pub use crate::world::fault::Mail;
use crate::{
    ids::Process,
    live::context::{Init, TaskFuture},
    world::{
        fault::{Faults, Kind},
        op::{Op, Site},
    },
};
use on_tokio::OnTokio;
pub(crate) use on_tokio::here;
use std::{
    borrow::Cow,
    fmt,
    future::Future,
    panic::Location,
    pin::Pin,
    sync::Arc,
    task::{self, Poll},
};

/// A wait on tokio.
type Pending = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

/// While there is one, the program can make the node crash.
struct Controlled {
    root: Process,
    execution: u64,
}

impl Controlled {
    fn new(root: Process, execution: u64) -> Self {
        backend::within_if(execution, |context| context.world.add_node_handle(root));
        Self { root, execution }
    }
}

impl Clone for Controlled {
    fn clone(&self) -> Self {
        Self::new(self.root, self.execution)
    }
}

impl Drop for Controlled {
    fn drop(&mut self) {
        backend::within_if(self.execution, |context| context.world.release_node_handle(self.root));
    }
}

/// A node. Dropping this handle leaves the node running.
///
/// Outside a controlled execution its tasks run on tokio: those that its tasks spawn by `delay::task` are its own too. A crash aborts them
/// all and completes when they are gone; what is in the middle of a poll on another thread runs on to its next `await`.
///
/// ```
/// # use delay_core::api::{net::{Delivery, Network}, node::Node};
/// async fn body() {
///     let net = Network::<u32>::new(Delivery::Fifo);
///     let network = net.clone();
///     let server = Node::start("server", move || {
///         let network = network.clone();
///         async move {
///             let mut inbox = network.endpoint("server");
///             loop {
///                 let request = inbox.recv().await;
///                 let _ = inbox.send(request.from, request.message + 1).await;
///             }
///         }
///     });
///     server.crash().await;
///     server.restart().await;
///     assert!(server.is_up());
/// }
/// ```
#[derive(Clone)]
pub struct Node {
    inner: Side<Controlled, Arc<OnTokio>>,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").finish_non_exhaustive()
    }
}

impl Node {
    /// Starts a node. `init` is its first task, now and after each restart.
    #[track_caller]
    pub fn start<F, Fut>(name: impl Into<Cow<'static, str>>, init: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        Self::builder(name).start(init)
    }

    /// Configures a node before it is started.
    pub fn builder(name: impl Into<Cow<'static, str>>) -> Builder {
        Builder { name: name.into(), mail: Mail::default(), faults: None }
    }

    /// Whether it is up. An observation.
    #[track_caller]
    pub fn is_up(&self) -> bool {
        match &self.inner {
            Side::Controlled(Controlled { root, execution }) => {
                backend::within(*execution, |context| context.world.look_at_node(*root))
            }
            Side::Tokio(node) => node.is_up(),
        }
    }

    /// Waits until it is down: what a perfect failure detector sees.
    #[track_caller]
    pub fn down(&self) -> Down {
        let inner = match &self.inner {
            Side::Controlled(Controlled { root, execution }) => {
                Side::Controlled((Leaf::new(*execution, Location::caller()), *root))
            }
            Side::Tokio(node) => Side::Tokio(Box::pin(Arc::clone(node).down()) as Pending),
        };
        Down { inner }
    }

    /// Crashes the node: a scheduling point. Without effect while it is down. Costs no budget: the test says so itself.
    #[track_caller]
    pub fn crash(&self) -> Change {
        self.change(Op::Crash)
    }

    /// Starts the node again: a scheduling point. Without effect while it is up.
    #[track_caller]
    pub fn restart(&self) -> Change {
        self.change(Op::Restart)
    }

    #[track_caller]
    fn change(&self, op: impl FnOnce(Process) -> Op) -> Change {
        let inner = match &self.inner {
            Side::Controlled(node) => {
                let leaf = Leaf::new(node.execution, Location::caller());
                Side::Controlled((leaf, op(node.root), node.clone()))
            }
            Side::Tokio(node) => {
                let node = Arc::clone(node);
                Side::Tokio(match op(Process::BODY) {
                    Op::Crash(_) => Box::pin(node.crash()) as Pending,
                    _ => Box::pin(node.restart()),
                })
            }
        };
        Change { inner }
    }
}

/// Configures a node before it is started.
#[derive(Debug, Clone)]
pub struct Builder {
    name: Cow<'static, str>,
    mail: Mail,
    faults: Option<Faults>,
}

impl Builder {
    /// What becomes of messages to it while it is down.
    #[must_use]
    pub fn mail(mut self, mail: Mail) -> Self {
        self.mail = mail;
        self
    }

    /// How often it may crash and restart: a budget of its own, instead of the test's. `Faults::NONE` spares it.
    ///
    /// # Panics
    /// If messages are to fail, or the network: that is for a `net::Link`, or for the test's faults. If it may restart and not
    /// crash.
    #[must_use]
    #[track_caller]
    pub fn faults(mut self, faults: Faults) -> Self {
        let mut others = Kind::ALL.into_iter().filter(|kind| !matches!(kind, Kind::Crash | Kind::Restart));
        if let Some(kind) = others.find(|kind| faults.left(*kind) > 0) {
            panic!("a node can only crash and restart: give {} to the test's faults(..), or to a link", kind.name());
        }
        assert!(
            faults.left(Kind::Restart) == 0 || faults.left(Kind::Crash) > 0,
            "nothing can restart where nothing may crash: add crash(1)"
        );
        self.faults = Some(faults);
        self
    }

    /// Starts the node. `init` is its first task, now and after each restart.
    ///
    /// # Panics
    /// If there is a node with this name.
    #[track_caller]
    pub fn start<F, Fut>(self, init: F) -> Node
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let site: Site = Location::caller();
        let Self { name, mail, faults } = self;
        if !crate::live::context::is_controlled() {
            let node = OnTokio::start(name.into_owned(), mail, Box::new(move || Box::pin(init())));
            return Node { inner: Side::Tokio(node) };
        }
        let known = crate::live::context::with(|context| {
            context.nodes.iter().any(|(root, _)| context.labels.process(&context.world, *root) == name)
        });
        assert!(
            known != Some(true),
            "there is a node named {name} already: a crash does not end a node, it can restart"
        );
        let init = Arc::new(init);
        // Called in the task's first poll: what it does is done on the node.
        let init: Init = Arc::new(move || -> TaskFuture<'static> {
            let init = Arc::clone(&init);
            Box::pin(async move { init().await })
        });
        let task = init();
        let started = crate::live::context::with(|context| {
            let root = context.world.spawn_node(site, mail, faults);
            context.labels.name_process(root, Some(name), site);
            context.nodes.push((root, init));
            context.spawned.push((root, task));
            context.record(site, |context| format!("starts node {}", context.labels.process(&context.world, root)));
            (root, context.execution)
        });
        let Some((root, execution)) = started else { crate::bug!("started without an execution") };
        Node { inner: Side::Controlled(Controlled::new(root, execution)) }
    }
}

/// Future of [`Node::crash`] and [`Node::restart`].
#[must_use = "futures do nothing unless awaited"]
pub struct Change {
    /// With the node: it can crash as long as this may be awaited.
    inner: Side<(Leaf, Op, Controlled), Pending>,
}

impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Change").finish_non_exhaustive()
    }
}

impl Future for Change {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        match &mut self.get_mut().inner {
            Side::Controlled((leaf, op, _)) => {
                let op = *op;
                leaf.poll_with(cx, || op, |_, _| ())
            }
            Side::Tokio(change) => change.as_mut().poll(cx),
        }
    }
}

/// Future of [`Node::down`].
#[must_use = "futures do nothing unless awaited"]
pub struct Down {
    inner: Side<(Leaf, Process), Pending>,
}

impl fmt::Debug for Down {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Down").finish_non_exhaustive()
    }
}

impl Future for Down {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        match &mut self.get_mut().inner {
            Side::Controlled((leaf, root)) => {
                let (root, site) = (*root, leaf.site());
                leaf.poll_with(
                    cx,
                    || Op::Down(root),
                    |context, _| {
                        context.record(site, |context| {
                            format!("sees that {} is down", context.labels.process(&context.world, root))
                        });
                    },
                )
            }
            Side::Tokio(down) => down.as_mut().poll(cx),
        }
    }
}

//! Nodes: fault domains. What runs on a node crashes with it, and what it has not stored is gone.
//!
//! A node is started with a closure that makes its first task. Tasks that are spawned on a node belong to it. When it crashes
//! all of them are dropped at once; when it starts again the closure is called again.
//!
//! Outside a controlled execution a node is a part of the operating system's process: its tasks run on tokio, and a crash, which only the
//! program itself can cause, aborts them all. Nothing that was written to a store is lost by that.

#[cfg_attr(not(feature = "controlled"), path = "../plain/node.rs")]
mod controlled;
mod on_tokio;

use super::backend::{self, Side};
pub use crate::world::fault::Mail;
use crate::world::fault::{Faults, Kind};
use controlled::{Changing, Controlled, Downing};
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
            Side::Controlled(node) => node.is_up(),
            Side::Tokio(node) => node.is_up(),
        }
    }

    /// Waits until it is down: what a perfect failure detector sees.
    #[track_caller]
    pub fn down(&self) -> Down {
        let inner = match &self.inner {
            Side::Controlled(node) => Side::Controlled(node.down(Location::caller())),
            Side::Tokio(node) => Side::Tokio(Box::pin(Arc::clone(node).down()) as Pending),
        };
        Down { inner }
    }

    /// Crashes the node: a scheduling point. Without effect while it is down. Costs no budget: the test says so itself.
    #[track_caller]
    pub fn crash(&self) -> Change {
        let inner = match &self.inner {
            Side::Controlled(node) => Side::Controlled(node.crash(Location::caller())),
            Side::Tokio(node) => Side::Tokio(Box::pin(Arc::clone(node).crash()) as Pending),
        };
        Change { inner }
    }

    /// Starts the node again: a scheduling point. Without effect while it is up.
    #[track_caller]
    pub fn restart(&self) -> Change {
        let inner = match &self.inner {
            Side::Controlled(node) => Side::Controlled(node.restart(Location::caller())),
            Side::Tokio(node) => Side::Tokio(Box::pin(Arc::clone(node).restart()) as Pending),
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
        let Self { name, mail, faults } = self;
        let inner = if backend::is_controlled() {
            Side::Controlled(Controlled::start(name, mail, faults, init, Location::caller()))
        } else {
            Side::Tokio(OnTokio::start(name.into_owned(), mail, Box::new(move || Box::pin(init()))))
        };
        Node { inner }
    }
}

/// Future of [`Node::crash`] and [`Node::restart`].
#[must_use = "futures do nothing unless awaited"]
pub struct Change {
    inner: Side<Changing, Pending>,
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
            Side::Controlled(change) => change.poll(cx),
            Side::Tokio(change) => change.as_mut().poll(cx),
        }
    }
}

/// Future of [`Node::down`].
#[must_use = "futures do nothing unless awaited"]
pub struct Down {
    inner: Side<Downing, Pending>,
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
            Side::Controlled(down) => down.poll(cx),
            Side::Tokio(down) => down.as_mut().poll(cx),
        }
    }
}

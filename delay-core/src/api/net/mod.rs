//! A network of named endpoints that send each other messages.
//!
//! A network's [`Delivery`] says in which order messages may arrive. Inside a controlled execution every order it
//! allows is explored; outside one, messages are routed within the process over tokio channels, in order of sending,
//! which each discipline allows. With the feature `tcp` a network can also reach from one process to others: `cluster`.
//!
//! Invariant: a name has one mailbox for as long as its network lives. It is made when the name is first asked for, so
//! a message sent before the endpoint is bound waits there.

mod address;
#[cfg(feature = "tcp")]
pub mod cluster;
#[cfg_attr(not(feature = "controlled"), path = "../plain/net.rs")]
mod controlled;
mod link;
mod outlet;
mod recorded;
#[cfg(feature = "tcp")]
pub mod transport;

use super::{backend::Side, node, payload::Payload};
use crate::hash::IdMap;
pub use crate::world::{
    fault::{Faults, Mail},
    words::Delivery,
};
pub use address::Address;
pub(super) use address::believing;
use controlled::{Bound, Controlled, Receiving, Sending};
pub use link::{Builder, Link};
use outlet::{Deployed, Inlet, Posting};
use recorded::{Arriving, received};
use std::{
    fmt,
    future::Future,
    panic::Location,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{self, Poll},
};

/// A message and who sent it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Envelope<M> {
    /// The endpoint it was sent from.
    pub from: Address,
    /// What was sent.
    pub message: M,
}

/// A message could not be sent. Holds the message, and why.
#[derive(PartialEq, Eq, Clone, Copy)]
pub struct SendError<M>(pub M, pub Unsent);

/// Why a message was not sent.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Unsent {
    /// The endpoint it is for was dropped. Of an endpoint on another node nobody can tell: there it is lost instead.
    Dropped,
    /// As bytes it is larger than the cluster's limit `frame_bytes_max`.
    Oversized {
        /// How large it is.
        bytes: usize,
        /// How large it may be.
        bytes_max: usize,
    },
    /// Its serde implementation refused to make bytes of it.
    Unencodable,
}

impl fmt::Display for Unsent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dropped => f.write_str("endpoint dropped"),
            Self::Oversized { bytes, bytes_max } => write!(
                f,
                "the message is {bytes} bytes long, at most {bytes_max} may be sent: split it, or raise `frame_bytes_max` on every node"
            ),
            Self::Unencodable => f.write_str("the message's Serialize implementation failed"),
        }
    }
}

impl<M> fmt::Debug for SendError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SendError").field(&self.1).finish_non_exhaustive()
    }
}

impl<M> fmt::Display for SendError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.1.fmt(f)
    }
}

impl<M> std::error::Error for SendError<M> {}

/// What leads to a name: where messages for it go, and its receiving end until the endpoint is bound.
struct Route<S, R> {
    to: S,
    unbound: Option<R>,
    /// What becomes of messages until then: they are kept before the first time, later that is up to the node that crashed.
    mail: Mail,
}

type Routes<S, R> = Mutex<IdMap<usize, Route<S, R>>>;

struct Inner<M> {
    delivery: Delivery,
    side: Side<Controlled<M>, Deployed<M>>,
}

/// A network over which messages of type `M` are sent.
///
/// ```
/// # use delay_core::api::{net::{Delivery, Network}, task};
/// async fn body() {
///     let net = Network::<&str>::new(Delivery::Unordered);
///     let mut coordinator = net.endpoint("coordinator");
///     let mut participant = net.endpoint("participant");
///     task::spawn(async move {
///         let asked = participant.recv().await;
///         assert_eq!(asked.message, "prepare");
///         participant.send(asked.from, "yes").await.expect("the coordinator is there");
///     });
///     coordinator
///         .send(net.address("participant"), "prepare")
///         .await
///         .expect("the participant is there");
///     assert_eq!(coordinator.recv().await.message, "yes");
/// }
/// ```
pub struct Network<M> {
    inner: Arc<Inner<M>>,
}

impl<M> Clone for Network<M> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<M> fmt::Debug for Network<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("delivery", &self.inner.delivery).finish_non_exhaustive()
    }
}

impl<M> Network<M> {
    /// A network; its messages are opaque to the engine.
    pub fn new(delivery: Delivery) -> Self {
        Self::with_payload(delivery, Payload::opaque())
    }

    /// A network, and what the engine may know of its messages.
    pub fn with_payload(delivery: Delivery, payload: Payload<M>) -> Self {
        Self::builder(delivery).payload(payload).build()
    }

    /// Configures a network before it is made.
    pub fn builder(delivery: Delivery) -> Builder<M> {
        Builder { delivery, payload: Payload::opaque(), links: Vec::new() }
    }

    /// In which order messages may arrive.
    pub fn delivery(&self) -> Delivery {
        self.inner.delivery
    }

    /// Binds a name: on the node of the task that asks, if it belongs to one.
    ///
    /// # Panics
    /// If the name was bound before, even if that endpoint is gone; unless its node has crashed. In a cluster also if the name
    /// is another node's.
    #[track_caller]
    pub fn endpoint(&self, name: impl AsRef<str>) -> Endpoint<M> {
        let address = self.address(name);
        let inner = match &self.inner.side {
            Side::Controlled(network) => network.bind(address).map(Side::Controlled),
            Side::Tokio(deployed) => deployed.bind(address).map(Side::Tokio),
        };
        let Some(inner) = inner else {
            panic!("the network already has an endpoint named {address}: a name is bound once")
        };
        Endpoint { network: self.clone(), address, inner }
    }

    /// The address of a name, whether or not its endpoint is bound yet.
    ///
    /// # Panics
    /// In a cluster, if none of its nodes hosts the name.
    #[track_caller]
    pub fn address(&self, name: impl AsRef<str>) -> Address {
        let address = Address::of(name.as_ref());
        match &self.inner.side {
            Side::Controlled(network) => network.name(address),
            Side::Tokio(deployed) => deployed.name(address),
        }
        address
    }
}

fn routes_of<S, R>(routes: &Routes<S, R>) -> MutexGuard<'_, IdMap<usize, Route<S, R>>> {
    routes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where messages for an address go.
#[track_caller]
fn route_to<S: Clone, R>(routes: &Routes<S, R>, to: Address) -> S {
    let known = routes_of(routes).get(&to.key()).map(|route| route.to.clone());
    match known {
        Some(route) => route,
        None => panic!("this network has no endpoint named {to}: the address is of another network"),
    }
}

/// One end of a network. Dropping it makes every later send to it fail.
///
/// It belongs to the node it was bound on, or to what runs outside any: nobody else can receive from it, and it goes on being
/// bound when it is dropped elsewhere. A crash of its node ends it; the name can be bound again.
pub struct Endpoint<M> {
    network: Network<M>,
    address: Address,
    inner: Side<Bound<M>, Inlet<M>>,
}

impl<M> fmt::Debug for Endpoint<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.address).finish()
    }
}

impl<M> Drop for Endpoint<M> {
    fn drop(&mut self) {
        match (&mut self.inner, &self.network.inner.side) {
            (Side::Controlled(mailbox), _) => mailbox.unbind(),
            (Side::Tokio(inlet), Side::Tokio(deployed)) => {
                // Dropped by the crash of its node: the name can be bound again.
                if let Some(mail) = node::here().and_then(|here| here.mail_if_down()) {
                    deployed.unbind(self.address, inlet, mail);
                }
            }
            (Side::Tokio(_), Side::Controlled(_)) => {}
        }
    }
}

impl<M> Endpoint<M> {
    /// Its own address.
    pub fn address(&self) -> Address {
        self.address
    }

    /// The network it is part of.
    pub fn network(&self) -> &Network<M> {
        &self.network
    }

    /// Sends a message; never waits for room, unless it is for a connected node that is slow. A scheduling point.
    ///
    /// # Errors
    /// The message, if the endpoint it is for was dropped, or it is too large for the cluster.
    ///
    /// # Panics
    /// If the address is of another network.
    #[track_caller]
    #[inline]
    pub fn send(&self, to: Address, message: M) -> SendTo<M> {
        let envelope = Envelope { from: self.address, message };
        SendTo(match &self.network.inner.side {
            Side::Controlled(network) => Side::Controlled(network.send(to, envelope, Location::caller())),
            Side::Tokio(deployed) => Side::Tokio(Posting::to(deployed, to, envelope)),
        })
    }

    /// Receives the next message: a scheduling point, and a choice where the delivery leaves one.
    ///
    /// # Panics
    /// If the task is not on the node where the endpoint was bound: the endpoint goes down with that node.
    #[track_caller]
    #[inline]
    pub fn recv(&mut self) -> RecvFrom<'_, M> {
        RecvFrom(match &mut self.inner {
            Side::Controlled(mailbox) => Side::Controlled(mailbox.recv(self.address, Location::caller())),
            Side::Tokio(inlet) => Side::Tokio(Arriving { inlet, to: self.address, wording: self.network.wording() }),
        })
    }

    /// Receives the message that arrived first, without waiting: immediate. Where the network may change the order of messages,
    /// which of them arrives first is chosen when they are sent.
    ///
    /// # Panics
    /// As [`recv`](Self::recv).
    #[track_caller]
    pub fn try_recv(&mut self) -> Option<Envelope<M>> {
        match &mut self.inner {
            Side::Controlled(mailbox) => mailbox.try_recv(self.address, Location::caller()),
            Side::Tokio(inlet) => {
                let envelope = inlet.try_recv().ok()?.envelope;
                received(&envelope, self.address, self.network.wording());
                Some(envelope)
            }
        }
    }
}

/// Future of [`Endpoint::send`].
#[must_use = "futures do nothing unless awaited"]
pub struct SendTo<M>(Side<Sending<M>, Posting<M>>);

// The message is moved out, never pinned.
impl<M> Unpin for SendTo<M> {}

impl<M> fmt::Debug for SendTo<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendTo").finish_non_exhaustive()
    }
}

impl<M> Future for SendTo<M> {
    type Output = Result<(), SendError<M>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        match &mut self.get_mut().0 {
            Side::Controlled(sending) => sending.poll(cx),
            Side::Tokio(posting) => posting.poll(cx),
        }
    }
}

/// Future of [`Endpoint::recv`].
#[must_use = "futures do nothing unless awaited"]
pub struct RecvFrom<'a, M>(Side<Receiving<'a, M>, Arriving<'a, M>>);

impl<M> Unpin for RecvFrom<'_, M> {}

impl<M> fmt::Debug for RecvFrom<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvFrom").finish_non_exhaustive()
    }
}

impl<M> Future for RecvFrom<'_, M> {
    type Output = Envelope<M>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Envelope<M>> {
        let received = match &mut self.get_mut().0 {
            Side::Controlled(receiving) => task::ready!(receiving.poll(cx)),
            Side::Tokio(arriving) => task::ready!(arriving.poll(cx)),
        };
        // The network itself holds a sender, and the endpoint holds the network.
        Poll::Ready(received.unwrap_or_else(|| crate::bug!("an endpoint saw the end of its network")))
    }
}

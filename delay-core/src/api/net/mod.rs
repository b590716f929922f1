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
mod link;
mod outlet;
mod recorded;
#[cfg(feature = "tcp")]
pub mod transport;

use super::{
    backend::{self, Side},
    leaf::Leaf,
    node,
    payload::{Payload, View},
    sync::mailbox::{Core, Kind, Parcel},
};
pub use crate::world::{
    fault::{Faults, Mail},
    mailbox::Delivery,
};
use crate::{
    hash::{IdMap, Print},
    ids::{Object, Process},
    live::context::Context,
    world::{fault::Rule, op::Site},
};
pub use address::Address;
pub(super) use address::believing;
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

/// How the engine sees an envelope: its message by the user's payload, and always its sender.
struct Letter<M>(Payload<M>);

impl<M> Clone for Letter<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Letter<M> {}

impl<M> View<Envelope<M>> for Letter<M> {
    #[inline]
    fn content(&self, envelope: &Envelope<M>) -> Option<Print> {
        Some(envelope.from.print().and(self.0.content(&envelope.message)?))
    }

    fn copy(&self, envelope: &Envelope<M>) -> Option<Envelope<M>> {
        Some(Envelope { from: envelope.from, message: self.0.copy(&envelope.message)? })
    }

    fn copies(&self) -> bool {
        self.0.copies()
    }

    fn text(&self, envelope: &Envelope<M>) -> String {
        self.0.text(&envelope.message)
    }

    fn source(&self, envelope: &Envelope<M>) -> Option<&'static str> {
        Some(envelope.from.name())
    }
}

type Mailbox<M> = Core<Envelope<M>, Letter<M>>;

/// What leads to a name: where messages for it go, and its receiving end until the endpoint is bound.
struct Route<S, R> {
    to: S,
    unbound: Option<R>,
    /// What becomes of messages until then: they are kept before the first time, later that is up to the node that crashed.
    mail: Mail,
}

/// The receiving end of a controlled endpoint is its mailbox.
type Never = std::convert::Infallible;

type Routes<S, R> = Mutex<IdMap<usize, Route<S, R>>>;

struct Controlled<M> {
    execution: u64,
    routes: Routes<Arc<Mailbox<M>>, Never>,
}

struct Inner<M> {
    delivery: Delivery,
    letter: Letter<M>,
    /// What may happen to which messages, with the budget it is paid from.
    links: Vec<link::Known<M>>,
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
            Side::Controlled(Controlled { routes, execution }) => {
                let mailbox = route_to(routes, address);
                let is_free = backend::within(*execution, |context| context.world.bind(mailbox.object));
                is_free.then_some(Side::Controlled(mailbox))
            }
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
            Side::Controlled(Controlled { execution, routes }) => {
                let make = |context: &mut Context| {
                    let delivery = self.inner.delivery;
                    let kind =
                        Kind { delivery, capacity: u32::MAX, word: "endpoint", one_message: false, is_networked: true };
                    let to = Core::create(context, &kind, self.inner.letter, Some(address.name()));
                    Route { to, unbound: None, mail: Mail::Kept }
                };
                let mut routes = routes_of(routes);
                routes.entry(address.key()).or_insert_with(|| backend::within(*execution, make));
            }
            Side::Tokio(deployed) => deployed.name(address),
        }
        address
    }
}

impl<M> Network<M> {
    /// Which budget pays for what happens to a message.
    fn rule_for(&self, from: Address, to: Address, message: &M) -> Rule {
        let Some(known) = self.inner.links.iter().find(|known| known.link.matches(from, to, message)) else {
            return Rule::TEST;
        };
        crate::live::context::with(|context| {
            if let Some((_, matched)) = context.links.get_mut(known.number) {
                *matched = true;
            }
        });
        known.rule
    }
}

fn routes_of<S, R>(routes: &Routes<S, R>) -> MutexGuard<'_, IdMap<usize, Route<S, R>>> {
    routes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where an endpoint was bound and where it is used, if that is not one.
#[inline]
fn elsewhere(context: &Context, object: Object) -> Option<String> {
    let world = &context.world;
    if world.is_bound_here(object) {
        return None;
    }
    let place = |node: Option<Process>| match node {
        Some(root) => format!("on {}", context.labels.process(world, root)),
        None => "outside any node".to_owned(),
    };
    let (home, here) = (place(world.host(object)), place(world.node_of(world.actor())));
    Some(format!("was bound {home} and is used {here}"))
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
    inner: Side<Arc<Mailbox<M>>, Inlet<M>>,
}

impl<M> fmt::Debug for Endpoint<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.address).finish()
    }
}

impl<M> Drop for Endpoint<M> {
    fn drop(&mut self) {
        match (&mut self.inner, &self.network.inner.side) {
            (Side::Controlled(mailbox), _) => mailbox.drop_receiver(),
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

    /// A node's endpoint is of no use elsewhere: it ends with its node.
    #[track_caller]
    #[inline]
    fn refuse_elsewhere(&self) {
        if let Side::Controlled(mailbox) = &self.inner
            && let Some(told) = backend::within(mailbox.execution, |context| elsewhere(context, mailbox.object))
        {
            panic!("the endpoint {} {told}: bind a name where its messages are received", self.address);
        }
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
        let site = Location::caller();
        let rule = self.network.rule_for(self.address, to, &message);
        let parcel = Parcel::under(rule, Envelope { from: self.address, message });
        let inner = match &self.network.inner.side {
            Side::Controlled(Controlled { execution, routes }) => {
                Side::Controlled((route_to(routes, to), Leaf::new(*execution, site)))
            }
            Side::Tokio(deployed) => Side::Tokio(Posting::to(deployed, to)),
        };
        SendTo { parcel, inner }
    }

    /// Receives the next message: a scheduling point, and a choice where the delivery leaves one.
    ///
    /// # Panics
    /// If the task is not on the node where the endpoint was bound: the endpoint goes down with that node.
    #[track_caller]
    #[inline]
    pub fn recv(&mut self) -> RecvFrom<'_, M> {
        let site: Site = Location::caller();
        self.refuse_elsewhere();
        let inner = match &mut self.inner {
            Side::Controlled(mailbox) => Side::Controlled((&**mailbox, Leaf::new(mailbox.execution, site))),
            Side::Tokio(inlet) => Side::Tokio(Arriving { inlet, to: self.address, wording: self.network.wording() }),
        };
        RecvFrom { inner }
    }

    /// Receives the message that arrived first, without waiting: immediate. Where the network may change the order of messages,
    /// which of them arrives first is chosen when they are sent.
    ///
    /// # Panics
    /// As [`recv`](Self::recv).
    #[track_caller]
    pub fn try_recv(&mut self) -> Option<Envelope<M>> {
        self.refuse_elsewhere();
        match &mut self.inner {
            Side::Controlled(mailbox) => mailbox.receive_now(Location::caller()).ok(),
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
pub struct SendTo<M> {
    parcel: Parcel<Envelope<M>>,
    inner: Side<(Arc<Mailbox<M>>, Leaf), Posting<M>>,
}

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
        let Self { parcel, inner } = self.get_mut();
        match inner {
            Side::Controlled((mailbox, leaf)) => {
                mailbox.poll_send(leaf, parcel, cx).map_err(|envelope| SendError(envelope.message, Unsent::Dropped))
            }
            Side::Tokio(posting) => posting.poll(&mut parcel.value, cx),
        }
    }
}

/// Future of [`Endpoint::recv`].
#[must_use = "futures do nothing unless awaited"]
pub struct RecvFrom<'a, M> {
    inner: Side<(&'a Mailbox<M>, Leaf), Arriving<'a, M>>,
}

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
        let received = match &mut self.get_mut().inner {
            Side::Controlled((mailbox, leaf)) => task::ready!(mailbox.poll_receive(leaf, cx)),
            Side::Tokio(arriving) => task::ready!(arriving.poll(cx)),
        };
        // The network itself holds a sender, and the endpoint holds the network.
        Poll::Ready(received.unwrap_or_else(|| crate::bug!("an endpoint saw the end of its network")))
    }
}

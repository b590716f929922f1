//! Configuring a network: what may happen to which messages.

use super::{Address, Controlled, Delivery, Faults, Inner, Network, Side, outlet::Deployed};
use crate::{
    api::{backend, payload::Payload},
    world::fault::Kind,
};
use std::{fmt, sync::Arc};

type Predicate<M> = dyn Fn(Address, Address, &M) -> bool + Send + Sync;

/// Some of the messages of a network, and what may happen to them: with a budget of their own, instead of the test's.
///
/// ```
/// use delay_core::api::net::{Delivery, Faults, Link, Network};
///
/// let votes = Link::to("coordinator")
///     .when(|_, _, message: &&str| *message == "yes")
///     .faults(Faults::NONE.drop(1));
/// let net = Network::builder(Delivery::Fifo).link(votes).build();
/// # let _ = net;
/// ```
pub struct Link<M> {
    from: Option<String>,
    to: Option<String>,
    when: Option<Box<Predicate<M>>>,
    pub(super) faults: Faults,
}

impl<M> fmt::Debug for Link<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, when: _, faults } = self;
        f.debug_struct("Link").field("from", from).field("to", to).field("faults", faults).finish_non_exhaustive()
    }
}

impl<M> fmt::Display for Link<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, when, faults: _ } = self;
        f.write_str("link")?;
        if let Some(from) = from {
            write!(f, " from {from}")?;
        }
        if let Some(to) = to {
            write!(f, " to {to}")?;
        }
        if when.is_some() { f.write_str(" with a predicate") } else { Ok(()) }
    }
}

impl<M> Link<M> {
    /// All messages.
    #[must_use]
    pub fn any() -> Self {
        Self { from: None, to: None, when: None, faults: Faults::NONE }
    }

    /// What one endpoint sends to another.
    #[must_use]
    pub fn between(from: impl Into<String>, to: impl Into<String>) -> Self {
        Self { from: Some(from.into()), ..Self::to(to) }
    }

    /// What an endpoint sends.
    #[must_use]
    pub fn from(name: impl Into<String>) -> Self {
        Self { from: Some(name.into()), ..Self::any() }
    }

    /// What is sent to an endpoint.
    #[must_use]
    pub fn to(name: impl Into<String>) -> Self {
        Self { to: Some(name.into()), ..Self::any() }
    }

    /// Of these, the messages a predicate holds for. It must be a function of its arguments.
    #[must_use]
    pub fn when(mut self, predicate: impl Fn(Address, Address, &M) -> bool + Send + Sync + 'static) -> Self {
        self.when = Some(Box::new(predicate));
        self
    }

    /// What may happen to them. Without this nothing may.
    ///
    /// # Panics
    /// If nodes are to fail: a link has no nodes.
    #[must_use]
    #[track_caller]
    pub fn faults(mut self, faults: Faults) -> Self {
        let of_nodes = Kind::ALL.into_iter().find(|kind| !kind.is_of_messages() && faults.left(*kind) > 0);
        if let Some(kind) = of_nodes {
            panic!("a link cannot {}: give {0} to the test's faults(..), or a node's builder", kind.name());
        }
        self.faults = faults;
        self
    }

    /// Whether it speaks of a message.
    #[cfg_attr(not(feature = "controlled"), expect(dead_code, reason = "nothing goes wrong that is not real"))]
    pub(super) fn matches(&self, from: Address, to: Address, message: &M) -> bool {
        let is = |name: &Option<String>, address: Address| name.as_ref().is_none_or(|name| *name == address.name());
        is(&self.from, from) && is(&self.to, to) && self.when.as_ref().is_none_or(|when| when(from, to, message))
    }
}

/// Configures a network before it is made.
pub struct Builder<M> {
    pub(super) delivery: Delivery,
    pub(super) payload: Payload<M>,
    pub(super) links: Vec<Link<M>>,
}

impl<M> fmt::Debug for Builder<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("delivery", &self.delivery).field("links", &self.links).finish_non_exhaustive()
    }
}

impl<M> Builder<M> {
    /// What the engine may know of the messages.
    #[must_use]
    pub fn payload(mut self, payload: Payload<M>) -> Self {
        self.payload = payload;
        self
    }

    /// What may happen to some of the messages. The first link that matches a message decides.
    #[must_use]
    pub fn link(mut self, link: Link<M>) -> Self {
        self.links.push(link);
        self
    }

    /// Makes the network.
    ///
    /// # Panics
    /// If a link duplicates messages that cannot be copied, or lets messages overtake each other that have no order.
    #[track_caller]
    pub fn build(self) -> Network<M> {
        let Self { delivery, payload, links } = self;
        for link in &links {
            assert!(
                link.faults.left(Kind::Duplicate) == 0 || payload.copies(),
                "a link duplicates messages that cannot be copied: give the network a payload with `.cloned()`"
            );
            assert!(
                link.faults.left(Kind::Reorder) == 0 || delivery != Delivery::Unordered,
                "a link reorders messages of an unordered network: they arrive in any order already"
            );
        }
        let side = if backend::is_controlled() {
            Side::Controlled(Controlled::new(delivery, payload, links))
        } else {
            Side::Tokio(Deployed::default())
        };
        Network { inner: Arc::new(Inner { delivery, side }) }
    }
}

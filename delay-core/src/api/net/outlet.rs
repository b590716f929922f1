//! Outside a controlled execution: where a message goes that is sent to a name.
//!
//! Invariant: what is sent within the process never waits and never touches a socket.

#[cfg(feature = "tcp")]
use super::cluster::{Hosting, Lane, Put};
use super::{Address, Envelope, Mail, Route, Routes, SendError, Unsent, route_to, routes_of};
use crate::api::record::{self, Travel, Wording};
#[cfg(feature = "tcp")]
use std::{future::Future, pin::Pin, sync::Arc};
use std::{
    sync::OnceLock,
    task::{self, Poll},
};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// A message in an inbox. What came from another node gives its room back when it is taken out.
pub(super) struct Arrived<M> {
    pub(super) envelope: Envelope<M>,
    _room: Option<OwnedSemaphorePermit>,
}

impl<M> Arrived<M> {
    fn from_here(envelope: Envelope<M>) -> Self {
        Self { envelope, _room: None }
    }

    #[cfg(feature = "tcp")]
    pub(super) fn from_afar(envelope: Envelope<M>, room: OwnedSemaphorePermit) -> Self {
        Self { envelope, _room: Some(room) }
    }
}

/// The receiving end of an endpoint.
pub(super) type Inlet<M> = mpsc::UnboundedReceiver<Arrived<M>>;

/// Where messages for a name go.
pub(super) enum Outlet<M> {
    /// To an endpoint of this process.
    Here(mpsc::UnboundedSender<Arrived<M>>),
    /// To another node.
    #[cfg(feature = "tcp")]
    There(Arc<Lane<M>>),
}

impl<M> Clone for Outlet<M> {
    fn clone(&self) -> Self {
        match self {
            Self::Here(inbox) => Self::Here(inbox.clone()),
            #[cfg(feature = "tcp")]
            Self::There(lane) => Self::There(Arc::clone(lane)),
        }
    }
}

/// The names of a network that is not under test, and where they lead.
pub(super) struct Deployed<M> {
    pub(super) routes: Routes<Outlet<M>, Inlet<M>>,
    /// How its messages are recorded, once that was asked for.
    pub(super) wording: OnceLock<Wording<M>>,
    /// What this process is in a cluster. Then every name was made at the beginning.
    #[cfg(feature = "tcp")]
    pub(super) hosting: Option<Hosting>,
}

impl<M> Default for Deployed<M> {
    fn default() -> Self {
        Self {
            routes: Routes::default(),
            wording: OnceLock::new(),
            #[cfg(feature = "tcp")]
            hosting: None,
        }
    }
}

impl<M> Deployed<M> {
    /// Takes the receiving end of a name, if nobody has.
    #[track_caller]
    pub(super) fn bind(&self, address: Address) -> Option<Inlet<M>> {
        let (mut inlet, mail) = self.take(address)?;
        if mail == Mail::Lost {
            // Not under the lock: dropping a message is the program's code.
            while inlet.try_recv().is_ok() {}
        }
        Some(inlet)
    }

    /// The receiving end of a name, and what becomes of messages in it.
    #[track_caller]
    fn take(&self, address: Address) -> Option<(Inlet<M>, Mail)> {
        let mut routes = routes_of(&self.routes);
        let route = routes.get_mut(&address.key())?;
        #[cfg(feature = "tcp")]
        if let Outlet::There(lane) = &route.to {
            panic!("{address} is hosted by {}: bind a name on the node that hosts it in the cluster file", lane.node());
        }
        Some((route.unbound.take()?, route.mail))
    }

    /// Gives a receiving end back, for the name to be bound again; what is left is closed.
    pub(super) fn unbind(&self, address: Address, inlet: &mut Inlet<M>, mail: Mail) {
        if let Some(route) = routes_of(&self.routes).get_mut(&address.key()) {
            let (_, closed) = mpsc::unbounded_channel();
            (route.unbound, route.mail) = (Some(std::mem::replace(inlet, closed)), mail);
        }
    }

    /// Makes a name known.
    #[track_caller]
    pub(super) fn name(&self, address: Address) {
        let mut routes = routes_of(&self.routes);
        #[cfg(feature = "tcp")]
        assert!(
            self.hosting.is_none() || routes.contains_key(&address.key()),
            "no node hosts {address}: put the name into `hosts` of a node in the cluster file"
        );
        routes.entry(address.key()).or_insert_with(|| {
            let (inbox, unbound) = mpsc::unbounded_channel();
            Route { to: Outlet::Here(inbox), unbound: Some(unbound), mail: Mail::Kept }
        });
    }
}

/// A message on its way out.
pub(super) struct Posting<M> {
    outlet: Outlet<M>,
    to: Address,
    wording: Option<Wording<M>>,
    /// Invariant: none once it was sent, or waits as bytes.
    envelope: Option<Envelope<M>>,
    /// While it waits for room in the queue of a node.
    #[cfg(feature = "tcp")]
    waiting: Option<Pin<Box<dyn Future<Output = ()> + Send + Sync>>>,
}

impl<M> Posting<M> {
    #[track_caller]
    pub(super) fn to(deployed: &Deployed<M>, to: Address, envelope: Envelope<M>) -> Self {
        Self {
            outlet: route_to(&deployed.routes, to),
            to,
            wording: deployed.wording.get().copied(),
            envelope: Some(envelope),
            #[cfg(feature = "tcp")]
            waiting: None,
        }
    }

    #[cfg_attr(not(feature = "tcp"), expect(unused_variables, reason = "within a process nothing waits"))]
    pub(super) fn poll(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<(), SendError<M>>> {
        #[cfg(feature = "tcp")]
        if let Some(waiting) = &mut self.waiting {
            task::ready!(waiting.as_mut().poll(cx));
            self.waiting = None;
            return Poll::Ready(Ok(()));
        }
        let Some(envelope) = self.envelope.take() else {
            panic!("a future of delay was polled after it had completed")
        };
        // Before anybody can receive it.
        record::message(Travel::Sent, self.wording, envelope.from, self.to, &envelope.message);
        match &self.outlet {
            Outlet::Here(inbox) => {
                let sent = inbox.send(Arrived::from_here(envelope));
                Poll::Ready(sent.map_err(|error| SendError(error.0.envelope.message, Unsent::Dropped)))
            }
            #[cfg(feature = "tcp")]
            Outlet::There(lane) => match lane.put(&envelope) {
                Ok(Put::Done) => Poll::Ready(Ok(())),
                Ok(Put::Waits(mut waiting)) => {
                    if waiting.as_mut().poll(cx).is_ready() {
                        return Poll::Ready(Ok(()));
                    }
                    self.waiting = Some(waiting);
                    Poll::Pending
                }
                Err(unsent) => Poll::Ready(Err(SendError(envelope.message, unsent))),
            },
        }
    }
}

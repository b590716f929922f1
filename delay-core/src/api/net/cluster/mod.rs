//! Networks between processes: the same protocol source that is tested, deployed.
//!
//! A [`Cluster`] says which node hosts which names. A node's [`Network`] delivers within the process what is sent to a name hosted here, and
//! carries everything else to the node that hosts it, over a [`Transport`]. Each node opens one connection to each other one, for what it
//! sends; the other way there are only heartbeats.
//!
//! What the tests' fault model says of it: a message arrives at most once and messages of a sender to a receiver in order, so with
//! [`Delivery::PerSender`] there is neither `duplicate` nor `reorder`. `drop`: what was on its way when a connection failed is lost, and what finds no
//! room in the queue of a node that is not connected. `partition`: as long as two nodes do not reach each other, what is sent waits up to
//! that bound, and arrives late, or is lost. `crash`: what was in the inboxes and queues of a process is gone with it.
//!
//! ```
//! use delay_core::api::net::{Delivery, Network, cluster::{Cluster, Limits}, transport::Tcp};
//! use std::time::Duration;
//! use tokio::net::TcpListener;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Two nodes in one process, on ports that are free; a deployed one calls Cluster::read and Host::network.
//! let (alpha, beta) = (TcpListener::bind("127.0.0.1:0").await?, TcpListener::bind("127.0.0.1:0").await?);
//! let cluster = Cluster::new(Limits::default())?
//!     .node("alpha", alpha.local_addr()?.to_string(), ["a"])?
//!     .node("beta", beta.local_addr()?.to_string(), ["b"])?;
//! let alpha: Network<String> = cluster.host("alpha")?.network_over(Tcp::from(alpha), Delivery::PerSender)?;
//! let beta: Network<String> = cluster.host("beta")?.network_over(Tcp::from(beta), Delivery::PerSender)?;
//!
//! // From here on nobody knows of nodes.
//! let (a, mut b) = (alpha.endpoint("a"), beta.endpoint("b"));
//! a.send(alpha.address("b"), "hello".to_owned()).await?;
//! let got = b.recv().await;
//! assert_eq!((got.from.name(), got.message.as_str()), ("a", "hello"));
//!
//! alpha.shutdown(Duration::from_secs(5)).await?;
//! # Ok(())
//! # }
//! ```

mod arrivals;
mod error;
mod file;
mod limits;
mod peer;
mod queue;
#[cfg(feature = "tls")]
mod tls;
mod wire;

use super::{
    Address, Delivery, Inner, Mail, Network, Route, Side, outlet,
    outlet::{Deployed, Outlet},
    transport::{Tcp, Transport},
};
use crate::api::{backend, random::entropy};
use arrivals::{Arrivals, Inbox, Other};
pub use error::{ClusterError, Unflushed};
pub use file::{Cluster, Tls};
pub use limits::Limits;
use peer::Peer;
use queue::Queue;
pub(super) use queue::{Lane, Put};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{Semaphore, mpsc, watch},
    time::{Instant, timeout_at},
};
use tokio_util::task::AbortOnDropHandle;

/// This process as a node of a cluster: what its network is made from.
#[derive(Clone, Debug)]
pub struct Host {
    cluster: Cluster,
    /// Invariant: one of the cluster's.
    node: String,
}

impl Host {
    /// The names that this node hosts.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.cluster.nodes[&self.node].hosts.iter().map(String::as_str)
    }

    /// The node's network, over TCP. Connections are accepted on loopback, unless the cluster file says `listen`.
    ///
    /// Connections and what runs them end with the last handle of the network; [`Network::shutdown`] waits for what is still to be sent.
    ///
    /// # Errors
    /// If connections cannot be accepted there, or nodes cannot deliver in that order ([`Delivery::Fifo`]).
    ///
    /// # Panics
    /// Outside a tokio runtime with I/O and time.
    pub async fn network<M>(self, delivery: Delivery) -> Result<Network<M>, ClusterError>
    where
        M: Serialize + DeserializeOwned + Send + 'static,
    {
        if backend::is_controlled() {
            return Err(ClusterError::UnderTest);
        }
        let address = self.cluster.nodes[&self.node].listens_at(&self.node)?;
        let listening = Tcp::listen(&address).await;
        let tcp = listening.map_err(|error| ClusterError::Listen { address: address.clone(), error })?;
        if self.cluster.tls.is_none() && !tcp.is_on_loopback() {
            tracing::warn!(
                node = self.node,
                address,
                "connections are accepted from elsewhere, and neither encrypted nor authenticated: the cluster file has no table `[tls]`"
            );
        }
        self.network_over(tcp, delivery)
    }

    /// The node's network, over a transport; with TLS on top if the cluster asks for it.
    ///
    /// # Errors
    /// If nodes cannot deliver in that order ([`Delivery::Fifo`]), or certificates and keys cannot be used.
    ///
    /// # Panics
    /// Outside a tokio runtime with time, and with what the transport needs.
    pub fn network_over<M, T>(self, transport: T, delivery: Delivery) -> Result<Network<M>, ClusterError>
    where
        M: Serialize + DeserializeOwned + Send + 'static,
        T: Transport,
    {
        if backend::is_controlled() {
            return Err(ClusterError::UnderTest);
        }
        if delivery == Delivery::Fifo {
            return Err(ClusterError::Delivery(delivery));
        }
        match &self.cluster.tls {
            None => Ok(self.run(transport, delivery)),
            #[cfg(feature = "tls")]
            Some(table) => {
                let transport = tls::Secured::new(transport, &self.cluster, table, &self.node)?;
                Ok(self.run(transport, delivery))
            }
            // Never silently without.
            #[cfg(not(feature = "tls"))]
            Some(_) => Err(ClusterError::NoTls),
        }
    }

    fn run<M, T>(self, transport: T, delivery: Delivery) -> Network<M>
    where
        M: Serialize + DeserializeOwned + Send + 'static,
        T: Transport,
    {
        let process = entropy();
        let (closing, closes) = watch::channel(false);
        let transport = Arc::new(transport);
        let mut peers = Vec::new();
        let mut queues = BTreeMap::new();
        let mut others: BTreeMap<String, Other> = BTreeMap::new();
        for (node, known) in self.cluster.nodes.iter().filter(|(node, _)| **node != self.node) {
            let (queue, drain) = Queue::new(node, &self.cluster.limits);
            queues.insert(node.as_str(), queue);
            let peer = Peer {
                transport: Arc::clone(&transport),
                here: self.node.clone(),
                process,
                node: node.clone(),
                address: known.address.clone(),
                limits: self.cluster.limits.clone(),
                drain,
                closing: closes.clone(),
                is_up: Arc::clone(&others.entry(node.clone()).or_default().is_up),
            };
            peers.push((node.clone(), AbortOnDropHandle::new(tokio::spawn(peer.run()))));
        }
        let (routes, arrivals) = self.routes::<M>(&queues, others);
        let listener = AbortOnDropHandle::new(tokio::spawn(arrivals::accept(Arc::new(arrivals), transport)));
        let running = Mutex::new(Some(Running { peers, listener }));
        let hosting = Some(Hosting { closing, running });
        let deployed = Deployed { routes: Mutex::new(routes), wording: OnceLock::new(), hosting };
        Network { inner: Arc::new(Inner { delivery, side: Side::Tokio(deployed) }) }
    }

    /// Every name of the cluster, and where it leads; and the inboxes of this node for the others.
    fn routes<M: Serialize>(
        &self,
        queues: &BTreeMap<&str, Arc<Queue>>,
        mut others: BTreeMap<String, Other>,
    ) -> (AllRoutes<M>, Arrivals<M>) {
        let limits = &self.cluster.limits;
        let mut routes = AllRoutes::default();
        let mut inboxes = BTreeMap::new();
        for (name, node) in self.cluster.homes() {
            let address = Address::of(name);
            let route = if let Some(queue) = queues.get(node) {
                others.entry(node.to_owned()).or_default().hosts.insert(name.to_owned(), address);
                Route { to: Outlet::There(Arc::new(Lane::new(queue, address))), unbound: None, mail: Mail::Kept }
            } else {
                let (arrived, unbound) = mpsc::unbounded_channel();
                let room = Arc::new(Semaphore::new(limits.inbox_bytes_max));
                inboxes.insert(name.to_owned(), Inbox { address, arrived: arrived.clone(), room });
                Route { to: Outlet::Here(arrived), unbound: Some(unbound), mail: Mail::Kept }
            };
            routes.insert(address.key(), route);
        }
        let (here, limits) = (self.node.clone(), limits.clone());
        (routes, Arrivals { here, limits, inboxes, others })
    }
}

type AllRoutes<M> = crate::hash::IdMap<usize, Route<Outlet<M>, outlet::Inlet<M>>>;

/// What runs for a node's network. Dropped, it ends at once.
pub(super) struct Hosting {
    closing: watch::Sender<bool>,
    /// Until it is shut down.
    running: Mutex<Option<Running>>,
}

struct Running {
    peers: Vec<(String, AbortOnDropHandle<()>)>,
    listener: AbortOnDropHandle<()>,
}

impl fmt::Debug for Hosting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hosting").finish_non_exhaustive()
    }
}

impl<M> Network<M> {
    /// Sends what is queued for other nodes, and closes all connections. What is sent to them later is lost.
    ///
    /// What was sent has then reached their processes; whether anybody receives it there is another matter. A network within one
    /// process has nothing to do here.
    ///
    /// # Errors
    /// The nodes to which not everything could be sent in time.
    pub async fn shutdown(&self, within: Duration) -> Result<(), Unflushed> {
        let Side::Tokio(Deployed { hosting: Some(hosting), .. }) = &self.inner.side else { return Ok(()) };
        let running = hosting.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Running { peers, listener }) = running else { return Ok(()) };
        hosting.closing.send_replace(true);
        let deadline = Instant::now() + within;
        let mut nodes = Vec::new();
        for (node, peer) in peers {
            if timeout_at(deadline, peer).await.is_err() {
                nodes.push(node);
            }
        }
        // Once this returns, the address is free.
        listener.abort();
        let _ = listener.await;
        if nodes.is_empty() { Ok(()) } else { Err(Unflushed { nodes, within }) }
    }
}

/// `cargo test -p delay-core --features tcp --lib cluster`
#[cfg(all(test, not(feature = "tls")))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_without_tls_refuses_a_cluster_with_it() {
        let text = "[tls]\nauthority = 'a'\ncertificate = 'b'\nkey = 'c'\n[node.alpha]\naddress = '127.0.0.1:7001'\nhosts = ['a']";
        let host = text.parse::<Cluster>().and_then(|cluster| cluster.host("alpha")).expect("it is a cluster");
        let made = host.network_over::<u32, _>(Tcp::listen("127.0.0.1:0").await.expect("free"), Delivery::PerSender);
        assert!(matches!(made, Err(ClusterError::NoTls)), "{made:?}");
    }
}

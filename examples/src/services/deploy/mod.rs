//! Services between processes: who is who, the roles of a node, the connection of a client.
//!
//! The cluster file says which node hosts which names and where it is reached; the services file says what those names are.
//!
//! ```toml
//! protocol = "chain"       # or "paxos"
//! service = "table"        # or "lists", "commit"
//! tick_ms = 50             # how often a server is woken; may be left out, as the next
//! patience_ticks = 20      # so long may a replica be silent before it is suspected
//!
//! [group.table]            # a replicated machine; "commit" has several, each a participant
//! replicas = ["r1", "r2", "r3"]   # from head to tail, at first; what is added later goes to the end
//! master = "master"        # of a chain, and of nothing else
//! dispatchers = ["d1"]     # each client asks one of them
//! ```

mod file;

use super::{
    MessageOf,
    chain::{self, Master},
    client::{Client, Patience},
    clock::Ticks,
    dispatcher::Dispatcher,
    machine::{HashTable, Lists, Machine, Participant},
    multi_paxos,
    replica::{self, Group, Id, Settings, Status},
};
use delay::{
    net::{
        Address, Delivery, Endpoint, Network,
        cluster::{Cluster, Unflushed},
    },
    node::Node,
    time::timeout,
};
pub use file::{DeployError, Replication, Service, Services};
use std::{
    io,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::signal;

/// Messages that a replica deals with at once, at most.
const MESSAGES_MAX: usize = 1 << 10;

/// Slots that a leader of Multi-Paxos proposes in at once.
const WINDOW: usize = 4;

/// A machine with a service's name.
pub trait Served: Machine {
    /// Which service it is.
    const SERVICE: Service;
}

impl Served for HashTable {
    const SERVICE: Service = Service::Table;
}

impl Served for Lists {
    const SERVICE: Service = Service::Lists;
}

impl Served for Participant {
    const SERVICE: Service = Service::Commit;
}

/// The names of a group as addresses.
fn group_of<M: Machine>(net: &Network<MessageOf<M>>, group: &file::Group) -> Group {
    let addresses = |names: &[String]| names.iter().map(|name| net.address(name)).collect();
    Group { replicas: addresses(&group.replicas), dispatchers: addresses(&group.dispatchers) }
}

/// Takes on the roles of a node, each as a node of its own: its stores are in a directory of its name.
///
/// They run until the process ends.
///
/// # Errors
/// If the node is none of the cluster, or a file does not say what is needed.
pub async fn serve<M: Served>(
    cluster: &Cluster,
    services: &Services,
    node: &str,
) -> Result<Network<MessageOf<M>>, DeployError> {
    services.check(cluster)?;
    let host = cluster.host(node)?;
    let names: Vec<String> = host.names().map(str::to_owned).collect();
    let net: Network<MessageOf<M>> = host.network(Delivery::PerSender).await?;
    let ticks = Ticks::every(services.tick());
    let patience = services.patience_ticks;
    let settings = Settings { ticks, messages_max: MESSAGES_MAX };
    for described in services.groups() {
        let group = group_of::<M>(&net, described);
        for name in &names {
            let (net, group, at) = (net.clone(), group.clone(), name.clone());
            if described.dispatchers.contains(name) {
                Node::start(name.clone(), move || {
                    Dispatcher::<M>::new(net.endpoint(&at), group.replicas.clone()).serve(ticks)
                });
            } else if described.master.as_ref() == Some(name) {
                Node::start(name.clone(), move || {
                    Master::<M>::new(net.endpoint(&at), group.clone(), patience).serve(ticks)
                });
            } else if let Some(id) = group.id_of(net.address(name)) {
                let master = described.master.as_ref().map(|master| net.address(master));
                start_replica::<M>(net, id, group, master, patience, settings);
            }
        }
    }
    Ok(net)
}

/// A replica: of a chain, if there is a master.
fn start_replica<M: Served>(
    net: Network<MessageOf<M>>,
    id: Id,
    group: Group,
    master: Option<Address>,
    patience: u32,
    settings: Settings,
) {
    let address = group.replicas[usize::from(id)];
    Node::start(address.name(), move || {
        let (endpoint, group) = (net.endpoint(address.name()), group.clone());
        async move {
            if let Some(master) = master {
                let replica = chain::Replica::<M>::new(id, group, master, chain::Bug::None);
                replica::run(endpoint, replica, settings).await;
            } else {
                let replica = multi_paxos::Replica::<M>::new(id, group, WINDOW, patience, multi_paxos::Bug::None);
                replica::run(endpoint, replica, settings).await;
            }
        }
    });
}

/// Once the process is told to stop: by ctrl-c or SIGTERM.
///
/// # Errors
/// If the system does not let it listen for that.
pub async fn stopped() -> io::Result<()> {
    #[cfg(unix)]
    {
        let mut terminated = signal::unix::signal(signal::unix::SignalKind::terminate())?;
        tokio::select! {
            stopped = signal::ctrl_c() => stopped,
            _ = terminated.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    {
        signal::ctrl_c().await
    }
}

/// Asks replicas how far they are.
#[derive(Debug)]
pub struct Observer<M: Served> {
    endpoint: Endpoint<MessageOf<M>>,
    replicas: Vec<Address>,
}

impl<M: Served> Observer<M> {
    /// How far each of the replicas is, by name; none if it has not answered in time.
    pub async fn look(&mut self, within: Duration) -> Vec<(&'static str, Option<Status>)> {
        while self.endpoint.try_recv().is_some() {}
        let mut seen: Vec<_> = self.replicas.iter().map(|replica| (replica.name(), None)).collect();
        for replica in &self.replicas {
            // One that is gone does not answer.
            let _ = self.endpoint.send(*replica, MessageOf::<M>::Ask).await;
        }
        let all = async {
            while seen.iter().any(|(_, status)| status.is_none()) {
                let envelope = self.endpoint.recv().await;
                if let MessageOf::<M>::Status(status) = envelope.message
                    && let Some((_, known)) = seen.iter_mut().find(|(name, _)| *name == envelope.from.name())
                {
                    *known = Some(status);
                }
            }
        };
        let _ = timeout(within, all).await;
        seen
    }
}

/// A client's process.
#[derive(Debug)]
pub struct Connection<M: Served> {
    net: Network<MessageOf<M>>,
    services: Services,
    names: Vec<String>,
}

impl<M: Served> Connection<M> {
    /// Becomes a node of the cluster, that hosts clients.
    ///
    /// # Errors
    /// If the node is none of the cluster, the services are others, or a file does not say what is needed.
    pub async fn open(cluster: &Cluster, services: &Services, node: &str) -> Result<Self, DeployError> {
        services.check(cluster)?;
        if services.service != M::SERVICE {
            return Err(DeployError::Service { asked: M::SERVICE, described: services.service });
        }
        let host = cluster.host(node)?;
        let names = host.names().map(str::to_owned).collect();
        let net = host.network(Delivery::PerSender).await?;
        Ok(Self { net, services: services.clone(), names })
    }

    /// A client of a group, at an endpoint that this node hosts. It takes the time of day for its session: a clock that is set back
    /// makes it wait in vain.
    ///
    /// # Errors
    /// If this node does not host the name, or there is no such group.
    ///
    /// # Panics
    /// If there is a client of this name already.
    pub fn client(&self, name: &str, group: &str, patience: Patience) -> Result<Client<M>, DeployError> {
        let endpoint = self.bind(name)?;
        let group = group_of::<M>(&self.net, self.services.group(group)?);
        // Clients spread over the dispatchers.
        let place = name.bytes().map(usize::from).sum::<usize>() % group.dispatchers.len();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let session = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        Ok(Client::new(endpoint, place as u16, group.dispatchers[place], session, patience))
    }

    /// Somebody who asks the replicas of a group how far they are, at an endpoint that this node hosts.
    ///
    /// # Errors
    /// If this node does not host the name, or there is no such group.
    ///
    /// # Panics
    /// If the name is in use already.
    pub fn observer(&self, name: &str, group: &str) -> Result<Observer<M>, DeployError> {
        let group = group_of::<M>(&self.net, self.services.group(group)?);
        Ok(Observer { endpoint: self.bind(name)?, replicas: group.replicas })
    }

    fn bind(&self, name: &str) -> Result<Endpoint<MessageOf<M>>, DeployError> {
        if self.names.iter().any(|known| known == name) {
            return Ok(self.net.endpoint(name));
        }
        Err(DeployError::NotHosted { name: name.to_owned(), known: self.names.clone() })
    }

    /// Sends what is still to be sent, and leaves the cluster.
    ///
    /// # Errors
    /// The nodes to which not everything could be sent in time.
    pub async fn close(self, within: Duration) -> Result<(), Unflushed> {
        self.net.shutdown(within).await
    }
}

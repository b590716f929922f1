//! A cluster of the services on this machine: each replica, the masters and the dispatchers are processes, on loopback.
//!
//! Invariant: no process outlives the value, however that ends but by a `kill -9` of the judge itself.

use crate::process::Running;
use delay::net::cluster::Cluster;
use delay_examples::services::deploy::{Replication, Service, Services};
use std::{
    collections::BTreeMap,
    env,
    error::Error,
    fmt::{self, Write},
    fs, io,
    net::TcpListener,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// The node of the cluster that the judge's clients are on.
pub(crate) const CLIENTS: &str = "clients";
/// Most clients; there is a name for one more, who reads at the end.
pub(crate) const CLIENTS_MAX: u64 = 1_000;
const NAMES: usize = CLIENTS_MAX as usize + 1;
/// Ports that the system does not give to outgoing connections: else one of those might have the port of a process that is about to start
/// again.
const PORTS: std::ops::Range<u16> = 10_000..32_000;
/// Restarted nodes are to be found soon, and dead ones to be noticed.
const LIMITS: &str = "[limits]\nheartbeat_ms = 250\nsilence_ms = 1000\nretry_max_ms = 200\n";
/// A replica is suspected when it has been silent for half a second.
const PATIENCE: &str = "tick_ms = 20\npatience_ticks = 25\n";

/// What is deployed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) service: Service,
    pub(crate) protocol: Replication,
    /// Of each group.
    pub(crate) replicas: usize,
}

impl Shape {
    /// For people.
    pub(crate) fn service_name(&self) -> &'static str {
        match self.service {
            Service::Table => "hash table",
            Service::Lists => "lists",
            Service::Commit => "atomic commit",
        }
    }

    /// How many replicas of a group may be down.
    pub(crate) fn failures(&self) -> usize {
        match self.protocol {
            Replication::Chain => self.replicas - 1,
            Replication::Paxos => (self.replicas - 1) / 2,
        }
    }

    /// Accounts are in two groups of replicas, with transfers between them.
    fn groups(&self) -> &'static [&'static str] {
        match self.service {
            Service::Table | Service::Lists => &["g"],
            Service::Commit => &["a", "b"],
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol = match self.protocol {
            Replication::Chain => "chain replication",
            Replication::Paxos => "Multi-Paxos",
        };
        write!(f, "{} over {protocol}, {} replicas", self.service_name(), self.replicas)
    }
}

/// A client has a name for each group.
pub(crate) fn client_name(number: usize, group: &str) -> String {
    format!("client{number}-{group}")
}

/// From which the judge looks at the replicas of a group.
pub(crate) fn watch_name(group: &str) -> String {
    format!("watch-{group}")
}

/// Processes, and what they need.
#[derive(Debug)]
pub(crate) struct Deployment {
    /// By node. Before `dir`, so that they have ended when that is removed.
    running: BTreeMap<String, Running>,
    shape: Shape,
    /// By group: nodes that are replicas, and nothing else, in the order of their ids.
    replicas: BTreeMap<&'static str, Vec<String>>,
    cluster: Cluster,
    services: Services,
    program: PathBuf,
    dir: TempDir,
}

impl Deployment {
    /// Once all processes are ready.
    pub(crate) fn start(shape: &Shape) -> Result<Self, Box<dyn Error>> {
        let program = env::current_exe()?.with_file_name(format!("services{}", env::consts::EXE_SUFFIX));
        if !program.exists() {
            let missing = program.display();
            return Err(format!(
                "{missing} is not there: build it with `cargo build --release -p delay-examples --bins`"
            )
            .into());
        }
        let dir = TempDir::with_prefix("judge-")?;
        let roles = Roles::of(shape);
        let file = |name: &str, text: String| {
            let path = dir.path().join(name);
            fs::write(&path, text).map(|()| path)
        };
        let cluster = Cluster::read(file("cluster.toml", roles.cluster_file()?)?)?;
        let services = Services::read(file("services.toml", roles.services_file(shape)?)?)?;
        let replicas = roles.groups.iter().map(|group| (group.name, group.replicas.clone())).collect();
        let mut deployment =
            Self { running: BTreeMap::new(), shape: *shape, replicas, cluster, services, program, dir };
        for node in roles.nodes().into_keys().filter(|node| node != CLIENTS) {
            deployment.restart(&node)?;
        }
        Ok(deployment)
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// By group.
    pub(crate) fn replicas(&self) -> &BTreeMap<&'static str, Vec<String>> {
        &self.replicas
    }

    pub(crate) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    pub(crate) fn services(&self) -> &Services {
        &self.services
    }

    /// A place for a file.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// As `kill -9`.
    pub(crate) fn kill(&mut self, node: &str) -> Result<(), String> {
        self.running.remove(node).ok_or_else(|| format!("{node} does not run"))?.kill()
    }

    /// Removes what a node has stored.
    ///
    /// # Panics
    /// If it runs.
    pub(crate) fn forget(&self, node: &str) -> io::Result<()> {
        assert!(!self.running.contains_key(node), "{node} runs");
        fs::remove_dir_all(self.path(&format!("{node}.data")))
    }

    /// Starts a node, the first time or from what it has stored; once it is ready.
    pub(crate) fn restart(&mut self, node: &str) -> Result<(), Box<dyn Error>> {
        let path = |name: &str| self.path(name).display().to_string();
        let data = path(&format!("{node}.data"));
        let arguments = [
            "node",
            "--cluster",
            &path("cluster.toml"),
            "--services",
            &path("services.toml"),
            "--node",
            node,
            "--data",
            &data,
        ];
        let running = Running::start(&self.program, &arguments.map(str::to_owned), node, self.dir.path())?;
        self.running.insert(node.to_owned(), running);
        Ok(())
    }

    /// # Errors
    /// If a process has ended by itself, with what it said.
    pub(crate) fn are_alive(&mut self) -> Result<(), String> {
        self.running.values_mut().try_for_each(Running::is_alive)
    }

    /// Nothing is removed at the end: where it is.
    pub(crate) fn keep(&mut self) -> &Path {
        self.dir.disable_cleanup(true);
        self.dir.path()
    }
}

struct Roles {
    groups: Vec<Group>,
}

struct Group {
    name: &'static str,
    replicas: Vec<String>,
    master: Option<String>,
    dispatcher: String,
}

impl Roles {
    fn of(shape: &Shape) -> Self {
        let group = |name: &&'static str| Group {
            name,
            replicas: (1..=shape.replicas).map(|replica| format!("{name}{replica}")).collect(),
            master: (shape.protocol == Replication::Chain).then(|| format!("{name}-master")),
            dispatcher: format!("{name}-dispatcher"),
        };
        Self { groups: shape.groups().iter().map(group).collect() }
    }

    /// What each hosts: a replica, all masters, all dispatchers, or the clients and who looks at the replicas.
    fn nodes(&self) -> BTreeMap<String, Vec<String>> {
        let mut nodes = BTreeMap::new();
        for group in &self.groups {
            nodes.extend(group.replicas.iter().map(|replica| (replica.clone(), vec![replica.clone()])));
            nodes.entry("dispatchers".to_owned()).or_default().push(group.dispatcher.clone());
            if let Some(master) = &group.master {
                nodes.entry("masters".to_owned()).or_default().push(master.clone());
            }
        }
        let clients =
            |group: &Group| (0..NAMES).map(|number| client_name(number, group.name)).chain([watch_name(group.name)]);
        nodes.insert(CLIENTS.to_owned(), self.groups.iter().flat_map(clients).collect());
        nodes
    }

    fn cluster_file(&self) -> Result<String, Box<dyn Error>> {
        let mut text = LIMITS.to_owned();
        let mut ports = free_ports();
        for (node, hosts) in self.nodes() {
            let port = ports.next().ok_or("this machine has no free port")?;
            writeln!(text, "[node.{node}]\naddress = \"127.0.0.1:{port}\"\nhosts = {hosts:?}")?;
        }
        Ok(text)
    }

    fn services_file(&self, shape: &Shape) -> Result<String, fmt::Error> {
        let Shape { service, protocol, replicas: _ } = shape;
        let mut text = format!("protocol = \"{protocol}\"\nservice = \"{service}\"\n{PATIENCE}");
        for Group { name, replicas, master, dispatcher } in &self.groups {
            writeln!(text, "[group.{name}]\nreplicas = {replicas:?}\ndispatchers = [{dispatcher:?}]")?;
            if let Some(master) = master {
                writeln!(text, "master = {master:?}")?;
            }
        }
        Ok(text)
    }
}

/// Ports that nobody listens on, from a place on that differs from run to run.
fn free_ports() -> impl Iterator<Item = u16> {
    let from = fastrand::u16(PORTS);
    (from..PORTS.end).chain(PORTS.start..from).filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
}

//! The services file: what the names of a cluster are.

use clap::ValueEnum;
use delay::net::cluster::{Cluster, ClusterError};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    error, fmt, fs, io,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

/// What replicates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Replication {
    /// Chain replication: n + 1 replicas for n failures, and a master.
    Chain,
    /// Multi-Paxos: 2n + 1 replicas for n failures.
    Paxos,
}

impl fmt::Display for Replication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Chain => "chain",
            Self::Paxos => "paxos",
        })
    }
}

/// What is replicated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    /// A hash table.
    Table,
    /// Lists.
    Lists,
    /// Participants of two-phase commit.
    Commit,
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Table => "table",
            Self::Lists => "lists",
            Self::Commit => "commit",
        })
    }
}

/// A replicated machine: the names of those that take part in it.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    pub(super) replicas: Vec<String>,
    pub(super) master: Option<String>,
    pub(super) dispatchers: Vec<String>,
}

/// What the names of a cluster are: the same on every node.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Services {
    /// What replicates.
    pub protocol: Replication,
    /// What is replicated.
    pub service: Service,
    #[serde(default = "tick_ms")]
    tick_ms: u64,
    /// For so many ticks a replica may be silent before it is suspected.
    #[serde(default = "patience_ticks")]
    pub patience_ticks: u32,
    #[serde(default, rename = "group")]
    groups: BTreeMap<String, Group>,
}

fn tick_ms() -> u64 {
    50
}

fn patience_ticks() -> u32 {
    20
}

/// Why a node cannot take on its roles.
#[derive(Debug)]
#[non_exhaustive]
pub enum DeployError {
    /// The services file cannot be read.
    Unreadable(PathBuf, io::Error),
    /// The services file does not say what is needed.
    Described(String),
    /// The cluster has something against it.
    Cluster(ClusterError),
    /// The file describes another service than the client is of.
    Service {
        /// What the client is of.
        asked: Service,
        /// What there is.
        described: Service,
    },
    /// A client's name is not hosted by its node.
    NotHosted {
        /// Which.
        name: String,
        /// What it hosts.
        known: Vec<String>,
    },
    /// There is no group of this name.
    NoGroup {
        /// Which.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
}

impl fmt::Display for DeployError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, error) => write!(f, "the services file {} cannot be read: {error}", path.display()),
            Self::Described(problem) => write!(f, "the services file: {problem}"),
            Self::Cluster(error) => error.fmt(f),
            Self::Service { asked, described } => {
                write!(f, "the services file describes the service {described}, not {asked}")
            }
            Self::NotHosted { name, known } => write!(
                f,
                "the node does not host {name}: it hosts {}; add the name to its `hosts` in the cluster file",
                known.join(", ")
            ),
            Self::NoGroup { name, known } => {
                write!(f, "the services file has no group {name}: its groups are {}", known.join(", "))
            }
        }
    }
}

impl error::Error for DeployError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Unreadable(_, error) => Some(error),
            Self::Cluster(error) => Some(error),
            Self::Described(_) | Self::Service { .. } | Self::NotHosted { .. } | Self::NoGroup { .. } => None,
        }
    }
}

impl From<ClusterError> for DeployError {
    fn from(error: ClusterError) -> Self {
        Self::Cluster(error)
    }
}

impl Services {
    /// Reads a services file.
    ///
    /// # Errors
    /// If it cannot be read, or contradicts itself.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, DeployError> {
        let path = path.as_ref();
        fs::read_to_string(path).map_err(|error| DeployError::Unreadable(path.to_owned(), error))?.parse()
    }

    /// How often a server is woken.
    pub fn tick(&self) -> Duration {
        Duration::from_millis(self.tick_ms)
    }

    pub(super) fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.values()
    }

    pub(super) fn group(&self, name: &str) -> Result<&Group, DeployError> {
        self.groups.get(name).ok_or_else(|| {
            let known = self.groups.keys().cloned().collect();
            DeployError::NoGroup { name: name.to_owned(), known }
        })
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.groups.values().flat_map(|group| group.replicas.iter().chain(&group.master).chain(&group.dispatchers))
    }

    /// Refuses a description of names that the cluster does not have.
    pub(super) fn check(&self, cluster: &Cluster) -> Result<(), DeployError> {
        match self.names().find(|name| cluster.node_of(name).is_none()) {
            None => Ok(()),
            Some(name) => Err(DeployError::Described(format!(
                "it speaks of {name}, which no node of the cluster file hosts: add it to the `hosts` of one"
            ))),
        }
    }

    /// What it says that cannot be.
    fn problem(&self) -> Option<String> {
        if self.groups.is_empty() {
            return Some("it describes no group: add [group.NAME]".to_owned());
        }
        if self.tick_ms == 0 || self.patience_ticks == 0 {
            return Some("`tick_ms` and `patience_ticks` must be at least 1".to_owned());
        }
        let mut seen = BTreeSet::new();
        if let Some(name) = self.names().find(|name| !seen.insert(*name)) {
            return Some(format!("{name} has two roles: a name has one"));
        }
        self.groups.iter().find_map(|(name, group)| {
            let problem = self.problem_of(group)?;
            Some(format!("the group {name} {problem}"))
        })
    }

    fn problem_of(&self, group: &Group) -> Option<&'static str> {
        let count = group.replicas.len();
        if count == 0 || count > MEMBERS_MAX || group.dispatchers.is_empty() || group.dispatchers.len() > MEMBERS_MAX {
            return Some("must have 1 to 64 `replicas`, and 1 to 64 `dispatchers`");
        }
        match self.protocol {
            Replication::Chain if group.master.is_none() => Some("is a chain and needs a `master`"),
            Replication::Paxos if group.master.is_some() => Some("has a `master`, which only a chain has"),
            Replication::Paxos if count.is_multiple_of(2) => {
                Some("needs an odd number of replicas: 2n + 1 for n failures")
            }
            Replication::Chain | Replication::Paxos => None,
        }
    }
}

/// Most replicas, and most dispatchers, of a group.
const MEMBERS_MAX: usize = 64;

impl FromStr for Services {
    type Err = DeployError;

    fn from_str(text: &str) -> Result<Self, DeployError> {
        let services: Self = toml::from_str(text).map_err(|error| DeployError::Described(error.to_string()))?;
        services.problem().map_or(Ok(services), |problem| Err(DeployError::Described(problem)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Replication, Services};

    const CHAIN: &str = r#"
        protocol = "chain"
        service = "table"
        [group.t]
        replicas = ["a", "b"]
        master = "m"
        dispatchers = ["d"]
    "#;

    #[test]
    fn what_cannot_be_is_refused_with_the_reason() {
        let services: Services = CHAIN.parse().unwrap();
        assert_eq!(services.protocol, Replication::Chain);
        let cases = [
            ("\"chain\"", "\"paxos\"", "has a `master`, which only a chain has"),
            ("master = \"m\"", "", "needs a `master`"),
            ("[\"d\"]", "[\"a\"]", "a has two roles"),
            ("[\"d\"]", "[]", "1 to 64 `dispatchers`"),
            ("[\"a\", \"b\"]", "[]", "1 to 64 `replicas`"),
            ("master = \"m\"", "master = \"m\"\nmaester = \"m\"", "unknown field `maester`"),
            ("service = \"table\"", "service = \"table\"\ntick_ms = 0", "at least 1"),
        ];
        for (from, to, told) in cases {
            let error = CHAIN.replace(from, to).parse::<Services>().unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}

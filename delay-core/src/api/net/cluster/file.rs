//! Which node hosts which names, and where it is reached: the cluster file.

use super::{ClusterError, Host, Limits};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    fs,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    str::FromStr,
};

/// Longest name of a node or endpoint, in bytes.
const NAME_BYTES_MAX: usize = 128;

/// Which node hosts which endpoints, and where each node is reached: the same on every node.
///
/// ```
/// use delay_core::api::net::cluster::Cluster;
///
/// let cluster: Cluster = r#"
///     [node.alpha]
///     address = "127.0.0.1:7001"
///     hosts = ["coordinator"]
///
///     [node.beta]
///     address = "10.0.0.2:7002"
///     listen = "10.0.0.2:7002" # not on loopback: say so
///     hosts = ["from", "to"]
///
///     [tls] # without it connections are neither encrypted nor authenticated
///     authority = "authority.crt"
///     certificate = "{node}.crt"
///     key = "/etc/secret/{node}.key"
///
///     [limits] # may be left out, as a whole or in part
///     frame_bytes_max = 65536
/// "#
/// .parse()?;
/// assert!(cluster.host("gamma").is_err());
/// # Ok::<(), delay_core::api::net::cluster::ClusterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// By name.
    #[serde(default, rename = "node")]
    pub(super) nodes: BTreeMap<String, Node>,
    #[serde(default)]
    pub(super) limits: Limits,
    pub(super) tls: Option<Tls>,
    /// What the paths in `tls` are relative to.
    #[serde(skip)]
    pub(super) base: PathBuf,
}

/// Where the nodes have their certificates: the table `[tls]` of the cluster file. With it all connections are encrypted, and each side proves
/// which node it is by a certificate that has the node's name as a DNS name.
///
/// The files are PEM. In the paths `{node}` stands for the name of the node; they are relative to the cluster file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificates of those who sign the nodes' certificates, and nothing else.
    pub authority: PathBuf,
    /// A node's certificate, and after it those between it and the authority's, if there are any. A node's own `certificate` goes first.
    pub certificate: PathBuf,
    /// The key of that certificate. A node's own `key` goes first.
    pub key: PathBuf,
}

/// A process of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Node {
    /// Where others reach it: host and port.
    pub(super) address: String,
    /// Where it accepts connections, if that is not its address or not on loopback.
    pub(super) listen: Option<String>,
    /// The names of its endpoints.
    pub(super) hosts: Vec<String>,
    /// Instead of those in the table `[tls]`.
    pub(super) certificate: Option<PathBuf>,
    pub(super) key: Option<PathBuf>,
}

impl Cluster {
    /// Reads a cluster file.
    ///
    /// # Errors
    /// If it cannot be read, or does not describe a cluster.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ClusterError> {
        let path = path.as_ref();
        let text =
            fs::read_to_string(path).map_err(|error| ClusterError::Unreadable { path: path.to_owned(), error })?;
        let in_file = |error| ClusterError::InFile { path: path.to_owned(), error: Box::new(error) };
        let cluster: Self = text.parse().map_err(in_file)?;
        Ok(Self { base: path.parent().map(Path::to_owned).unwrap_or_default(), ..cluster })
    }

    /// A cluster without nodes.
    ///
    /// # Errors
    /// If the limits contradict each other.
    pub fn new(limits: Limits) -> Result<Self, ClusterError> {
        limits.check()?;
        Ok(Self { nodes: BTreeMap::new(), limits, tls: None, base: PathBuf::new() })
    }

    /// With TLS between the nodes. Relative paths begin in the working directory.
    ///
    /// # Errors
    /// If the name of a node cannot stand in a certificate.
    pub fn tls(mut self, tls: Tls) -> Result<Self, ClusterError> {
        self.tls = Some(tls);
        self.check()?;
        Ok(self)
    }

    /// With one more node, that is reached at an address (`host:port`) and hosts these names.
    ///
    /// # Errors
    /// If the node is there already, another one hosts one of the names, or a name or the address is none.
    pub fn node<N: Into<String>>(
        mut self,
        name: impl Into<String>,
        address: impl Into<String>,
        hosts: impl IntoIterator<Item = N>,
    ) -> Result<Self, ClusterError> {
        let name = name.into();
        let hosts = hosts.into_iter().map(Into::into).collect();
        let node = Node { address: address.into(), listen: None, hosts, certificate: None, key: None };
        if self.nodes.insert(name.clone(), node).is_some() {
            return Err(ClusterError::NodeTwice(name));
        }
        self.check()?;
        Ok(self)
    }

    /// This process as a node of the cluster.
    ///
    /// # Errors
    /// If there is no node of this name.
    pub fn host(&self, node: impl AsRef<str>) -> Result<Host, ClusterError> {
        let node = node.as_ref();
        if self.nodes.contains_key(node) {
            return Ok(Host { cluster: self.clone(), node: node.to_owned() });
        }
        let known = self.nodes.keys().cloned().collect();
        Err(ClusterError::NoNode { node: node.to_owned(), known })
    }

    /// The node that hosts a name, if one does.
    pub fn node_of(&self, name: &str) -> Option<&str> {
        self.homes().find(|(known, _)| *known == name).map(|(_, node)| node)
    }

    /// Which node hosts each name.
    pub(super) fn homes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.nodes.iter().flat_map(|(node, known)| known.hosts.iter().map(move |name| (name.as_str(), node.as_str())))
    }

    fn check(&self) -> Result<(), ClusterError> {
        self.limits.check()?;
        let mut addresses: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, node) in &self.nodes {
            check_name(name)?;
            if self.tls.is_some() {
                check_tls_name(name)?;
            } else if node.certificate.is_some() || node.key.is_some() {
                return Err(ClusterError::NoTlsTable(name.clone()));
            }
            check_address(name, &node.address)?;
            if let Some(listen) = &node.listen {
                check_address(name, listen)?;
            }
            if let Some(other) = addresses.insert(&node.address, name) {
                let nodes = [other.to_owned(), name.clone()];
                return Err(ClusterError::AddressTwice { address: node.address.clone(), nodes });
            }
        }
        let mut homes: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, node) in self.homes() {
            check_name(name)?;
            if let Some(other) = homes.insert(name, node) {
                let nodes = [other.to_owned(), node.to_owned()];
                return Err(ClusterError::HostedTwice { name: name.to_owned(), nodes });
            }
        }
        Ok(())
    }
}

impl FromStr for Cluster {
    type Err = ClusterError;

    fn from_str(text: &str) -> Result<Self, ClusterError> {
        let cluster: Self = toml::from_str(text).map_err(|error| ClusterError::Syntax(error.to_string()))?;
        if cluster.nodes.is_empty() {
            return Err(ClusterError::NoNodes);
        }
        cluster.check()?;
        Ok(cluster)
    }
}

impl Node {
    /// Where to accept connections: on loopback, unless the file says otherwise in so many words.
    pub(super) fn listens_at(&self, name: &str) -> Result<String, ClusterError> {
        if let Some(listen) = &self.listen {
            return Ok(listen.clone());
        }
        let (host, port) = self.address.rsplit_once(':').unwrap_or_default();
        if host == "localhost" {
            return Ok(format!("127.0.0.1:{port}"));
        }
        if self.address.parse::<SocketAddr>().is_ok_and(|address| address.ip().is_loopback()) {
            return Ok(self.address.clone());
        }
        Err(ClusterError::NotLoopback { node: name.to_owned(), address: self.address.clone() })
    }
}

fn check_name(name: &str) -> Result<(), ClusterError> {
    let is_good = !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.chars().any(char::is_control);
    if is_good { Ok(()) } else { Err(ClusterError::BadName(name.escape_debug().to_string())) }
}

/// Stricter than DNS, so that no two names mean the same and none is taken for an address.
fn check_tls_name(name: &str) -> Result<(), ClusterError> {
    let is_good = name.split('.').all(|word| {
        let known = word.bytes().all(|c| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
        known && word.len() <= 63 && word.starts_with(|c: char| c.is_ascii_lowercase()) && !word.ends_with('-')
    });
    if is_good { Ok(()) } else { Err(ClusterError::TlsName(name.to_owned())) }
}

fn check_address(node: &str, address: &str) -> Result<(), ClusterError> {
    let is_good = address.rsplit_once(':').is_some_and(|(host, port)| {
        let in_brackets = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_host = if let Some(host) = in_brackets {
            host.parse::<IpAddr>().is_ok_and(|address| address.is_ipv6())
        } else {
            let is_dotted = host.chars().all(|c| c.is_ascii_digit() || c == '.');
            let named = host.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
            !host.is_empty() && named && (!is_dotted || host.parse::<IpAddr>().is_ok())
        };
        is_host && port.parse::<u16>().is_ok_and(|port| port > 0)
    });
    if is_good {
        return Ok(());
    }
    Err(ClusterError::BadAddress { node: node.to_owned(), address: address.to_owned() })
}

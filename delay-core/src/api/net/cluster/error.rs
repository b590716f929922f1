//! What can be wrong with a cluster, or with becoming one of its nodes.

use crate::api::net::Delivery;
use std::{fmt, io, path::PathBuf, time::Duration};

/// What is wrong with a cluster, or keeps this process from being one of its nodes.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClusterError {
    /// The file cannot be read.
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Something is wrong within a file.
    InFile {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        error: Box<ClusterError>,
    },
    /// Not TOML, or with keys that a cluster file does not have: what and where.
    Syntax(String),
    /// It names no node.
    NoNodes,
    /// Two nodes of one name.
    NodeTwice(String),
    /// A name that is empty, too long, or holds control characters.
    BadName(String),
    /// Not `host:port`.
    BadAddress {
        /// Whose.
        node: String,
        /// What stands there.
        address: String,
    },
    /// Two nodes at one address.
    AddressTwice {
        /// The address.
        address: String,
        /// Who has it.
        nodes: [String; 2],
    },
    /// A name that two nodes host.
    HostedTwice {
        /// The name.
        name: String,
        /// Who hosts it.
        nodes: [String; 2],
    },
    /// Limits that contradict each other.
    Limits(&'static str),
    /// No node of this name.
    NoNode {
        /// The name.
        node: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// Reached from elsewhere, and told to accept connections nowhere.
    NotLoopback {
        /// Which node.
        node: String,
        /// Its address.
        address: String,
    },
    /// Connections cannot be accepted.
    Listen {
        /// Where.
        address: String,
        /// Why.
        error: io::Error,
    },
    /// The cluster file has a table `[tls]`, and this program was built without the feature `tls`.
    NoTls,
    /// A node has a certificate or a key, and there is no table `[tls]`.
    NoTlsTable(String),
    /// A node's name that no certificate can be for.
    TlsName(String),
    /// A certificate or key cannot be used.
    Tls {
        /// In which file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// No network between nodes delivers like this.
    Delivery(Delivery),
    /// Inside a test.
    UnderTest,
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, error } => {
                write!(f, "the cluster file {} cannot be read: {error}", path.display())
            }
            Self::InFile { path, error } => write!(f, "in the cluster file {}: {error}", path.display()),
            Self::Syntax(what) => f.write_str(what.trim_end()),
            Self::NoNodes => f.write_str("there is no node: add a table `[node.NAME]` with `address` and `hosts`"),
            Self::NodeTwice(node) => write!(f, "the node {node} is there twice: give each node a name of its own"),
            Self::BadName(name) => {
                write!(f, "\"{name}\" is no name: 1 to 128 bytes without control characters")
            }
            Self::BadAddress { node, address } => {
                write!(
                    f,
                    "\"{address}\" of the node {node} is no address: write host:port, like 127.0.0.1:7001 or [::1]:7001"
                )
            }
            Self::AddressTwice { address, nodes: [one, other] } => {
                write!(f, "the nodes {one} and {other} have the same address {address}: give each one of its own")
            }
            Self::HostedTwice { name, nodes: [one, other] } if one == other => {
                write!(f, "the node {one} hosts {name} twice: a name is hosted once")
            }
            Self::HostedTwice { name, nodes: [one, other] } => {
                write!(f, "the nodes {one} and {other} both host {name}: a name is hosted once")
            }
            Self::Limits(problem) => f.write_str(problem),
            Self::NoNode { node, known } => {
                write!(f, "there is no node {node} in the cluster; there are: {}", known.join(", "))
            }
            Self::NotLoopback { node, address } => write!(
                f,
                "the node {node} is reached at {address}, which is not known to be on loopback: if it is to accept connections from elsewhere, \
                 say so with `listen = \"IP:PORT\"`; without a table `[tls]` they are neither encrypted nor authenticated"
            ),
            Self::Listen { address, error } => write!(
                f,
                "no connections can be accepted at {address}: {error}; is another process there, or this node a second time, is the address this machine's?"
            ),
            Self::NoTls => f.write_str(
                "the cluster has a table `[tls]` and this program was built without TLS: add the feature `tls` of delay to its Cargo.toml",
            ),
            Self::NoTlsTable(node) => write!(
                f,
                "the node {node} has a certificate or a key, and there is no table `[tls]`: add one, with `authority`, `certificate` and `key`"
            ),
            Self::TlsName(node) => write!(
                f,
                "the node's name \"{node}\" cannot stand in a certificate: with `[tls]` a name is made of a-z, 0-9, - and _, has at most 63 bytes, and \
                 begins with a letter; several such words may be joined by dots"
            ),
            Self::Tls { path, problem } => write!(f, "{} {problem}", path.display()),
            Self::Delivery(delivery) => write!(
                f,
                "nodes cannot keep the order {delivery:?} of different senders: use Delivery::PerSender or Unordered, and test with it"
            ),
            Self::UnderTest => {
                f.write_str("a test makes its network itself, with Network::new: a cluster is for deployed programs")
            }
        }
    }
}

impl std::error::Error for ClusterError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { error, .. } | Self::Listen { error, .. } => Some(error),
            Self::InFile { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// The time was up before everything was sent: what was for these nodes may be lost.
#[derive(Debug, PartialEq, Eq)]
pub struct Unflushed {
    /// The names of the nodes.
    pub nodes: Vec<String>,
    pub(super) within: Duration,
}

impl fmt::Display for Unflushed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, within } = self;
        write!(f, "not everything was sent within {within:?}: messages to {} may be lost", nodes.join(", "))
    }
}

impl std::error::Error for Unflushed {}

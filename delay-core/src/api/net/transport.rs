//! What carries bytes between the nodes of a cluster: TCP, or what users bring.
//!
//! A transport opens and accepts streams of bytes, and may know for sure who is at the other side. Frames, limits, heartbeats, reconnecting
//! and the order of messages are the cluster's, the same over every transport; so is TLS, if the cluster file asks for it.

use std::{fmt, future::Future, io, pin::Pin};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};

/// Opens streams of bytes to other nodes and accepts theirs.
///
/// The seam for QUIC (a bidirectional stream) or gRPC (a call that streams bytes both ways, read and written through
/// `tokio_util::io`). A stream is reliable and in order, and ends for good.
///
/// ```
/// use delay_core::api::net::transport::{Caller, Tcp, Transport};
/// use std::io;
/// use tokio::net::TcpStream;
///
/// /// TCP that says whom it calls.
/// struct Chatty(Tcp);
///
/// impl Transport for Chatty {
///     type Stream = TcpStream;
///
///     async fn connect(&self, node: &str, address: &str) -> io::Result<TcpStream> {
///         println!("calling {node} at {address}");
///         self.0.connect(node, address).await
///     }
///
///     async fn accept(&self) -> io::Result<Caller<TcpStream>> {
///         self.0.accept().await
///     }
/// }
/// ```
///
/// One over an encrypted protocol does its handshake where it cannot hold up others, and says what came of it:
///
/// ```
/// # use delay_core::api::net::transport::{Caller, Identity, Tcp, Transport};
/// # use std::io;
/// # use tokio::{io::AsyncReadExt, net::{TcpListener, TcpStream}};
/// /// Stands for a handshake that takes a while.
/// async fn shake_hands(mut stream: TcpStream) -> io::Result<(TcpStream, Identity)> {
///     let who = stream.read_u8().await?;
///     Ok((stream, Identity::Proven(vec![format!("node-{who}")])))
/// }
///
/// async fn accept(listener: &TcpListener) -> io::Result<Caller<TcpStream>> {
///     let (stream, origin) = listener.accept().await?;
///     Ok(Caller::after(origin.to_string(), shake_hands(stream)))
/// }
/// ```
pub trait Transport: Send + Sync + 'static {
    /// A stream both ways.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Opens a stream to a node, at its `address` in the cluster file. May take its time: the cluster gives up on it. A transport that can
    /// tell makes sure that it is that node.
    ///
    /// # Errors
    /// If nobody is there, or somebody else; the cluster tries again later.
    fn connect(&self, node: &str, address: &str) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    /// The next that calls. Waits for nothing that the caller has still to do: that is for [`Caller::after`].
    ///
    /// # Errors
    /// If none could be accepted just now; the cluster tries again.
    fn accept(&self) -> impl Future<Output = io::Result<Caller<Self::Stream>>> + Send;
}

/// Who is at the other side, as far as a transport knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Whoever it says it is.
    Claimed,
    /// One of these nodes, and no other.
    Proven(Vec<String>),
}

impl Identity {
    /// Whether it may be this node.
    pub(super) fn may_be(&self, node: &str) -> bool {
        match self {
            Self::Claimed => true,
            Self::Proven(nodes) => nodes.iter().any(|proven| proven == node),
        }
    }
}

type Opening<S> = Pin<Box<dyn Future<Output = io::Result<(S, Identity)>> + Send>>;

/// Somebody who calls: a stream, perhaps once a handshake is over.
pub struct Caller<S> {
    /// Where it calls from, for people to read.
    pub(super) origin: String,
    pub(super) opening: Opening<S>,
}

impl<S> fmt::Debug for Caller<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl<S: Send + 'static> Caller<S> {
    /// Who has a stream already.
    pub fn new(origin: impl Into<String>, stream: S, identity: Identity) -> Self {
        Self::after(origin, async { Ok((stream, identity)) })
    }

    /// Who has one once a handshake is over. The cluster's limits `newcomers_max` and `connect` are for this, too.
    pub fn after(
        origin: impl Into<String>,
        handshake: impl Future<Output = io::Result<(S, Identity)>> + Send + 'static,
    ) -> Self {
        Self { origin: origin.into(), opening: Box::pin(handshake) }
    }
}

/// Plain TCP: neither encrypted nor authenticated by itself. A cluster with a table `[tls]` adds both.
#[derive(Debug)]
pub struct Tcp {
    listener: TcpListener,
}

impl Tcp {
    /// Accepts connections at an address.
    ///
    /// # Errors
    /// If the address is in use, or not one of this machine's.
    pub async fn listen(address: &str) -> io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address).await? })
    }

    /// Whether only this machine can connect.
    pub(super) fn is_on_loopback(&self) -> bool {
        self.listener.local_addr().is_ok_and(|address| address.ip().is_loopback())
    }
}

impl From<TcpListener> for Tcp {
    fn from(listener: TcpListener) -> Self {
        Self { listener }
    }
}

/// Protocol messages are small and waited for.
fn prompt(stream: TcpStream) -> io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    Ok(stream)
}

impl Transport for Tcp {
    type Stream = TcpStream;

    async fn connect(&self, _: &str, address: &str) -> io::Result<TcpStream> {
        prompt(TcpStream::connect(address).await?)
    }

    async fn accept(&self) -> io::Result<Caller<TcpStream>> {
        let (stream, origin) = self.listener.accept().await?;
        // One that is gone already is no trouble of the listener's.
        Ok(Caller::after(origin.to_string(), async { Ok((prompt(stream)?, Identity::Claimed)) }))
    }
}

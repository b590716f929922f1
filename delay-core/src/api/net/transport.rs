//! What carries bytes between the nodes of a cluster: TCP, or what users bring.
//!
//! A transport opens and accepts streams of bytes and knows nothing else. Frames, limits, heartbeats, reconnecting and the
//! order of messages are the cluster's, the same over every transport.

use std::{future::Future, io};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};

/// Opens streams of bytes to other nodes and accepts theirs.
///
/// The seam for TLS (wrap the stream of [`Tcp`]), QUIC (a bidirectional stream) or gRPC (a call that streams bytes both ways, read and
/// written through `tokio_util::io`). A stream is reliable and in order, and ends for good.
///
/// ```
/// use delay_core::api::net::transport::{Tcp, Transport};
/// use std::io;
/// use tokio::net::TcpStream;
///
/// /// TCP that says whom it calls.
/// struct Chatty(Tcp);
///
/// impl Transport for Chatty {
///     type Stream = TcpStream;
///
///     async fn connect(&self, address: &str) -> io::Result<TcpStream> {
///         println!("calling {address}");
///         self.0.connect(address).await
///     }
///
///     async fn accept(&self) -> io::Result<(TcpStream, String)> {
///         self.0.accept().await
///     }
/// }
/// ```
pub trait Transport: Send + Sync + 'static {
    /// A stream both ways.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Opens a stream to the node at an `address` of the cluster file. May take its time: the cluster gives up on it.
    ///
    /// # Errors
    /// If nobody is there; the cluster tries again later.
    fn connect(&self, address: &str) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    /// The next stream that another node has opened, and where from, for people to read.
    ///
    /// # Errors
    /// If none could be accepted just now; the cluster tries again.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, String)>> + Send;
}

/// Plain TCP: neither encrypted nor authenticated, for networks where everybody is trusted.
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

    async fn connect(&self, address: &str) -> io::Result<TcpStream> {
        prompt(TcpStream::connect(address).await?)
    }

    async fn accept(&self) -> io::Result<(TcpStream, String)> {
        let (stream, origin) = self.listener.accept().await?;
        Ok((prompt(stream)?, origin.to_string()))
    }
}

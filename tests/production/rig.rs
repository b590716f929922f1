//! Nodes in one process, and strangers that speak raw bytes.

use delay::net::{
    Delivery, Network,
    cluster::{Cluster, Limits},
    transport::Tcp,
};
use std::{future::Future, net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Fails a test that hangs. Far longer than anything here takes.
pub(crate) async fn guard<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_mins(1), what).await.expect("it does not hang")
}

pub(crate) async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("the system has a free port");
    let address = listener.local_addr().expect("it is bound");
    (listener, address)
}

/// An address at which nobody listens for now, and at which one can listen later.
pub(crate) async fn at(address: SocketAddr) -> TcpListener {
    TcpListener::bind(address).await.expect("nobody else listens there")
}

/// Quick to notice, small enough to be filled.
pub(crate) fn limits() -> Limits {
    Limits {
        frame_bytes_max: 1 << 12,
        queue_bytes_max: 1 << 14,
        inbox_bytes_max: 1 << 14,
        newcomers_max: 4,
        heartbeat: Duration::from_millis(20),
        silence: Duration::from_millis(500),
        write: Duration::from_millis(500),
        retry: Duration::from_millis(5),
        retry_max: Duration::from_millis(50),
        ..Limits::default()
    }
}

/// Node `alpha` hosts `a` and `a2`, `beta` hosts `b` and `b2`, `gamma` hosts `c`.
pub(crate) fn cluster(limits: Limits, [alpha, beta, gamma]: [SocketAddr; 3]) -> Cluster {
    let cluster = Cluster::new(limits).expect("the limits are good");
    let cluster = cluster.node("alpha", alpha.to_string(), ["a", "a2"]).expect("a node");
    let cluster = cluster.node("beta", beta.to_string(), ["b", "b2"]).expect("a node");
    cluster.node("gamma", gamma.to_string(), ["c"]).expect("a node")
}

pub(crate) type Text = Network<String>;

pub(crate) fn host(cluster: &Cluster, node: &str, listener: TcpListener) -> Text {
    let host = cluster.host(node).expect("the node is there");
    host.network_over(Tcp::from(listener), Delivery::PerSender).expect("the network is good")
}

/// All three nodes.
pub(crate) async fn three(limits: Limits) -> ([Text; 3], [SocketAddr; 3]) {
    let (alpha, beta, gamma) = (listener().await, listener().await, listener().await);
    let addresses = [alpha.1, beta.1, gamma.1];
    let cluster = cluster(limits, addresses);
    let nets = [host(&cluster, "alpha", alpha.0), host(&cluster, "beta", beta.0), host(&cluster, "gamma", gamma.0)];
    (nets, addresses)
}

/// Somebody who speaks bytes.
pub(crate) struct Stranger(pub(crate) TcpStream);

impl Stranger {
    pub(crate) async fn calls(address: SocketAddr) -> Self {
        Self(guard(TcpStream::connect(address)).await.expect("somebody listens"))
    }

    /// Says who it claims to be, in the words of the format: magic, version, then two texts with their lengths.
    pub(crate) async fn introduces(&mut self, version: u16, from: &str, to: &str) {
        let mut hello = b"delay".to_vec();
        hello.extend(version.to_le_bytes());
        for name in [from, to] {
            hello.push(u8::try_from(name.len()).expect("names here are short"));
            hello.extend(name.as_bytes());
        }
        self.frame(&hello).await;
    }

    /// A call that is welcomed.
    pub(crate) async fn welcomed(address: SocketAddr, from: &str, to: &str) -> Self {
        let mut stranger = Self::calls(address).await;
        stranger.introduces(1, from, to).await;
        assert_eq!(stranger.answer().await, b"delay\x01\x00\x00", "the answer is a welcome");
        stranger
    }

    pub(crate) async fn frame(&mut self, content: &[u8]) {
        let length = u32::try_from(content.len()).expect("frames here are short");
        self.bytes(&length.to_be_bytes()).await;
        self.bytes(content).await;
    }

    /// A message of a text.
    pub(crate) async fn message(&mut self, from: &str, to: &str, text: &str) {
        let mut frame = vec![1];
        for part in [from, to, text] {
            frame.push(u8::try_from(part.len()).expect("texts here are short"));
            frame.extend(part.as_bytes());
        }
        self.frame(&frame).await;
    }

    pub(crate) async fn bytes(&mut self, bytes: &[u8]) {
        // The other side may have closed by now, as it should.
        let _ = self.0.write_all(bytes).await;
    }

    pub(crate) async fn answer(&mut self) -> Vec<u8> {
        let length = guard(self.0.read_u32()).await.expect("there is an answer");
        let mut frame = vec![0; length as usize];
        guard(self.0.read_exact(&mut frame)).await.expect("the answer is whole");
        frame
    }

    /// Until the other side has closed.
    pub(crate) async fn ends(mut self) {
        let mut rest = [0; 1024];
        while let Ok(1..) = guard(self.0.read(&mut rest)).await {}
    }
}

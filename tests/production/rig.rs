//! Nodes in one process, and strangers that speak raw bytes.

use delay::net::{
    Delivery, Network,
    cluster::{Cluster, Limits},
    transport::Tcp,
};
use std::{cell::Cell, future::Future, net::SocketAddr, panic, sync::Once, thread, time::Duration};
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

pub(crate) const VERSION: u16 = 2;
/// A welcome by a node that accepts frames of 64 KiB.
pub(crate) const WELCOME: &[u8] = b"delay\x02\x00\x00\x80\x80\x04";

/// An introduction in the words of the format: magic, version, two texts with their lengths, the number of the process.
pub(crate) fn hello(version: u16, from: &str, to: &str) -> Vec<u8> {
    let mut hello = b"delay".to_vec();
    hello.extend(version.to_le_bytes());
    texts(&mut hello, &[from, to]);
    hello.push(7);
    hello
}

/// A message of a text, from where nothing is recorded.
pub(crate) fn message(from: &str, to: &str, text: &str) -> Vec<u8> {
    message_at(0, from, to, text)
}

/// A message of a text that left at a time of its clock.
fn message_at(clock: u64, from: &str, to: &str, text: &str) -> Vec<u8> {
    let mut frame = vec![1];
    texts(&mut frame, &[from, to]);
    frame.extend(clock.to_le_bytes());
    texts(&mut frame, &[text]);
    frame
}

fn texts(frame: &mut Vec<u8>, texts: &[&str]) {
    for text in texts {
        // Seven bits a byte, the lowest first.
        let mut length = text.len();
        while length > 0x7f {
            frame.push((length & 0x7f | 0x80) as u8);
            length >>= 7;
        }
        frame.push(length as u8);
        frame.extend(text.as_bytes());
    }
}

/// With its length before it.
pub(crate) fn framed(content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).expect("frames here are short");
    [&length.to_be_bytes(), content].concat()
}

/// Nothing panics on this thread meanwhile, not even in a task that nobody waits for: else the test fails.
pub(crate) struct Calm;

thread_local! {
    static PANICS: Cell<u32> = const { Cell::new(0) };
}

impl Calm {
    pub(crate) fn watched() -> Self {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let hook = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                PANICS.set(PANICS.get() + 1);
                hook(info);
            }));
        });
        PANICS.set(0);
        Self
    }
}

impl Drop for Calm {
    fn drop(&mut self) {
        assert!(thread::panicking() || PANICS.get() == 0, "a task panicked");
    }
}

/// Numbers that are the same each time.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % most
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.below(256) as u8).collect()
    }
}

/// Somebody who speaks bytes.
pub(crate) struct Stranger(pub(crate) TcpStream);

impl Stranger {
    pub(crate) async fn calls(address: SocketAddr) -> Self {
        Self(guard(TcpStream::connect(address)).await.expect("somebody listens"))
    }

    /// Says who it claims to be.
    pub(crate) async fn introduces(&mut self, version: u16, from: &str, to: &str) {
        self.frame(&hello(version, from, to)).await;
    }

    /// A call that is welcomed.
    pub(crate) async fn welcomed(address: SocketAddr, from: &str, to: &str) -> Self {
        let mut stranger = Self::calls(address).await;
        stranger.introduces(VERSION, from, to).await;
        assert_eq!(stranger.answer().await[..8], WELCOME[..8], "the answer is a welcome");
        stranger
    }

    pub(crate) async fn frame(&mut self, content: &[u8]) {
        self.bytes(&framed(content)).await;
    }

    /// A message of a text, from where nothing is recorded.
    pub(crate) async fn message(&mut self, from: &str, to: &str, text: &str) {
        self.message_at(0, from, to, text).await;
    }

    /// A message of a text that left at a time of its clock.
    pub(crate) async fn message_at(&mut self, clock: u64, from: &str, to: &str, text: &str) {
        self.frame(&message_at(clock, from, to, text)).await;
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

//! Transports of one's own: streams within the process, which can be cut as cables are, and Unix sockets.

use crate::{
    authority::Authority,
    events::Events,
    rig::{Text, VERSION, WELCOME, framed, guard, hello, limits, message},
};
use delay::net::{
    Delivery, Endpoint,
    cluster::{Cluster, Limits},
    transport::{Caller, Identity, Transport},
};
use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, copy_bidirectional_with_sizes, duplex},
    sync::{Mutex as AsyncMutex, mpsc, watch},
};

/// Cables between the nodes of a process.
#[derive(Clone)]
struct Cables {
    listening: Arc<Mutex<BTreeMap<String, mpsc::UnboundedSender<Caller<DuplexStream>>>>>,
    /// Those that are there when it becomes true carry nothing more, and tell nobody.
    cut: watch::Sender<bool>,
    /// How much is on its way on a cable.
    bytes: usize,
}

/// A node's end of the cables.
struct Plug {
    cables: Cables,
    /// Whose it is: the others can tell.
    node: String,
    callers: AsyncMutex<mpsc::UnboundedReceiver<Caller<DuplexStream>>>,
}

impl Cables {
    fn new(bytes: usize) -> Self {
        Self { listening: Arc::default(), cut: watch::Sender::new(false), bytes }
    }

    fn plug(&self, node: &str, address: &str) -> Plug {
        let (listening, callers) = mpsc::unbounded_channel();
        self.listening.lock().unwrap_or_else(PoisonError::into_inner).insert(address.to_owned(), listening);
        Plug { cables: self.clone(), node: node.to_owned(), callers: AsyncMutex::new(callers) }
    }

    fn call(&self, caller: &str, address: &str) -> io::Result<DuplexStream> {
        let listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner).get(address).cloned();
        let listening = listening.ok_or(io::ErrorKind::ConnectionRefused)?;
        let ((here, mut near), (mut far, there)) = (duplex(self.bytes), duplex(self.bytes));
        let identity = Identity::Proven(vec![caller.to_owned()]);
        listening.send(Caller::new(caller, there, identity)).map_err(|_| io::ErrorKind::ConnectionRefused)?;
        let (mut cut, bytes) = (self.cut.subscribe(), self.bytes);
        tokio::spawn(async move {
            tokio::select! {
                biased;
                _ = cut.wait_for(|cut| *cut) => {}
                _ = copy_bidirectional_with_sizes(&mut near, &mut far, bytes, bytes) => return,
            }
            // Both ends stay open, and nothing comes through.
            std::future::pending::<()>().await;
        });
        Ok(here)
    }
}

impl Transport for Plug {
    type Stream = DuplexStream;

    async fn connect(&self, _: &str, address: &str) -> io::Result<DuplexStream> {
        self.cables.call(&self.node, address)
    }

    async fn accept(&self) -> io::Result<Caller<DuplexStream>> {
        // As long as it is in its place nobody closes it.
        self.callers.lock().await.recv().await.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

fn cluster(limits: Limits) -> Cluster {
    let cluster = Cluster::new(limits).and_then(|cluster| cluster.node("alpha", "cable:1", ["a"]));
    cluster.and_then(|cluster| cluster.node("beta", "cable:2", ["b"])).expect("it is a cluster")
}

fn host(cluster: &Cluster, node: &str, transport: impl Transport) -> Text {
    let host = cluster.host(node).expect("the node is there");
    host.network_over(transport, Delivery::PerSender).expect("the network is good")
}

async fn there_and_back(a: &mut Endpoint<String>, b: &mut Endpoint<String>) {
    for n in 0..200 {
        a.send(a.network().address("b"), format!("{n} {}", "x".repeat(1_000))).await.expect("b is there");
        let got = guard(b.recv()).await;
        assert!(got.message.starts_with(&format!("{n} ")));
        b.send(got.from, n.to_string()).await.expect("a is there");
        assert_eq!(guard(a.recv()).await.message, n.to_string());
    }
}

#[tokio::test]
async fn nodes_reach_each_other_over_any_stream() {
    for bytes in [16, 1 << 16] {
        let cables = Cables::new(bytes);
        let cluster = cluster(limits());
        let alpha = host(&cluster, "alpha", cables.plug("alpha", "cable:1"));
        let beta = host(&cluster, "beta", cables.plug("beta", "cable:2"));
        there_and_back(&mut alpha.endpoint("a"), &mut beta.endpoint("b")).await;
        alpha.shutdown(Duration::from_mins(1)).await.expect("all is written");
    }
}

#[tokio::test]
async fn tls_comes_on_top_of_any_transport() {
    let authority = Authority::of_all();
    let cables = Cables::new(1 << 10);
    let cluster = cluster(limits()).tls(authority.tls()).expect("the names are good");
    let alpha = host(&cluster, "alpha", cables.plug("alpha", "cable:1"));
    let beta = host(&cluster, "beta", cables.plug("beta", "cable:2"));
    there_and_back(&mut alpha.endpoint("a"), &mut beta.endpoint("b")).await;
}

/// With TLS on top, too: the one does not make up for the other.
#[tokio::test]
async fn what_a_transport_has_proven_counts() {
    let (events, _guard) = Events::listen();
    let authority = Authority::of_all();
    for cluster in [cluster(limits()), cluster(limits()).tls(authority.tls()).expect("the names are good")] {
        let cables = Cables::new(1 << 10);
        let _false_alpha = host(&cluster, "alpha", cables.plug("mallory", "cable:1"));
        let beta = host(&cluster, "beta", cables.plug("beta", "cable:2"));
        events.with("who says that it is \"alpha\" has not proven to be it").await;
        events.with("the other side does not take this node's certificate for one of its name").await;
        assert_eq!(beta.endpoint("b").try_recv(), None);
    }
}

/// A peer that vanishes without a word: both sides notice by the silence, and when it is back go on where they can.
#[tokio::test]
async fn a_cut_cable_is_noticed_and_no_message_comes_twice() {
    let (events, _guard) = Events::listen();
    let limits = Limits { connect: Duration::from_millis(200), ..limits() };
    let (cables, cluster) = (Cables::new(1 << 10), cluster(limits));
    let alpha = host(&cluster, "alpha", cables.plug("alpha", "cable:1"));
    let beta = host(&cluster, "beta", cables.plug("beta", "cable:2"));
    let (mut a, mut b) = (alpha.endpoint("a"), beta.endpoint("b"));
    there_and_back(&mut a, &mut b).await;
    let (mut last, mut sent) = (0, 0);
    for _ in 0..2 {
        cables.cut.send_replace(true);
        // The one that writes gives up, and the one that is written to.
        for side in ["node=beta address=cable:2", "node=alpha origin=alpha"] {
            events.with(&format!("{side} ended=nothing was heard for 500ms")).await;
        }
        for _ in 0..100 {
            sent += 1;
            guard(a.send(alpha.address("b"), sent.to_string())).await.expect("it waits in the queue, or is lost");
        }
        cables.cut.send_replace(false);
        let all = sent;
        while last < all {
            let Ok(got) = tokio::time::timeout(Duration::from_millis(10), b.recv()).await else {
                // What was on its way when a connection was given up is lost.
                sent += 1;
                a.send(alpha.address("b"), sent.to_string()).await.expect("it waits in the queue, or is lost");
                continue;
            };
            let n = got.message.parse().expect("a number");
            assert!(n > last, "{n} after {last}");
            last = n;
        }
        events.clear();
    }
}

/// Welcomed, it sends and reads nothing, not even heartbeats, for which it has next to no room.
#[tokio::test]
async fn a_caller_that_never_reads_is_given_up() {
    let (events, _guard) = Events::listen();
    let cables = Cables::new(32);
    let limits = Limits { heartbeat: Duration::from_millis(5), write: Duration::from_millis(100), ..limits() };
    let beta = host(&cluster(limits), "beta", cables.plug("beta", "cable:2"));
    let mut b = beta.endpoint("b");
    let mut stream = cables.call("alpha", "cable:2").expect("beta listens");
    stream.write_all(&framed(&hello(VERSION, "alpha", "beta"))).await.expect("it is taken");
    let mut welcome = [0; 13];
    guard(stream.read_exact(&mut welcome)).await.expect("it is welcome");
    assert_eq!(welcome[4..11], WELCOME[..7]);
    let talks = async { while stream.write_all(&framed(&message("a", "b", "still here"))).await.is_ok() {} };
    let listens = async {
        loop {
            b.recv().await;
        }
    };
    tokio::select! {
        () = guard(talks) => {}
        () = listens => {}
    }
    events.with("nothing could be written for 100ms").await;
}

#[cfg(unix)]
mod unix {
    //! Between processes of one machine; who may connect is up to the directory's permissions.

    use super::*;
    use std::path::PathBuf;
    use tokio::net::{UnixListener, UnixStream};

    struct Sockets {
        dir: PathBuf,
        listener: UnixListener,
    }

    impl Sockets {
        fn listen(dir: PathBuf, node: &str) -> io::Result<Self> {
            Ok(Self { listener: UnixListener::bind(dir.join(node))?, dir })
        }
    }

    impl Transport for Sockets {
        type Stream = UnixStream;

        async fn connect(&self, node: &str, _: &str) -> io::Result<UnixStream> {
            UnixStream::connect(self.dir.join(node)).await
        }

        async fn accept(&self) -> io::Result<Caller<UnixStream>> {
            let (stream, _) = self.listener.accept().await?;
            let origin = format!("process {:?}", stream.peer_cred()?.pid());
            Ok(Caller::new(origin, stream, Identity::Claimed))
        }
    }

    #[tokio::test]
    async fn nodes_reach_each_other_over_unix_sockets() {
        let dir = tempfile::tempdir().expect("there is a place for temporary files");
        let cluster = cluster(limits());
        let sockets = |node| Sockets::listen(dir.path().to_owned(), node).expect("nobody listens there");
        let alpha = host(&cluster, "alpha", sockets("alpha"));
        let beta = host(&cluster, "beta", sockets("beta"));
        there_and_back(&mut alpha.endpoint("a"), &mut beta.endpoint("b")).await;
    }
}

//! Throughput and latency between two nodes on loopback, each a process of its own: `cargo bench --bench deployed`.
//!
//! Prints messages a second one way, round trips a second with several endpoints at once, and the latency of single round trips. The messages are
//! small; the other process is this one, started again with the name of its node.

use delay::net::{Address, Delivery, Endpoint, Network, cluster::Cluster};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde::{Deserialize, Serialize};
use std::{
    env, fs,
    net::TcpListener,
    path::Path,
    process::{Child, Command},
    time::{Duration, Instant},
};

const ONE_WAY: u64 = 500_000;
const ROUND_TRIPS: u64 = 20_000;
const ENDPOINTS: u64 = 64;

#[derive(Serialize, Deserialize)]
enum Message {
    Ping {
        number: u64,
        content: [u8; 16],
    },
    Pong(u64),
    /// The last of a flood.
    Last,
}

fn ping(number: u64) -> Message {
    Message::Ping { number, content: [7; 16] }
}

/// Answers every ping of some, or the last of a flood.
async fn serve(net: Network<Message>) {
    let mut flooded = net.endpoint("flooded");
    let mut pinged = net.endpoint("pinged");
    tokio::spawn(async move {
        let mut heard = 0;
        loop {
            let got = flooded.recv().await;
            if let Message::Last = got.message {
                flooded.send(got.from, Message::Pong(heard)).await.expect("it can be sent");
                heard = 0;
            } else {
                heard += 1;
            }
        }
    });
    loop {
        let got = pinged.recv().await;
        if let Message::Ping { number, .. } = got.message {
            pinged.send(got.from, Message::Pong(number)).await.expect("it can be sent");
        }
    }
}

async fn round_trip(endpoint: &mut Endpoint<Message>, to: Address, number: u64) {
    endpoint.send(to, ping(number)).await.expect("it can be sent");
    assert!(matches!(endpoint.recv().await.message, Message::Pong(back) if back == number));
}

async fn flood(endpoint: &mut Endpoint<Message>, to: Address) -> f64 {
    let start = Instant::now();
    for number in 0..ONE_WAY {
        endpoint.send(to, ping(number)).await.expect("it can be sent");
    }
    endpoint.send(to, Message::Last).await.expect("it can be sent");
    assert!(matches!(endpoint.recv().await.message, Message::Pong(ONE_WAY)), "all arrive");
    ONE_WAY as f64 / start.elapsed().as_secs_f64()
}

async fn many(net: &Network<Message>, to: Address) -> f64 {
    let start = Instant::now();
    let each = 10 * ROUND_TRIPS / ENDPOINTS;
    let clients = (0..ENDPOINTS).map(|client| {
        let mut endpoint = net.endpoint(format!("client {client}"));
        tokio::spawn(async move {
            for number in 0..each {
                round_trip(&mut endpoint, to, number).await;
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.expect("all are answered");
    }
    (each * ENDPOINTS) as f64 / start.elapsed().as_secs_f64()
}

/// The median of the latencies, and what 99 of 100 are below.
async fn single(endpoint: &mut Endpoint<Message>, to: Address) -> [Duration; 2] {
    let mut times = Vec::new();
    for number in 0..ROUND_TRIPS {
        let start = Instant::now();
        round_trip(endpoint, to, number).await;
        times.push(start.elapsed());
    }
    times.sort();
    [times[times.len() / 2], times[times.len() * 99 / 100]]
}

/// The other process, stopped when this one is done.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn cluster_file() -> String {
    let free = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("the system has a free port"));
    let [alpha, beta] = free.each_ref().map(|port| port.local_addr().expect("it is bound"));
    let clients: Vec<String> = (0..ENDPOINTS).map(|client| format!("\"client {client}\"")).collect();
    format!(
        "[node.alpha]\naddress = \"{alpha}\"\nhosts = [\"one\", {}]\n[node.beta]\naddress = \"{beta}\"\nhosts = [\"flooded\", \"pinged\"]\n",
        clients.join(", ")
    )
}

/// Signs a certificate for each node; the table of the cluster file that names them.
fn certificates(dir: &Path) -> &'static str {
    let key = || KeyPair::generate().expect("keys can be made");
    let write = |file: &str, text: String| fs::write(dir.join(file), text).expect("it can be written");
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, key()).expect("it can be signed");
    write("authority.crt", authority.pem());
    for node in ["alpha", "beta"] {
        let (params, key) = (CertificateParams::new([node.to_owned()]).expect("a name"), key());
        write(&format!("{node}.crt"), params.signed_by(&key, &authority).expect("it can be signed").pem());
        write(&format!("{node}.key"), key.serialize_pem());
    }
    "[tls]\nauthority = 'authority.crt'\ncertificate = '{node}.crt'\nkey = '{node}.key'\n"
}

async fn measure(what: &str, table: fn(&Path) -> &'static str) {
    let dir = tempfile::tempdir().expect("there is a place for temporary files");
    let file = dir.path().join("cluster.toml");
    fs::write(&file, cluster_file() + table(dir.path())).expect("the file can be written");
    let this = env::current_exe().expect("this program has a path");
    let _other = Other(Command::new(this).args(["beta".as_ref(), file.as_os_str()]).spawn().expect("it can be run"));
    let net = host("alpha", &file).await;
    let mut one = net.endpoint("one");
    let (pinged, flooded) = (net.address("pinged"), net.address("flooded"));
    round_trip(&mut one, pinged, 0).await;
    for _ in 0..3 {
        let one_way = flood(&mut one, flooded).await;
        println!("{what}: {one_way:9.0} messages/s one way");
    }
    println!("{what}: {:9.0} round trips/s of {ENDPOINTS} endpoints", many(&net, pinged).await);
    let [median, most] = single(&mut one, pinged).await;
    println!("{what}: {median:?} a round trip (median), {most:?} (99 %)");
}

async fn host(node: &str, file: &Path) -> Network<Message> {
    let host = Cluster::read(file).and_then(|cluster| cluster.host(node)).expect("the cluster is good");
    host.network(Delivery::PerSender).await.expect("the node can be hosted")
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [node, file] = arguments.as_slice()
        && node == "beta"
    {
        return serve(host(node, file.as_ref()).await).await;
    }
    measure("tcp", |_| "").await;
    measure("tls", certificates).await;
}

//! Replicated services between processes, of which one is killed and started again.

mod place;

use delay::net::cluster::Cluster;
use delay_examples::services::{
    client::{Client, Patience},
    commit::{Account, Bug, transfer},
    deploy::{Connection, Served, Services},
    machine::{HashTable, Lists, Participant, lists, participant, table},
    replica::Status,
};
use place::{Place, Process};
use std::{fs, process::Command, time::Duration};

/// The files of a deployment, and where its nodes keep what they store.
struct Deployment<'a> {
    place: Place,
    names: &'a [&'a str],
}

impl<'a> Deployment<'a> {
    /// One node for each of the names, and one of all clients.
    fn new(services: &str, names: &'a [&'a str], clients: &[&str]) -> Self {
        let nodes = names.iter().map(|name| (*name, vec![*name])).chain([("clients", clients.to_vec())]);
        let place = Place::new("[limits]\nretry_max_ms = 100\n", &nodes.collect::<Vec<_>>());
        fs::write(place.file("services.toml"), services).expect("the file can be written");
        Self { place, names }
    }

    fn start(&self, name: &str) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_services"));
        command.arg("node").args(["--node", name]);
        for (option, file) in [("--cluster", "cluster.toml"), ("--services", "services.toml"), ("--data", name)] {
            command.arg(option).arg(self.place.file(file));
        }
        Process::start(&mut command, name).0
    }

    fn start_all(&self) -> Vec<Process> {
        self.names.iter().map(|name| self.start(name)).collect()
    }

    async fn connect<M: Served>(&self) -> Connection<M> {
        let cluster = Cluster::read(self.place.file("cluster.toml")).expect("it is a cluster file");
        let services = Services::read(self.place.file("services.toml")).expect("it is a services file");
        Connection::open(&cluster, &services, "clients").await.expect("the port is free")
    }
}

const CHAIN: &str = r#"
    protocol = "chain"
    service = "table"
    tick_ms = 20
    patience_ticks = 15
    [group.table]
    replicas = ["r1", "r2", "r3"]
    master = "master"
    dispatchers = ["dispatcher"]
"#;

const PATIENCE: Patience = Patience { pause: Duration::from_millis(300), attempts: 100 };

/// Counts up by compare-and-swap, from so much: nothing of it may be lost or done twice.
async fn count(client: &mut Client<HashTable>, from: u32, to: u32) {
    for n in from..to {
        let expected = (n > 0).then(|| n.to_string());
        let swapped = client.call(table::Op::Cas("n".into(), expected, (n + 1).to_string())).await;
        assert_eq!(swapped, Ok(table::Ret::Swapped(true)), "{n}");
    }
}

/// Kills each of the replicas once, and starts it again.
async fn counts_on(services: &str, names: &[&str], replicas: &[&str]) {
    let deployment = Deployment::new(services, names, &["client1", "observer"]);
    let mut nodes = deployment.start_all();
    let connection = deployment.connect().await;
    let mut client = connection.client("client1", "table", PATIENCE).expect("the files say so");
    let mut n = 0;
    count(&mut client, n, n + 20).await;
    for replica in replicas {
        let index = names.iter().position(|name| name == replica).expect("it is one of them");
        n += 20;
        drop(nodes.remove(index));
        count(&mut client, n, n + 20).await;
        nodes.insert(index, deployment.start(replica));
        n += 20;
        count(&mut client, n, n + 20).await;
    }
    let read = client.call(table::Op::Get("n".into())).await;
    assert_eq!(read, Ok(table::Ret::Value(Some((n + 20).to_string()))));
    all_are_back(&connection).await;
}

/// Waits until all replicas take part and have everything.
async fn all_are_back(connection: &Connection<HashTable>) {
    let mut observer = connection.observer("observer", "table").expect("the files say so");
    let is_same = |seen: &[(&str, Option<Status>)]| {
        let known: Vec<Status> = seen.iter().filter_map(|(_, status)| *status).collect();
        let same = |status: &Status| {
            (status.is_in, status.applied, status.digest) == (true, known[0].applied, known[0].digest)
        };
        known.len() == seen.len() && known.iter().all(same)
    };
    let mut looks_left = 1_000;
    loop {
        let seen = observer.look(Duration::from_millis(300)).await;
        if is_same(&seen) {
            return;
        }
        looks_left -= 1;
        assert!(looks_left > 0, "{seen:?}");
        // The replicas must have their turns.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_counts_on_whichever_replica_is_killed() {
    let names = ["r1", "r2", "r3", "master", "dispatcher"];
    counts_on(CHAIN, &names, &["r1", "r2", "r3", "master"]).await;
}

/// It is suspected, and is not dead: it comes back in the middle of what it did.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_was_held_up_does_no_harm() {
    let names = ["r1", "r2", "r3", "master", "dispatcher"];
    let deployment = Deployment::new(CHAIN, &names, &["client1", "observer"]);
    let nodes = deployment.start_all();
    let connection = deployment.connect().await;
    let mut client = connection.client("client1", "table", PATIENCE).expect("the files say so");
    let signal = |signal: &str| {
        let sent = Command::new("kill").args([signal, &nodes[0].0.id().to_string()]).status().expect("there is `kill`");
        assert!(sent.success());
    };
    count(&mut client, 0, 20).await;
    signal("-STOP");
    count(&mut client, 20, 40).await;
    signal("-CONT");
    count(&mut client, 40, 60).await;
    all_are_back(&connection).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_majority_counts_on_whichever_replica_is_killed() {
    let services = r#"
        protocol = "paxos"
        service = "table"
        tick_ms = 20
        patience_ticks = 15
        [group.table]
        replicas = ["r1", "r2", "r3"]
        dispatchers = ["dispatcher"]
    "#;
    let names = ["r1", "r2", "r3", "dispatcher"];
    counts_on(services, &names, &["r1", "r2", "r3"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_keep_what_was_appended_when_all_replicas_are_killed_at_once() {
    let services = r#"
        protocol = "paxos"
        service = "lists"
        [group.lists]
        replicas = ["r1", "r2", "r3"]
        dispatchers = ["dispatcher"]
    "#;
    let deployment = Deployment::new(services, &["r1", "r2", "r3", "dispatcher"], &["client1"]);
    let nodes = deployment.start_all();
    let connection = deployment.connect::<Lists>().await;
    let mut client = connection.client("client1", "lists", PATIENCE).expect("the files say so");
    let append = |n: u64| lists::Op::Append("l".into(), n.to_string());
    for n in 0..10 {
        assert_eq!(client.call(append(n)).await, Ok(lists::Ret::Length(n + 1)));
    }
    drop(nodes);
    let _nodes = deployment.start_all();
    assert_eq!(client.call(append(10)).await, Ok(lists::Ret::Length(11)));
    let values = (0..11).map(|n| n.to_string()).collect();
    assert_eq!(client.call(lists::Op::Read("l".into(), 0)).await, Ok(lists::Ret::Values(values)));
}

#[tokio::test(flavor = "multi_thread")]
async fn transfers_between_chains_are_atomic_when_a_head_is_killed() {
    let services = r#"
        protocol = "chain"
        service = "commit"
        tick_ms = 20
        patience_ticks = 15
        [group.left]
        replicas = ["l1", "l2"]
        master = "left"
        dispatchers = ["to_left"]
        [group.right]
        replicas = ["r1", "r2"]
        master = "right"
        dispatchers = ["to_right"]
    "#;
    let names = ["l1", "l2", "left", "to_left", "r1", "r2", "right", "to_right"];
    let deployment = Deployment::new(services, &names, &["ada at left", "ada at right"]);
    let mut nodes = deployment.start_all();
    let connection = deployment.connect::<Participant>().await;
    let client = |group| connection.client(&format!("ada at {group}"), group, PATIENCE).expect("the files say so");
    let (mut left, mut right) = (client("left"), client("right"));
    for client in [&mut left, &mut right] {
        let opened = client.call(participant::Op::Open("a".into(), 100)).await;
        assert_eq!(opened, Ok(participant::Ret::Opened(true)));
    }
    for n in 0..12 {
        if n == 4 {
            nodes.remove(4);
        }
        let (from, to) = (Account { at: &mut left, name: "a" }, Account { at: &mut right, name: "a" });
        assert_eq!(transfer(from, to, 10, Bug::None).await, Ok(n < 10), "{n}");
    }
    for (client, total) in [(&mut left, 0), (&mut right, 200)] {
        assert_eq!(client.call(participant::Op::Total).await, Ok(participant::Ret::Total(total)));
        let undecided = client.call(participant::Op::Undecided(1)).await;
        assert_eq!(undecided, Ok(participant::Ret::Undecided(vec![])));
    }
}

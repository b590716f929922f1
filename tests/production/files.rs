//! Cluster files, and what is wrong with them.

use delay::net::{
    Delivery, Network,
    cluster::{Cluster, ClusterError, Limits},
};
use std::time::Duration;

fn wrong(text: &str) -> String {
    text.parse::<Cluster>().expect_err("something is wrong").to_string()
}

#[test]
fn a_file_is_the_cluster_it_describes() {
    let text = "
        [node.alpha]
        address = '127.0.0.1:7001'
        hosts = ['a']
        [node.beta]
        address = '[::1]:7002'
        hosts = ['b', 'c']
        [limits]
        heartbeat_ms = 250
    ";
    let limits = Limits { heartbeat: Duration::from_millis(250), ..Limits::default() };
    let cluster = Cluster::new(limits).and_then(|cluster| cluster.node("alpha", "127.0.0.1:7001", ["a"]));
    let cluster = cluster.and_then(|cluster| cluster.node("beta", "[::1]:7002", ["b", "c"]));
    assert_eq!(text.parse::<Cluster>().expect("it is good"), cluster.expect("it is good"));
}

#[test]
fn what_contradicts_itself_is_refused() {
    let one = "[node.alpha]\naddress = '127.0.0.1:7001'\nhosts = ['a']\n";
    let with = |more: &str| wrong(&format!("{one}{more}"));
    assert_eq!(
        with("[node.beta]\naddress = '127.0.0.1:7002'\nhosts = ['a']"),
        "the nodes alpha and beta both host a: a name is hosted once"
    );
    assert_eq!(
        with("[node.beta]\naddress = '127.0.0.1:7002'\nhosts = ['b', 'b']"),
        "the node beta hosts b twice: a name is hosted once"
    );
    assert_eq!(
        with("[node.beta]\naddress = '127.0.0.1:7001'\nhosts = ['b']"),
        "the nodes alpha and beta have the same address 127.0.0.1:7001: give each one of its own"
    );
    assert_eq!(
        with("[limits]\nsilence_ms = 100"),
        "`silence_ms` must be more than `heartbeat_ms`, or an idle node would be taken for a dead one"
    );
    assert_eq!(
        with("[limits]\nqueue_bytes_max = 100"),
        "`queue_bytes_max` and `inbox_bytes_max` must be at least 64 more than `frame_bytes_max`, or the largest message would never find room"
    );
    let twice = with("[node.alpha]\naddress = '127.0.0.1:7002'\nhosts = ['b']");
    assert!(twice.contains("line 4") && twice.contains("duplicate key"), "{twice}");
}

#[test]
fn what_is_unknown_missing_or_misspelt_is_shown() {
    assert_eq!(wrong(""), "there is no node: add a table `[node.NAME]` with `address` and `hosts`");
    let unknown = wrong("[node.alpha]\nadress = '127.0.0.1:7001'\nhosts = ['a']");
    assert!(unknown.contains("line 2") && unknown.contains("unknown field `adress`"), "{unknown}");
    let unknown = wrong("[limits]\nheartbeat = 7");
    assert!(unknown.contains("unknown field `heartbeat`") && unknown.contains("`heartbeat_ms`"), "{unknown}");
    let missing = wrong("[node.alpha]\naddress = '127.0.0.1:7001'");
    assert!(missing.contains("missing field `hosts`"), "{missing}");
    for bad in
        ["", "7001", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:70000", "300.0.0.1:1", "::1:7001", "a b:1", "[::1:7", ":7"]
    {
        let told = wrong(&format!("[node.alpha]\naddress = '{bad}'\nhosts = ['a']"));
        assert_eq!(
            told,
            format!("\"{bad}\" of the node alpha is no address: write host:port, like 127.0.0.1:7001 or [::1]:7001")
        );
    }
    for bad in ["''", "\"\\n\"", &format!("'{}'", "x".repeat(129))] {
        let told = wrong(&format!("[node.alpha]\naddress = '127.0.0.1:7001'\nhosts = [{bad}]"));
        assert!(told.ends_with("is no name: 1 to 128 bytes without control characters"), "{told}");
    }
    let cluster: Cluster = "[node.alpha]\naddress = 'localhost:7001'\nhosts = ['a']".parse().expect("it is good");
    let error = cluster.host("beta").expect_err("there is no beta");
    assert_eq!(error.to_string(), "there is no node beta in the cluster; there are: alpha");
    let error = Cluster::read("/nowhere/cluster.toml").expect_err("there is no such file");
    assert!(error.to_string().starts_with("the cluster file /nowhere/cluster.toml cannot be read: "), "{error}");
}

#[tokio::test]
async fn connections_from_elsewhere_are_asked_for_in_so_many_words() {
    let cluster: Cluster = "[node.alpha]\naddress = '0.0.0.0:7001'\nhosts = ['a']".parse().expect("it is good");
    let made: Result<Network<u32>, _> = cluster.host("alpha").expect("there").network(Delivery::PerSender).await;
    assert!(matches!(made, Err(ClusterError::NotLoopback { .. })), "{made:?}");
}

#[tokio::test]
async fn a_node_that_runs_already_is_not_hosted_again() {
    let (listener, address) = crate::rig::listener().await;
    let text = format!("[node.alpha]\naddress = '{address}'\nhosts = ['a']");
    let cluster: Cluster = text.parse().expect("it is good");
    let made: Result<Network<u32>, _> = cluster.host("alpha").expect("there").network(Delivery::PerSender).await;
    let told = made.expect_err("somebody listens there").to_string();
    assert!(told.contains("is another process there, or this node a second time"), "{told}");
    drop(listener);
    let once = cluster.host("alpha").expect("there").network::<u32>(Delivery::PerSender).await.expect("it is free");
    let twice = cluster.host("alpha").expect("there").network::<u32>(Delivery::PerSender).await;
    assert!(matches!(twice, Err(ClusterError::Listen { .. })), "{twice:?}");
    drop(once);
}

#[tokio::test]
async fn a_node_that_anybody_can_reach_says_so() {
    let (events, _guard) = crate::events::Events::listen();
    let (listener, address) = crate::rig::listener().await;
    let port = address.port();
    let text = format!("[node.alpha]\naddress = '127.0.0.1:{port}'\nlisten = '0.0.0.0:{port}'\nhosts = ['a']");
    drop(listener);
    let cluster: Cluster = text.parse().expect("it is good");
    let _net: Network<u32> = cluster.host("alpha").expect("there").network(Delivery::PerSender).await.expect("free");
    let told = events.with("connections are accepted from elsewhere, and neither encrypted nor authenticated").await;
    assert!(told.starts_with("WARN"), "{told}");
}

#[tokio::test]
async fn an_order_that_nodes_cannot_keep_is_refused() {
    let cluster: Cluster = "[node.alpha]\naddress = 'localhost:7001'\nhosts = ['a']".parse().expect("it is good");
    let (listener, _) = crate::rig::listener().await;
    let made: Result<Network<u32>, _> =
        cluster.host("alpha").expect("there").network_over(delay::net::transport::Tcp::from(listener), Delivery::Fifo);
    assert!(matches!(made, Err(ClusterError::Delivery(Delivery::Fifo))), "{made:?}");
}

#[test]
fn a_test_makes_its_network_itself() {
    let body = || async {
        let cluster =
            Cluster::new(Limits::default()).and_then(|cluster| cluster.node("alpha", "localhost:7001", ["a"]));
        let host = cluster.and_then(|cluster| cluster.host("alpha")).expect("it is good");
        let made: Result<Network<u32>, _> = host.network(Delivery::PerSender).await;
        assert!(matches!(made, Err(ClusterError::UnderTest)), "{made:?}");
    };
    assert!(delay::Checker::new().check(body).is_complete());
}

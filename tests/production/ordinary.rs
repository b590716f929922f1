//! What a network between nodes does when nothing goes wrong.

use crate::{
    events::Events,
    rig::{cluster, guard, host, limits, listener, three},
};
use delay::net::{
    Delivery, Network, Unsent,
    cluster::{Cluster, Limits},
    transport::Tcp,
};
use std::{panic, time::Duration};

#[tokio::test]
async fn messages_of_each_sender_arrive_in_order() {
    // Room for all that is sent before the nodes have found each other.
    let ([alpha, beta, gamma], _) = three(Limits::default()).await;
    let mut b = beta.endpoint("b");
    let senders = [alpha.endpoint("a"), alpha.endpoint("a2"), gamma.endpoint("c")].map(|sender| {
        tokio::spawn(async move {
            let to = sender.network().address("b");
            for n in 0..500 {
                sender.send(to, n.to_string()).await.expect("b is there");
            }
        })
    });
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..1_500 {
        let got = guard(b.recv()).await;
        let next = seen.entry(got.from).or_insert(0);
        assert_eq!(got.message, next.to_string(), "from {}", got.from);
        *next += 1;
    }
    for sender in senders {
        guard(sender).await.expect("it sends all");
    }
    assert_eq!(b.try_recv(), None, "nothing arrives twice");
}

#[tokio::test]
async fn answers_go_to_the_address_a_message_came_from() {
    let ([alpha, beta, _gamma], _) = three(limits()).await;
    let (mut a, mut b) = (alpha.endpoint("a"), beta.endpoint("b"));
    a.send(alpha.address("b"), "ping".to_owned()).await.expect("b is there");
    let ping = guard(b.recv()).await;
    b.send(ping.from, "pong".to_owned()).await.expect("a is there");
    let pong = guard(a.recv()).await;
    assert_eq!((pong.from, pong.message.as_str()), (b.address(), "pong"));
}

#[tokio::test]
async fn a_message_waits_for_its_endpoint_to_be_bound() {
    let ([alpha, beta, _gamma], _) = three(limits()).await;
    let a = alpha.endpoint("a");
    a.send(alpha.address("b"), "early".to_owned()).await.expect("b will be there");
    alpha.shutdown(Duration::from_mins(1)).await.expect("it is written");
    assert_eq!(guard(beta.endpoint("b").recv()).await.message, "early");
}

/// The only other node does not exist, and the transport refuses to carry anything.
#[tokio::test]
async fn within_a_node_no_socket_is_touched() {
    let (tcp, address) = listener().await;
    let cluster = Cluster::new(limits()).expect("good").node("alone", address.to_string(), ["a", "b"]).expect("a node");
    let net: Network<String> =
        cluster.host("alone").expect("there").network_over(Tcp::from(tcp), Delivery::Unordered).expect("good");
    let (a, mut b) = (net.endpoint("a"), net.endpoint("b"));
    // Larger than a frame may be: it never becomes one.
    let large = "x".repeat(1 << 16);
    a.send(b.address(), large.clone()).await.expect("b is there");
    assert_eq!(b.try_recv().expect("it is there at once").message, large);
    drop(b);
    let unsent = a.send(net.address("b"), "late".to_owned()).await.expect_err("b is gone");
    assert_eq!((unsent.0.as_str(), unsent.1), ("late", Unsent::Dropped));
}

#[tokio::test]
async fn a_message_too_large_is_the_senders_error() {
    let ([alpha, beta, _gamma], _) = three(limits()).await;
    let (a, mut b) = (alpha.endpoint("a"), beta.endpoint("b"));
    let error = a.send(alpha.address("b"), "x".repeat(5_000)).await.expect_err("it is too large");
    assert_eq!(error.0.len(), 5_000, "the message comes back");
    assert_eq!(
        error.to_string(),
        "the message is 5015 bytes long, at most 4096 may be sent: split it, or raise `frame_bytes_max` on every node"
    );
    a.send(alpha.address("b"), "x".repeat(4_000)).await.expect("it is not");
    assert_eq!(guard(b.recv()).await.message.len(), 4_000);
}

/// What one node may send another must accept: the smaller limit counts, and no connection is lost over it.
#[tokio::test]
async fn nodes_tell_each_other_how_large_a_message_may_be() {
    let (events, _guard) = Events::listen();
    let (alpha, beta, gamma) = (listener().await, listener().await, listener().await);
    let addresses = [alpha.1, beta.1, gamma.1];
    let alpha = host(&cluster(limits(), addresses), "alpha", alpha.0);
    let small = Limits { frame_bytes_max: 1_000, ..limits() };
    let beta = host(&cluster(small, addresses), "beta", beta.0);
    let (mut a, mut b) = (alpha.endpoint("a"), beta.endpoint("b"));
    // Nobody has told yet.
    a.send(alpha.address("b"), "x".repeat(2_000)).await.expect("it is queued");
    a.send(alpha.address("b"), "x".repeat(900)).await.expect("it is queued");
    assert_eq!(guard(b.recv()).await.message.len(), 900);
    let told = events.with("a message was lost: it was sent before the node said what it accepts").await;
    assert!(told.contains("node=beta") && told.contains("bytes=2015 bytes_max=1000"), "{told}");
    let error = a.send(alpha.address("b"), "x".repeat(2_000)).await.expect_err("it is too large there");
    assert_eq!(error.1, Unsent::Oversized { bytes: 2_015, bytes_max: 1_000 });
    a.send(alpha.address("b"), "x".repeat(900)).await.expect("it is not");
    assert_eq!(guard(b.recv()).await.message.len(), 900);
    // The other way its own limit counts.
    let error = b.send(beta.address("a"), "x".repeat(2_000)).await.expect_err("it is too large here");
    assert_eq!(error.1, Unsent::Oversized { bytes: 2_015, bytes_max: 1_000 });
    b.send(beta.address("a"), "x".repeat(900)).await.expect("it is not");
    assert_eq!(guard(a.recv()).await.message.len(), 900);
    assert!(!events.all().iter().any(|told| told.contains("was closed")), "{:?}", events.all());
}

#[tokio::test]
async fn shutting_down_sends_what_is_queued() {
    let ([alpha, beta, _gamma], _) = three(limits()).await;
    let (a, mut b) = (alpha.endpoint("a"), beta.endpoint("b"));
    for n in 0..100 {
        a.send(alpha.address("b"), n.to_string()).await.expect("b is there");
    }
    alpha.shutdown(Duration::from_mins(1)).await.expect("all is written");
    for n in 0..100 {
        assert_eq!(b.try_recv().expect("it has arrived").message, n.to_string());
    }
    alpha.shutdown(Duration::ZERO).await.expect("there is nothing left");
    a.send(alpha.address("b"), "late".to_owned()).await.expect("it is lost, as by a crash");
}

#[tokio::test]
async fn shutting_down_gives_up_on_a_node_that_is_away() {
    let ([alpha, _beta, gamma], _) = three(limits()).await;
    gamma.shutdown(Duration::from_mins(1)).await.expect("nothing is queued");
    let a = alpha.endpoint("a");
    // Once gamma is known to be away nothing more leaves the queue.
    guard(async {
        loop {
            for _ in 0..100 {
                a.send(alpha.address("c"), "x".repeat(1_000)).await.expect("it is queued or lost");
            }
            tokio::task::yield_now().await;
            if let Err(unflushed) = alpha.shutdown(Duration::from_millis(1)).await {
                assert!(unflushed.nodes.contains(&"gamma".to_owned()), "{unflushed}");
                break;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn names_are_those_of_the_cluster() {
    let ([alpha, _beta, _gamma], _) = three(limits()).await;
    let told = |what: &dyn Fn()| {
        let panicked = panic::catch_unwind(panic::AssertUnwindSafe(what)).expect_err("it is refused");
        panicked.downcast_ref::<String>().expect("with a text").clone()
    };
    assert_eq!(
        told(&|| drop(alpha.endpoint("b"))),
        "b is hosted by beta: bind a name on the node that hosts it in the cluster file"
    );
    assert_eq!(
        told(&|| {
            let _ = alpha.address("zeta");
        }),
        "no node hosts zeta: put the name into `hosts` of a node in the cluster file"
    );
}

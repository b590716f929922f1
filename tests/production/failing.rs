//! Peers that are away, come back, or do not read.

use crate::{
    events::Events,
    rig::{Stranger, Text, WELCOME, at, cluster, framed, guard, host, limits, listener, message, three},
};
use delay::{
    net::{Endpoint, cluster::Limits},
    node::{Mail, Node},
};
use std::{task::Poll, time::Duration};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Sends numbers until one arrives; that one.
async fn until_one_arrives(from: &Endpoint<String>, to: &mut Endpoint<String>) -> u32 {
    guard(async {
        for n in 0.. {
            from.send(from.network().address(to.address().name()), n.to_string()).await.expect("it is queued or lost");
            let soon = tokio::time::timeout(Duration::from_millis(10), to.recv());
            if let Ok(got) = soon.await {
                return got.message.parse().expect("a number");
            }
        }
        unreachable!("there are more numbers")
    })
    .await
}

#[tokio::test]
async fn what_is_sent_to_a_node_that_is_not_up_yet_waits() {
    let (alpha, beta, gamma) = (listener().await, listener().await, listener().await);
    let cluster = cluster(limits(), [alpha.1, beta.1, gamma.1]);
    drop(beta.0);
    let alpha = host(&cluster, "alpha", alpha.0);
    let a = alpha.endpoint("a");
    for n in 0..10 {
        a.send(alpha.address("b"), n.to_string()).await.expect("it is queued");
    }
    let beta = host(&cluster, "beta", at(beta.1).await);
    let mut b = beta.endpoint("b");
    for n in 0..10 {
        assert_eq!(guard(b.recv()).await.message, n.to_string());
    }
}

#[tokio::test]
async fn what_finds_no_room_while_a_node_is_away_is_lost() {
    let (alpha, beta, gamma) = (listener().await, listener().await, listener().await);
    let cluster = cluster(limits(), [alpha.1, beta.1, gamma.1]);
    drop(beta.0);
    let alpha = host(&cluster, "alpha", alpha.0);
    let a = alpha.endpoint("a");
    // No send waits, although far more is sent than there is room for.
    for n in 0..1_000 {
        guard(a.send(alpha.address("b"), format!("{n} {}", "x".repeat(1_000)))).await.expect("it is queued or lost");
    }
    let beta = host(&cluster, "beta", at(beta.1).await);
    let mut b = beta.endpoint("b");
    // The oldest are kept, in order, and no gap is among them.
    for n in 0..15 {
        assert!(guard(b.recv()).await.message.starts_with(&format!("{n} ")));
    }
    a.send(alpha.address("b"), "last".to_owned()).await.expect("it is queued");
    assert_eq!(guard(b.recv()).await.message, "last");
}

#[tokio::test]
async fn a_node_that_starts_again_is_reached_again() {
    let ([alpha, beta, _gamma], addresses) = three(limits()).await;
    let cluster = cluster(limits(), addresses);
    let a = alpha.endpoint("a");
    let mut b = beta.endpoint("b");
    until_one_arrives(&a, &mut b).await;
    for _ in 0..3 {
        let beta: Text = b.network().clone();
        beta.shutdown(Duration::from_mins(1)).await.expect("nothing is queued");
        drop((b, beta));
        let beta = host(&cluster, "beta", at(addresses[1]).await);
        b = beta.endpoint("b");
        let first = until_one_arrives(&a, &mut b).await;
        // Whatever else was on its way comes in order, too.
        let mut last = first;
        while let Some(next) = b.try_recv() {
            let next = next.message.parse().expect("a number");
            assert!(next > last, "{next} after {last}");
            last = next;
        }
    }
}

/// What waits is bounded; the same node's heartbeats, its other senders' nodes and everybody else go on.
#[tokio::test]
async fn an_endpoint_that_never_receives_holds_up_its_senders_only() {
    // No write is given up here: the one that waits is looked at.
    let patient = Limits { write: Duration::from_mins(10), ..limits() };
    let ([alpha, beta, gamma], _) = three(patient).await;
    let (a, mut b, mut b2, mut c) = (alpha.endpoint("a"), beta.endpoint("b"), beta.endpoint("b2"), gamma.endpoint("c"));
    until_one_arrives(&a, &mut b).await;
    let flood = tokio::spawn(async move {
        for n in 0.. {
            let large = format!("{n:8}{}", "x".repeat(4_000));
            a.send(a.network().address("b"), large).await.expect("b is there");
        }
    });
    // All this time the flood goes on, or is held up.
    let a2 = alpha.endpoint("a2");
    for n in 0..100 {
        a2.send(alpha.address("c"), n.to_string()).await.expect("c is there");
        assert_eq!(guard(c.recv()).await.message, n.to_string());
        c.send(gamma.address("b2"), n.to_string()).await.expect("b2 is there");
        assert_eq!(guard(b2.recv()).await.message, n.to_string());
    }
    // It is alive and its messages are in order as soon as somebody receives them.
    let mut last = None;
    while last.is_none_or(|last| last < 2_000) {
        let got = guard(b.recv()).await.message;
        let Ok(n) = got[..got.len().min(8)].trim().parse::<u32>() else { continue };
        if got.len() > 100 {
            assert_eq!(n, last.map_or(0, |last: u32| last + 1));
            last = Some(n);
        }
    }
    assert!(!flood.is_finished());
    flood.abort();
}

/// A send waits for room, and no longer when the slow peer is given up.
#[tokio::test]
async fn a_peer_that_never_reads_is_given_up_and_no_send_waits_for_ever() {
    let (alpha, beta, gamma) = (listener().await, listener().await, listener().await);
    let cluster = cluster(limits(), [alpha.1, beta.1, gamma.1]);
    let alpha = host(&cluster, "alpha", alpha.0);
    let gamma = host(&cluster, "gamma", gamma.0);
    // In beta's place: welcomes, shows that it is alive, and reads nothing.
    let (mut stream, _) = guard(beta.0.accept()).await.expect("alpha or gamma calls");
    let mut hello = [0; 64];
    let n = guard(stream.read(&mut hello)).await.expect("it introduces itself");
    let is_alpha = hello[..n].windows(5).any(|name| name == b"alpha");
    let (sender, net, mut other) = if is_alpha {
        (alpha.endpoint("a"), alpha.clone(), gamma.endpoint("c"))
    } else {
        (gamma.endpoint("c"), gamma.clone(), alpha.endpoint("a"))
    };
    let mut stranger = Stranger(stream);
    stranger.frame(WELCOME).await;
    let (mut read, mut write) = stranger.0.into_split();
    let beats = tokio::spawn(async move {
        while write.write_all(b"\0\0\0\x01\0").await.is_ok() {
            tokio::task::yield_now().await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let mut waited = false;
    guard(async {
        // More than queue and sockets hold, until a send has waited, and for once after that.
        loop {
            let mut send = std::pin::pin!(sender.send(net.address("b"), "x".repeat(4_000)));
            let at_once = std::future::poll_fn(|cx| Poll::Ready(send.as_mut().poll(cx).is_ready())).await;
            if !at_once {
                waited = true;
                send.await.expect("it is queued or lost");
                break;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(waited);
    until_one_arrives(&sender, &mut other).await;
    // It was given up: the beats cannot be written any more.
    while let Ok(1..) = guard(read.read(&mut hello)).await {}
    guard(beats).await.expect("it ends");
}

/// Takes connections and says nothing: neither before the welcome nor after it.
#[tokio::test]
async fn a_half_open_peer_is_noticed() {
    let limits = Limits { connect: Duration::from_millis(200), ..limits() };
    let (alpha, beta, gamma) = (listener().await, listener().await, listener().await);
    let cluster = cluster(limits, [alpha.1, beta.1, gamma.1]);
    let alpha = host(&cluster, "alpha", alpha.0);
    let a = alpha.endpoint("a");
    a.send(alpha.address("b"), "lost".to_owned()).await.expect("it is queued");
    // Not welcomed: alpha calls again.
    let (first, _) = guard(beta.0.accept()).await.expect("alpha calls");
    let (second, _) = guard(beta.0.accept()).await.expect("alpha calls again");
    // Welcomed, then silent: the message is written once, and alpha calls again.
    let mut second = Stranger(second);
    second.answer().await;
    second.frame(WELCOME).await;
    // Between the names and the message stands a time, 8 bytes.
    let frame = second.answer().await;
    assert_eq!((&frame[..5], &frame[13..]), (&b"\x01\x01a\x01b"[..], &b"\x04lost"[..]));
    let (third, _) = guard(beta.0.accept()).await.expect("alpha has noticed");
    drop((first, second, third));
    // The real one at last: what was written before is lost and never comes twice.
    let beta = host(&cluster, "beta", beta.0);
    let mut b = beta.endpoint("b");
    a.send(alpha.address("b"), "kept".to_owned()).await.expect("it is queued");
    assert_eq!(guard(b.recv()).await.message, "kept");
}

/// Two processes that are told to be one node: the later one is heard, and they do not push each other out again and again.
#[tokio::test]
async fn of_two_processes_of_one_name_the_later_is_heard() {
    let (events, _guard) = Events::listen();
    let ([alpha, beta, _gamma], addresses) = three(limits()).await;
    let cluster = cluster(limits(), addresses);
    let (first, mut b) = (alpha.endpoint("a"), beta.endpoint("b"));
    until_one_arrives(&first, &mut b).await;
    let mut all = Vec::new();
    for later in ["second", "third"] {
        let later_alpha = host(&cluster, "alpha", listener().await.0);
        let a = later_alpha.endpoint("a");
        a.send(later_alpha.address("b"), later.to_owned()).await.expect("it is queued");
        while guard(b.recv()).await.message != later {}
        // Those before it have tried again, and not come in.
        events.with("another process has connected under this node's name since").await;
        events.with("who says that it is \"alpha\" was replaced by another process of this name").await;
        events.clear();
        for n in 0..100 {
            first.send(alpha.address("b"), "stale".to_owned()).await.expect("it is queued or lost");
            a.send(later_alpha.address("b"), format!("{later} {n}")).await.expect("b is there");
            assert_eq!(guard(b.recv()).await.message, format!("{later} {n}"));
        }
        let told = events.all();
        assert!(!told.iter().any(|told| told.contains("it takes over")), "once is enough: {told:?}");
        all.push(later_alpha);
    }
}

#[tokio::test]
async fn a_node_that_takes_over_is_told_of() {
    let (events, _guard) = Events::listen();
    let ([alpha, beta, _gamma], addresses) = three(limits()).await;
    until_one_arrives(&alpha.endpoint("a"), &mut beta.endpoint("b")).await;
    let _later = host(&cluster(limits(), addresses), "alpha", listener().await.0);
    let told = events.with("it takes over. If both run, stop one").await;
    assert!(told.contains("node=alpha"), "{told}");
}

/// Says something now and then, and never to the end.
#[tokio::test]
async fn a_frame_that_trickles_is_not_waited_for() {
    let (events, _guard) = Events::listen();
    let (nets, [_, _, gamma]) = three(limits()).await;
    nets[1].shutdown(Duration::from_mins(1)).await.expect("nothing is queued");
    let stranger = Stranger::welcomed(gamma, "beta", "gamma").await;
    let (mut read, mut write) = stranger.0.into_split();
    let drip = tokio::spawn(async move {
        for byte in framed(&message("b", "c", &"x".repeat(4_000))) {
            if write.write_all(&[byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let mut rest = [0; 64];
    while let Ok(1..) = guard(read.read(&mut rest)).await {}
    let told = events.with("a frame was begun and was not whole within 500ms").await;
    assert!(told.contains("node=beta"), "{told}");
    drip.abort();
    // One that says nothing at all, and is not closed either.
    let silent = Stranger::welcomed(gamma, "beta", "gamma").await;
    silent.ends().await;
    events.with("nothing was heard for 500ms").await;
}

/// What an endpoint hears from a node of the program that binds `b`, crashes, and binds it again.
async fn heard_from_one_that_crashes(mail: Mail) -> Vec<String> {
    let ([alpha, beta, _gamma], _) = three(limits()).await;
    let (mut a, mut b2) = (alpha.endpoint("a"), beta.endpoint("b2"));
    let (to, server) = (alpha.address("b"), beta.clone());
    let node = Node::builder("server").mail(mail).start(move || {
        let net = server.clone();
        async move {
            let mut b = net.endpoint("b");
            let to = net.address("a");
            b.send(to, "bound".to_owned()).await.expect("nobody can tell");
            loop {
                let heard = b.recv().await;
                b.send(to, heard.message).await.expect("nobody can tell");
            }
        }
    });
    let mut heard = vec![guard(a.recv()).await.message];
    node.crash().await;
    a.send(to, "down".to_owned()).await.expect("nobody can tell");
    // What was sent before this has arrived when this has.
    a.send(alpha.address("b2"), "mark".to_owned()).await.expect("nobody can tell");
    guard(b2.recv()).await;
    node.restart().await;
    heard.push(guard(a.recv()).await.message);
    a.send(to, "up".to_owned()).await.expect("nobody can tell");
    while heard.last().is_some_and(|last| last != "up") {
        heard.push(guard(a.recv()).await.message);
    }
    heard
}

#[tokio::test]
async fn a_name_can_be_bound_again_when_its_node_has_crashed() {
    assert_eq!(heard_from_one_that_crashes(Mail::Kept).await, ["bound", "bound", "down", "up"]);
    assert_eq!(heard_from_one_that_crashes(Mail::Lost).await, ["bound", "bound", "up"]);
}

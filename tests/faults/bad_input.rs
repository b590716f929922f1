//! Faults that cannot be: told, not ignored.

use delay::{
    Checker, Faults, Payload, Report,
    net::{Delivery, Endpoint, Link, Network},
    node::Node,
    sync::oneshot,
};
use futures::FutureExt;
use std::{
    future::pending,
    sync::{Arc, Mutex},
};

fn told(report: &Report) -> String {
    let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| report.assert_passed()));
    *told.unwrap_err().downcast::<String>().unwrap()
}

fn refused(body: impl Fn() + Send + Sync) -> String {
    let report = Checker::new().check(|| async { body() });
    report.failure.unwrap().violation.to_string()
}

#[test]
fn a_fault_without_anything_to_happen_to_is_told() {
    let none = || async {};
    let unordered = || async { drop(Network::<u8>::new(Delivery::Unordered).endpoint("a")) };
    let one = || async { drop(Node::start("a", pending)) };
    let spared = || async { drop(Node::builder("a").faults(Faults::NONE).start(pending)) };
    let faults = Faults::NONE;
    for (told, fragment) in [
        (told(&Checker::new().faults(faults.drop(1)).check(none)), "no message comes"),
        (told(&Checker::new().faults(faults.delay(1)).check(none)), "no message comes"),
        (told(&Checker::new().faults(faults.duplicate(1)).check(unordered)), "`.cloned()`"),
        (told(&Checker::new().faults(faults.reorder(1)).check(unordered)), "kept in order"),
        (told(&Checker::new().faults(faults.crash(1)).check(none)), "starts no node"),
        (told(&Checker::new().faults(faults.crash(1)).check(spared)), "starts no node"),
        (told(&Checker::new().faults(faults.partition(1)).check(one)), "fewer than two nodes"),
    ] {
        assert!(told.contains("can never happen") && told.contains(fragment), "{told}");
    }
}

#[test]
#[should_panic(expected = "nothing can restart where nothing may crash")]
fn a_restart_needs_a_crash() {
    let _ = Checker::new().faults(Faults::NONE.restart(1));
}

#[test]
fn links_and_nodes_refuse_what_is_not_theirs() {
    for (told, fragment) in [
        (refused(|| drop(Link::<u8>::any().faults(Faults::NONE.crash(1)))), "a link cannot crash"),
        (refused(|| drop(Node::builder("a").faults(Faults::NONE.drop(1)))), "a node can only crash and restart"),
        (
            refused(|| {
                let link = Link::any().faults(Faults::NONE.duplicate(1));
                Network::<u8>::builder(Delivery::Fifo).link(link).build();
            }),
            "messages that cannot be copied",
        ),
        (
            refused(|| {
                let link = Link::any().faults(Faults::NONE.reorder(1));
                Network::builder(Delivery::Unordered).payload(Payload::<u8>::visible()).link(link).build();
            }),
            "an unordered network",
        ),
    ] {
        assert!(told.contains(fragment), "{told}");
    }
}

#[test]
fn too_many_nodes_to_partition_are_told() {
    let report = Checker::new().faults(Faults::NONE.partition(1)).check(|| async {
        for number in 0..9 {
            Node::start(format!("node {number}"), pending);
        }
    });
    assert!(report.failure.unwrap().violation.to_string().contains("at most 8 nodes"));
}

#[test]
fn a_link_that_matches_nothing_is_told() {
    let send = |link: fn() -> Link<u8>| {
        Checker::new().check(move || async move {
            let net = Network::builder(Delivery::Fifo).link(link()).link(Link::any()).build();
            let (mut server, client) = (net.endpoint("server"), net.endpoint("client"));
            client.send(server.address(), 1).await.unwrap();
            delay::task::spawn(async move { server.recv().await });
        })
    };
    let misspelt = told(&send(|| Link::to("sever").faults(Faults::NONE.drop(1))));
    assert!(misspelt.contains("the faults of a link to sever can never happen"), "{misspelt}");
    send(|| Link::to("server").faults(Faults::NONE.drop(1))).assert_passed();
    // One that spares messages need not match any.
    send(|| Link::to("sever")).assert_passed();
}

#[test]
fn a_message_for_a_name_that_nobody_binds_is_told() {
    let report = Checker::new().check(|| async {
        let net = Network::<u8>::new(Delivery::Fifo);
        let (_server, client) = (net.endpoint("server"), net.endpoint("client"));
        client.send(net.address("sever"), 1).await.unwrap();
    });
    let told = report.sentences();
    assert!(told.contains("messages were left for endpoint sever, which nobody binds"), "{told}");
}

#[test]
fn a_node_has_a_name_of_its_own_and_a_budget_that_can_be_spent() {
    let twice = refused(|| {
        let _ = (Node::start("a", pending), Node::start("a", pending));
    });
    assert!(twice.contains("there is a node named a already"), "{twice}");
    let alone = refused(|| drop(Node::builder("a").faults(Faults::NONE.restart(1))));
    assert!(alone.contains("nothing can restart where nothing may crash"), "{alone}");
}

#[test]
fn a_store_is_used_on_the_node_it_was_opened_on() {
    let report = Checker::new().check(|| async {
        let stored = Arc::new(delay::storage::Cell::<u8>::open("stored"));
        Node::start("a", move || {
            let stored = stored.clone();
            async move { stored.write(1).await }
        });
    });
    let told = report.failure.unwrap().violation.to_string();
    assert!(told.contains("used on another node than it was opened on"), "{told}");
}

/// An endpoint goes down with its node, so it is of no use elsewhere.
#[test]
fn an_endpoint_is_used_on_the_node_it_was_bound_on() {
    let used = |how: fn(&mut Endpoint<u8>)| {
        let report = Checker::new().check(move || async move {
            let net = Network::<u8>::new(Delivery::Fifo);
            let (give, given) = oneshot::channel();
            let give = Arc::new(Mutex::new(Some(give)));
            let there = net.clone();
            Node::start("a", move || {
                let endpoint = there.endpoint("moved");
                let give = give.lock().unwrap().take().unwrap();
                async move { drop(give.send(endpoint)) }
            });
            let mut endpoint = given.await.unwrap();
            how(&mut endpoint);
        });
        report.failure.unwrap().violation.to_string()
    };
    let ways: [fn(&mut Endpoint<u8>); 2] = [
        |endpoint| assert!(endpoint.try_recv().is_none()),
        |endpoint| assert!(endpoint.recv().now_or_never().is_none()),
    ];
    for how in ways {
        let told = used(how);
        assert!(told.contains("moved was bound on a and is") && told.contains("outside any node"), "{told}");
    }
}

/// Every execution was cut: that is no pass.
#[test]
fn nothing_is_claimed_of_executions_that_were_all_cut() {
    let report = Checker::new().max_steps(2).check(|| async {
        for _ in 0..9 {
            delay::flip().await;
        }
    });
    assert_eq!(report.coverage.executions, 0);
    assert!(!report.is_complete());
}

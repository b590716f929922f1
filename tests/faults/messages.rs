//! Faults of messages: lost, duplicated, overtaken, held back.

use crate::outcomes::{Outcomes, drain, outcomes};
use delay::{
    Checker, Faults, Payload,
    net::{Delivery, Link, Network},
    task, time,
};
use std::time::Duration;

fn network(delivery: Delivery) -> Network<u32> {
    Network::builder(delivery).payload(Payload::visible().cloned()).build()
}

/// Senders that send a message each, to one that receives what there is.
fn fan_in(senders: u32, all: Outcomes) {
    let net = network(Delivery::Fifo);
    let mut receiver = net.endpoint("receiver");
    task::spawn_named("receiver", async move { all.note(&drain(&mut receiver).await) });
    for sender in 0..senders {
        let endpoint = net.endpoint(format!("sender {sender}"));
        let to = net.address("receiver");
        task::spawn(async move { endpoint.send(to, sender).await.unwrap() });
    }
}

/// algorithms.md C.2: the sum over j of C(N, j) (N - j)! for up to f drops.
#[test]
fn lossy_fan_in_has_the_known_number_of_classes() {
    for (senders, expected) in [(2, [2, 4, 5]), (3, [6, 12, 15]), (4, [24, 48, 60])] {
        for (drops, expected) in (0..).zip(expected) {
            let checker = Checker::new().faults(Faults::NONE.drop(drops));
            let classes = outcomes(checker, |all| async move { fan_in(senders, all) });
            assert_eq!(classes.len(), expected, "{senders} senders, {drops} drops: {classes:?}");
        }
    }
}

/// One sender sends 1, 2, 3.
async fn in_order(net: Network<u32>, all: Outcomes) {
    let mut receiver = net.endpoint("receiver");
    let sender = net.endpoint("sender");
    task::spawn_named("receiver", async move { all.note(&drain(&mut receiver).await) });
    for number in 1..=3 {
        sender.send(net.address("receiver"), number).await.unwrap();
    }
}

fn of_one_sender(faults: Faults) -> Vec<String> {
    outcomes(Checker::new().faults(faults), |all| in_order(network(Delivery::Fifo), all))
}

#[test]
fn without_faults_nothing_happens() {
    assert_eq!(of_one_sender(Faults::NONE), ["[1, 2, 3]"]);
}

#[test]
fn a_message_may_be_lost() {
    assert_eq!(of_one_sender(Faults::NONE.drop(1)), ["[1, 2, 3]", "[1, 2]", "[1, 3]", "[2, 3]"]);
}

/// A duplicate arrives later: after the original, anywhere among those that follow it.
#[test]
fn a_message_may_arrive_twice() {
    let expected =
        ["[1, 1, 2, 3]", "[1, 2, 1, 3]", "[1, 2, 2, 3]", "[1, 2, 3, 1]", "[1, 2, 3, 2]", "[1, 2, 3, 3]", "[1, 2, 3]"];
    assert_eq!(of_one_sender(Faults::NONE.duplicate(1)), expected);
}

#[test]
fn a_message_may_overtake_those_before_it() {
    assert_eq!(of_one_sender(Faults::NONE.reorder(1)), ["[1, 2, 3]", "[1, 3, 2]", "[2, 1, 3]", "[3, 1, 2]"]);
}

#[test]
fn a_message_may_be_held_back() {
    let late = ["[1, 2, 3]", "[1, 2]", "[1, 3, 2]", "[1, 3]", "[2, 1, 3]", "[2, 3, 1]", "[2, 3]"];
    assert_eq!(of_one_sender(Faults::NONE.delay(1)), late);
}

/// Where the receiver gives up after a while, a message may come too late. With timers in order, only a message that is held back can come after the timer of somebody who waits for it.
#[test]
fn a_timer_may_come_before_a_message_that_is_held_back() {
    let late = |faults| {
        outcomes(Checker::new().faults(faults), |all| async move {
            let net = network(Delivery::Unordered);
            let (mut receiver, sender) = (net.endpoint("receiver"), net.endpoint("sender"));
            sender.send(net.address("receiver"), 1).await.unwrap();
            let first = time::timeout(Duration::from_secs(1), receiver.recv()).await.is_ok();
            let second = time::timeout(Duration::from_secs(1), receiver.recv()).await.is_ok();
            all.note(&(first, second));
        })
    };
    assert_eq!(late(Faults::NONE), ["(true, false)"]);
    assert_eq!(late(Faults::NONE.delay(1)), ["(false, false)", "(false, true)", "(true, false)"]);
}

#[test]
fn a_lost_message_is_lost_to_one_who_does_not_wait_too() {
    let polled = |faults| {
        outcomes(Checker::new().faults(faults), |all| async move {
            let net = network(Delivery::Unordered);
            let (mut receiver, sender) = (net.endpoint("receiver"), net.endpoint("sender"));
            sender.send(net.address("receiver"), 1).await.unwrap();
            task::yield_now().await;
            all.note(&receiver.try_recv().is_some());
        })
    };
    assert_eq!(polled(Faults::NONE), ["true"]);
    assert_eq!(polled(Faults::NONE.drop(1)), ["false", "true"]);
}

#[test]
fn a_link_has_a_budget_of_its_own() {
    let with = |links: fn() -> Vec<Link<u32>>| {
        outcomes(Checker::new(), move |all| async move {
            let mut builder = Network::builder(Delivery::Fifo).payload(Payload::visible());
            for link in links() {
                builder = builder.link(link);
            }
            in_order(builder.build(), all).await;
        })
    };
    assert_eq!(
        with(|| vec![Link::to("receiver").when(|_, _, n| *n == 2).faults(Faults::NONE.drop(1))]),
        ["[1, 2, 3]", "[1, 3]"]
    );
    assert_eq!(
        with(|| vec![Link::between("sender", "receiver").when(|_, _, n| *n == 3).faults(Faults::NONE.drop(3))]),
        ["[1, 2, 3]", "[1, 2]"]
    );
    assert_eq!(
        with(|| vec![Link::from("sender").when(|_, _, n| *n > 1), Link::any().faults(Faults::NONE.drop(3))]),
        ["[1, 2, 3]", "[2, 3]"]
    );
}

#[test]
fn a_fault_costs_a_delay() {
    let lossy = || async {
        let net = network(Delivery::Fifo);
        let (mut receiver, sender) = (net.endpoint("receiver"), net.endpoint("sender"));
        sender.send(net.address("receiver"), 1).await.unwrap();
        receiver.recv().await;
    };
    let checker = Checker::new().faults(Faults::NONE.drop(1));
    assert!(!checker.max_delays(0).check(lossy).is_failure());
    let report = checker.max_delays(1).check(lossy);
    let failure = report.failure.unwrap();
    assert_eq!(failure.trace.delays, 1);
    let events: Vec<_> = failure.events.iter().map(|event| format!("{} {}", event.process, event.text)).collect();
    assert!(events.contains(&"faults loses 1 to receiver".to_owned()), "{events:?}");
}

/// The trace knows what could go wrong: it replays without the test's settings.
#[test]
fn a_trace_of_a_fault_replays() {
    let lossy = || async {
        let net = network(Delivery::Fifo);
        let (mut receiver, sender) = (net.endpoint("receiver"), net.endpoint("sender"));
        sender.send(net.address("receiver"), 1).await.unwrap();
        receiver.recv().await;
    };
    let trace = Checker::new().faults(Faults::NONE.drop(1)).check(lossy).failure.unwrap().trace;
    assert_eq!(Checker::new().replay(&trace, lossy), trace);
}

#[test]
fn a_duplicate_comes_to_one_who_does_not_wait_too() {
    let seen = outcomes(Checker::new().faults(Faults::NONE.duplicate(1)), |all| async move {
        let net = network(Delivery::Fifo);
        let (mut receiver, sender) = (net.endpoint("receiver"), net.endpoint("sender"));
        sender.send(net.address("receiver"), 1).await.unwrap();
        task::yield_now().await;
        let mut poll = || receiver.try_recv().map(|envelope| envelope.message);
        all.note(&(poll(), poll(), poll()));
    });
    assert_eq!(seen, ["(Some(1), None, None)", "(Some(1), Some(1), None)"]);
}

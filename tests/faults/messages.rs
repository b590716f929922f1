//! Faults of messages: lost, duplicated, overtaken, held back.

use crate::outcomes::{Outcomes, drain, outcomes};
use delay::{
    Checker, Faults, Mode, Payload,
    net::{Delivery, Link, Network},
    node::{Mail, Node},
    storage::Cell,
    task, time,
};
use delay_core::trace::text;
use std::{future::pending, time::Duration};

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

/// Three messages of one sender, looked for three times: with a turn between, or at once.
fn looked_for(delivery: Delivery, faults: Faults, turn: bool) -> Vec<String> {
    outcomes(Checker::new().faults(faults), move |all| async move {
        let net = network(delivery);
        let (mut receiver, sender) = (net.endpoint("receiver"), net.endpoint("sender"));
        let to = receiver.address();
        for number in 1..=3 {
            sender.send(to, number).await.unwrap();
        }
        let mut seen = Vec::new();
        for _ in 0..3 {
            if turn {
                task::yield_now().await;
            }
            seen.extend(receiver.try_recv().map(|envelope| envelope.message));
        }
        all.note(&seen);
    })
}

/// One who does not wait sees what one who waits could have received.
#[test]
fn the_network_does_the_same_to_one_who_does_not_wait() {
    for turn in [true, false] {
        let looked = |delivery, faults| looked_for(delivery, faults, turn);
        for delivery in [Delivery::Fifo, Delivery::PerSender] {
            assert_eq!(looked(delivery, Faults::NONE), ["[1, 2, 3]"]);
            for (faults, name) in [(Faults::NONE.drop(1), "drop"), (Faults::NONE.reorder(1), "reorder")] {
                assert_eq!(looked(delivery, faults), of_one_sender(faults), "{name}");
            }
            assert_eq!(looked(delivery, Faults::NONE.reorder(2)).len(), 6);
        }
        assert_eq!(looked(Delivery::Unordered, Faults::NONE).len(), 6);
    }
}

/// Messages of two senders, of which one knows of the other's, come in any order to one who does not wait.
#[test]
fn messages_of_several_senders_may_arrive_in_any_order() {
    let seen = |delivery| {
        outcomes(Checker::new(), move |all| async move {
            let net = network(delivery);
            let (mut receiver, one, other) = (net.endpoint("receiver"), net.endpoint("one"), net.endpoint("other"));
            let to = receiver.address();
            one.send(to, 1).await.unwrap();
            task::spawn(async move { other.send(to, 2).await.unwrap() }).await.unwrap();
            let mut poll = || receiver.try_recv().map(|envelope| envelope.message);
            all.note(&(poll(), poll()));
        })
    };
    assert_eq!(seen(Delivery::Fifo), ["(Some(1), Some(2))"]);
    for delivery in [Delivery::PerSender, Delivery::Unordered] {
        assert_eq!(seen(delivery), ["(Some(1), Some(2))", "(Some(2), Some(1))"]);
    }
}

/// A message that is held back finds the name bound anew, after its first endpoint is gone.
#[test]
fn a_message_that_was_held_back_comes_to_the_next_endpoint_of_the_name() {
    let seen = |mail| {
        outcomes(Checker::new().faults(Faults::NONE.delay(1)), move |all| async move {
            let net = network(Delivery::Fifo);
            let there = net.clone();
            let node = Node::builder("node").mail(mail).start(move || {
                let (net, all) = (there.clone(), all.clone());
                async move {
                    let mut endpoint = net.endpoint("node");
                    all.note(&time::timeout(Duration::from_millis(1), endpoint.recv()).await.is_ok());
                }
            });
            net.endpoint("client").send(net.address("node"), 1).await.unwrap();
            time::sleep(Duration::from_millis(2)).await;
            node.crash().await;
            node.restart().await;
        })
    };
    for mail in [Mail::Kept, Mail::Lost] {
        assert_eq!(seen(mail), ["false", "true"], "{mail:?}");
    }
}

#[test]
fn a_trace_of_what_became_of_a_message_nobody_waited_for_replays() {
    let body = || async {
        let net = network(Delivery::PerSender);
        let (mut receiver, sender) = (net.endpoint("receiver"), net.endpoint("sender"));
        for number in 1..=2 {
            sender.send(receiver.address(), number).await.unwrap();
        }
        assert_ne!(receiver.try_recv().map(|envelope| envelope.message), Some(2), "overtaken");
    };
    for mode in [Mode::Ses, Mode::Ss, Mode::Random] {
        let checker = Checker::new().mode(mode).faults(Faults::NONE.reorder(1));
        let failure = checker.check(body).failure.unwrap();
        assert!(failure.trace.events.iter().any(|event| event.text.contains("overtake")), "{:?}", failure.trace);
        let saved = text::parse(&text::print(&failure.trace)).unwrap();
        assert_eq!(Checker::new().replay(&saved, body), failure.trace);
    }
}

/// Which message that was held back arrives first is decided by what it is, which who samples hashes only where he has to: here.
#[test]
fn what_was_sampled_with_messages_held_back_replays() {
    for second in 0..3 {
        let body = move || async move {
            let late = Link::any().faults(Faults::NONE.delay(3));
            let net = Network::builder(Delivery::Fifo).link(late).build();
            let (mut receiver, sender) = (net.endpoint("receiver"), net.endpoint("sender"));
            let to = receiver.address();
            task::spawn_named("receiver", async move {
                let seen = [receiver.recv().await.message, receiver.recv().await.message];
                assert_ne!(seen, [3, second]);
                // An end that is dropped after a receive would be such a place.
                pending::<()>().await;
            });
            for number in 0..4 {
                sender.send(to, number).await.unwrap();
            }
        };
        for seed in 0..16 {
            let report = Checker::new().mode(Mode::Random).seed(seed).samples(20_000).check(body);
            let Some(failure) = &report.failure else { panic!("3, then {second}: {}", report.sentences()) };
            assert_eq!(Checker::new().replay(&failure.trace, body), failure.trace, "3, then {second}");
        }
    }
}

/// Three messages of two senders, of whom one knows of the other's, for one who looks and for one who waits.
fn three_for(faults: Faults, delivery: Delivery, looks: bool) -> Vec<String> {
    outcomes(Checker::new().faults(faults), move |all| async move {
        let net = network(delivery);
        let (mut receiver, one, mut other) = (net.endpoint("receiver"), net.endpoint("one"), net.endpoint("other"));
        let (to, to_other) = (receiver.address(), other.address());
        task::spawn_named("one", async move {
            one.send(to, 1).await.unwrap();
            one.send(to_other, 0).await.unwrap();
            one.send(to, 2).await.unwrap();
            pending::<()>().await;
        });
        task::spawn_named("other", async move {
            other.recv().await;
            // Held back, it may find the receiver gone.
            let _ = other.send(to, 3).await;
            pending::<()>().await;
        });
        time::sleep(Duration::from_millis(1)).await;
        let mut seen = Vec::new();
        for _ in 0..4 {
            if looks {
                seen.extend(receiver.try_recv().map(|envelope| envelope.message));
                time::sleep(Duration::from_millis(1)).await;
            } else {
                let received = time::timeout(Duration::from_millis(1), receiver.recv()).await;
                seen.extend(received.ok().map(|envelope| envelope.message));
            }
        }
        all.note(&seen);
    })
}

/// When it is decided what becomes of a message makes no difference to what can be seen.
#[test]
fn one_who_looks_sees_what_one_who_waits_does() {
    let none = Faults::NONE;
    for delivery in [Delivery::Fifo, Delivery::PerSender, Delivery::Unordered] {
        for faults in [none, none.drop(1), none.duplicate(1), none.delay(1)] {
            let waits = three_for(faults, delivery, false);
            assert_eq!(three_for(faults, delivery, true), waits, "{delivery:?} {faults:?}");
        }
    }
    // A duplicate and a message that was held back land anywhere among those that came meanwhile.
    for (faults, seen) in [(none.duplicate(1), "[1, 1, 2, 3]"), (none.delay(1), "[2, 1, 3]")] {
        let all = three_for(faults, Delivery::Fifo, false);
        assert!(all.iter().any(|one| one == seen), "{seen} is not in {all:?}");
    }
}

/// What nobody received before the endpoint was dropped may still come to the next of its name.
#[test]
fn what_is_held_back_outlives_an_endpoint_that_did_not_receive_it() {
    for faults in [Faults::NONE.delay(1), Faults::NONE.duplicate(1)] {
        let seen = outcomes(Checker::new().faults(faults), |all| async move {
            let net = network(Delivery::PerSender);
            let (client, there) = (net.endpoint("client"), net.clone());
            let node = Node::builder("node").mail(Mail::Kept).start(move || {
                let (net, all) = (there.clone(), all.clone());
                async move {
                    let is_first = Cell::<bool>::with_payload("first", Payload::visible());
                    let mut endpoint = net.endpoint("node");
                    if is_first.read().await.is_none() {
                        is_first.write(true).await;
                        is_first.sync().await;
                        time::sleep(Duration::from_millis(2)).await;
                        drop(endpoint);
                    } else {
                        let received = time::timeout(Duration::from_millis(5), endpoint.recv()).await;
                        all.note(&received.ok().map(|envelope| envelope.message));
                    }
                    pending::<()>().await;
                }
            });
            time::sleep(Duration::from_millis(1)).await;
            client.send(net.address("node"), 7).await.unwrap();
            time::sleep(Duration::from_millis(5)).await;
            node.crash().await;
            node.restart().await;
        });
        assert_eq!(seen, ["None", "Some(7)"], "{faults:?}");
    }
}

/// Who sent first decides where a message that was held back may land: it is part of the state.
#[test]
fn two_messages_that_were_held_back_keep_their_order_in_the_state() {
    for explorer in ["rtc", "rr", "prr"] {
        let report = Checker::new().faults(Faults::NONE.delay(2)).explorer(explorer).check(|| async {
            let net = network(Delivery::Fifo);
            let mut receiver = net.endpoint("receiver");
            assert!(receiver.try_recv().is_none());
            for sender in 0..2 {
                let (endpoint, to) = (net.endpoint(format!("sender {sender}")), receiver.address());
                task::spawn(async move { endpoint.send(to, sender).await.is_ok() });
            }
            receiver.recv().await;
            receiver.recv().await;
        });
        assert!(report.is_complete(), "{explorer}: {:?}", report.stop);
    }
}

/// Of two sends at once, which was granted decides what is left, also where both are lost.
#[test]
fn two_sends_at_once_are_told_apart() {
    for explorer in ["rtc", "rr"] {
        let faults = Faults::NONE.crash(1).restart(1);
        let report = Checker::new().faults(faults).explorer(explorer).check(|| async {
            let net = network(Delivery::Fifo);
            let (there, here) = (net.clone(), net.clone());
            Node::start("node", move || {
                let net = there.clone();
                async move {
                    net.endpoint("receiver").recv().await;
                    pending::<()>().await;
                }
            });
            task::spawn_named("sender", async move {
                let (endpoint, to) = (here.endpoint("sender"), here.address("receiver"));
                let _ = futures::join!(endpoint.send(to, 1), endpoint.send(to, 2));
                pending::<()>().await;
            });
        });
        assert!(report.is_complete(), "{explorer}: {:?}", report.stop);
    }
}

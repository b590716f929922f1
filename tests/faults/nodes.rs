//! Nodes: they crash at any step, lose what they have not stored, start again, and fall apart.

use crate::outcomes::{Outcomes, drain, outcomes};
use delay::{
    Checker, Faults, Granularity, Payload,
    net::{Delivery, Network},
    node::{Mail, Node},
    sync::{mpsc, oneshot},
    task, time,
};
use std::{future::pending, time::Duration};

fn network() -> Network<u32> {
    Network::with_payload(Delivery::Fifo, Payload::visible())
}

/// A node that tells after its first and after its second op.
async fn teller(all: Outcomes) {
    let (tell, mut told) = mpsc::unbounded_channel();
    let node = Node::start("node", move || {
        let tell = tell.clone();
        async move {
            for step in 1..=2 {
                task::yield_now().await;
                let _ = tell.send(step);
            }
            pending::<()>().await;
        }
    });
    task::spawn(async move {
        let mut got = Vec::new();
        while let Ok(Some(step)) = time::timeout(Duration::from_secs(1), told.recv()).await {
            got.push(step);
        }
        all.note(&(got, node.is_up()));
    });
}

#[test]
fn a_node_crashes_between_any_two_of_its_ops() {
    assert_eq!(outcomes(Checker::new(), teller), ["([1, 2], true)"]);
    let crashed = ["([1, 2], false)", "([1, 2], true)", "([1], false)", "([], false)"];
    for granularity in [Granularity::Send, Granularity::Op] {
        let checker = Checker::new().faults(Faults::NONE.crash(1)).granularity(granularity);
        assert_eq!(outcomes(checker, teller), crashed, "{granularity:?}");
    }
}

#[test]
fn a_node_starts_again_from_the_beginning() {
    let checker = Checker::new().faults(Faults::NONE.crash(1).restart(1));
    let expected = ["([1, 1, 2], true)", "([1, 2, 1, 2], true)", "([1, 2], true)"];
    let seen = outcomes(checker, teller);
    for outcome in expected {
        assert!(seen.contains(&outcome.to_owned()), "{outcome} is missing of {seen:?}");
    }
}

#[test]
fn a_restart_that_is_left_happens_at_the_latest_when_nothing_else_can() {
    let answered = |faults| {
        Checker::new().faults(faults).check(|| async {
            let (tell, mut told) = mpsc::unbounded_channel();
            Node::start("node", move || {
                let tell = tell.clone();
                async move {
                    task::yield_now().await;
                    let _ = tell.send(());
                }
            });
            told.recv().await.expect("the node holds a sender");
        })
    };
    answered(Faults::NONE.crash(1).restart(1)).assert_passed();
    answered(Faults::NONE.crash(2).restart(2)).assert_passed();
    let down = answered(Faults::NONE.crash(2).restart(1)).failure.expect("it may stay down");
    assert!(down.violation.to_string().starts_with("deadlock"), "{}", down.violation);
}

/// Two messages to a node that crashes and starts again.
async fn to_a_node(mail: Mail, all: Outcomes) {
    let net = network();
    let (there, all_there) = (net.clone(), all);
    Node::builder("node").mail(mail).start(move || {
        let (net, all) = (there.clone(), all_there.clone());
        async move {
            let mut endpoint = net.endpoint("node");
            let got = drain(&mut endpoint).await;
            all.note(&got);
        }
    });
    let sender = net.endpoint("sender");
    for number in 1..=2 {
        sender.send(net.address("node"), number).await.expect("a node that is down does not refuse");
    }
}

#[test]
fn messages_to_a_node_that_is_down_are_lost_or_kept_as_configured() {
    let checker = Checker::new().faults(Faults::NONE.crash(1).restart(1));
    let lost = outcomes(checker, |all| to_a_node(Mail::Lost, all));
    assert_eq!(lost, ["[1, 2]", "[2]", "[]"]);
    // What it had received is lost with it; what waited is not.
    let kept = outcomes(checker, |all| to_a_node(Mail::Kept, all));
    assert_eq!(kept, ["[1, 2]", "[2]", "[]"]);
}

#[test]
fn nothing_is_lost_by_a_node_that_keeps_its_inbox_and_had_received_nothing() {
    let run = |mail| {
        outcomes(Checker::new(), move |all| async move {
            let net = network();
            let there = net.clone();
            let node = Node::builder("node").mail(mail).start(move || {
                let (net, all) = (there.clone(), all.clone());
                async move {
                    let mut endpoint = net.endpoint("node");
                    all.note(&drain(&mut endpoint).await);
                }
            });
            let sender = net.endpoint("sender");
            node.crash().await;
            sender.send(net.address("node"), 1).await.expect("a node that is down does not refuse");
            node.restart().await;
            sender.send(net.address("node"), 2).await.expect("it is up");
        })
    };
    assert_eq!(run(Mail::Lost), ["[2]"]);
    assert_eq!(run(Mail::Kept), ["[1, 2]"]);
}

#[test]
fn a_crash_takes_all_tasks_of_the_node_and_no_other() {
    let report = Checker::new().faults(Faults::NONE.crash(1)).check(|| async {
        let (inside, mut left) = mpsc::unbounded_channel::<()>();
        let (outside, mut stays) = mpsc::unbounded_channel::<()>();
        let node = Node::start("node", move || {
            let inside = inside.clone();
            async move {
                task::spawn(async move {
                    let _inside = inside;
                    pending::<()>().await;
                });
                pending::<()>().await;
            }
        });
        task::spawn(async move {
            let _outside = outside;
            pending::<()>().await;
        });
        node.crash().await;
        // The closure that would start it again holds the last sender.
        assert!(left.try_recv().is_err_and(|empty| empty == mpsc::error::TryRecvError::Empty));
        assert!(stays.try_recv().is_err_and(|empty| empty == mpsc::error::TryRecvError::Empty));
        assert!(!node.is_up());
    });
    report.assert_passed();
}

#[test]
fn what_a_destructor_says_in_a_crash_is_not_said() {
    struct Farewell(mpsc::UnboundedSender<&'static str>);
    impl Drop for Farewell {
        fn drop(&mut self) {
            let _ = self.0.send("farewell");
        }
    }
    let report = Checker::new().check(|| async {
        let (say, mut said) = mpsc::unbounded_channel();
        let node = Node::start("node", move || {
            let farewell = Farewell(say.clone());
            async move {
                pending::<()>().await;
                drop(farewell);
            }
        });
        node.crash().await;
        assert!(said.try_recv().is_err());
    });
    report.assert_passed();
}

/// Two nodes that send each other a message once they are told to.
async fn pair(all: Outcomes) {
    let net = network();
    for (me, other) in [("a", "b"), ("b", "a")] {
        let (net, all) = (net.clone(), all.clone());
        Node::start(me, move || {
            let (net, all) = (net.clone(), all.clone());
            async move {
                let mut endpoint = net.endpoint(me);
                endpoint.send(net.address(other), 1).await.expect("it never ends");
                all.note(&(me, drain(&mut endpoint).await));
            }
        });
    }
}

#[test]
fn a_partition_loses_what_is_sent_across_it_and_heals() {
    assert_eq!(outcomes(Checker::new(), pair), [r#"("a", [1])"#, r#"("b", [1])"#]);
    let cut = outcomes(Checker::new().faults(Faults::NONE.partition(1)), pair);
    assert_eq!(cut, [r#"("a", [1])"#, r#"("a", [])"#, r#"("b", [1])"#, r#"("b", [])"#]);
    // After it has healed messages arrive again.
    let healed = outcomes(Checker::new().faults(Faults::NONE.partition(1)), |all| async move {
        let net = network();
        let (there, (done, waits)) = (net.clone(), oneshot::channel::<()>());
        drop((done, waits));
        Node::start("a", move || {
            let (net, all) = (there.clone(), all.clone());
            async move {
                let mut endpoint = net.endpoint("a");
                all.note(&drain(&mut endpoint).await);
            }
        });
        Node::start("b", move || {
            let net = net.clone();
            async move {
                let endpoint = net.endpoint("b");
                for number in 1..=3 {
                    endpoint.send(net.address("a"), number).await.expect("it never ends");
                }
            }
        });
    });
    assert!(healed.contains(&"[1, 3]".to_owned()), "{healed:?}");
    assert!(!healed.contains(&"[1, 3, 2]".to_owned()), "{healed:?}");
}

#[test]
fn partitions_are_all_ways_to_cut_the_nodes_in_two() {
    // Of three nodes one is cut off: each in turn.
    let seen = outcomes(Checker::new().faults(Faults::NONE.partition(1)), |all| async move {
        let net = network();
        for me in ["a", "b", "c"] {
            let (net, all) = (net.clone(), all.clone());
            Node::start(me, move || {
                let (net, all) = (net.clone(), all.clone());
                async move {
                    let mut endpoint = net.endpoint(me);
                    let got = drain(&mut endpoint).await;
                    all.note(&(me, got));
                }
            });
        }
        let from = net.clone();
        Node::start("d", move || {
            let net = from.clone();
            async move {
                let endpoint = net.endpoint("d");
                for to in ["a", "b", "c"] {
                    endpoint.send(net.address(to), 1).await.expect("it never ends");
                }
            }
        });
    });
    let expected: Vec<String> =
        ["a", "b", "c"].iter().flat_map(|me| [format!("({me:?}, [1])"), format!("({me:?}, [])")]).collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_node_may_have_a_budget_of_its_own() {
    let crashes = |faults: Option<Faults>, test: Faults| {
        outcomes(Checker::new().faults(test), move |all| async move {
            let mut builder = Node::builder("node");
            if let Some(faults) = faults {
                builder = builder.faults(faults);
            }
            let node = builder.start(pending);
            let other = Node::start("other", pending);
            time::sleep(Duration::from_secs(1)).await;
            all.note(&(node.is_up(), other.is_up()));
        })
    };
    let test = Faults::NONE.crash(1);
    assert_eq!(crashes(None, test), ["(false, true)", "(true, false)", "(true, true)"]);
    assert_eq!(crashes(Some(Faults::NONE), test), ["(true, false)", "(true, true)"]);
    assert_eq!(crashes(Some(test), test), ["(false, false)", "(false, true)", "(true, false)", "(true, true)"]);
}

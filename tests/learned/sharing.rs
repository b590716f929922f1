//! What processes share outside the library's objects: seen, and executed live then.

use delay::{
    Checker, End, Execution, Faults, Payload, Waiting, flip,
    net::{Delivery, Network},
    sync::mpsc,
    task,
    time::timeout,
};
use std::{sync::Arc, time::Duration};

/// Whoever drops the shared sender last ends the channel: that is no function of what it has seen.
async fn a_sender_is_shared() {
    let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::visible());
    let sender = Arc::new(sender);
    for number in 0..3 {
        let sender = Arc::clone(&sender);
        task::spawn(async move {
            task::yield_now().await;
            sender.send(number).expect("the body receives");
            task::yield_now().await;
        });
    }
    drop(sender);
    while receiver.recv().await.is_some() {}
}

#[test]
fn who_drops_what_is_shared_last_does_not_matter() {
    let count = |execution| {
        let report = Checker::new().execution(execution).check(a_sender_is_shared);
        report.assert_passed();
        (report.coverage.states, report.coverage.transitions, report.coverage.states_per_bound)
    };
    assert_eq!(count(Execution::Learned), count(Execution::Live));
}

/// Whether a name is free is nothing that its binder has seen before: a bind that succeeded once fails where it was bound.
#[test]
fn a_name_that_was_free_once_is_not_free_for_ever() {
    for execution in [Execution::Learned, Execution::Live] {
        let report = Checker::new().execution(execution).check(|| async {
            let net = Network::<u32>::with_payload(Delivery::PerSender, Payload::visible());
            net.address("server");
            let (go, mut gone) = mpsc::unbounded_channel_with(Payload::visible());
            let other = net.clone();
            task::spawn(async move {
                let server = if flip().await { Some(other.endpoint("server")) } else { None };
                task::yield_now().await;
                go.send(1).expect("the body receives");
                std::future::pending::<()>().await;
                drop(server);
            });
            gone.recv().await;
            let _server = net.endpoint("server");
        });
        assert!(report.is_failure(), "{execution:?}: {:?}", report.stop);
    }
}

/// A tree of choices: what was learnt is used.
#[test]
fn a_program_that_shares_nothing_is_seldom_executed() {
    let report = Checker::new().check(|| async {
        let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::visible());
        for number in 0..5 {
            let sender = sender.clone();
            task::spawn(async move {
                for _ in 0..2 {
                    task::yield_now().await;
                    sender.send(number).expect("the body receives");
                }
            });
        }
        drop(sender);
        let mut sum = 0;
        while let Some(number) = receiver.recv().await {
            sum += number;
            delay::checkpoint(&sum);
        }
    });
    report.assert_passed();
    let coverage = &report.coverage;
    assert!(coverage.states > 2_000, "{}", coverage.states);
    assert!(coverage.totals.executions * 5 < coverage.states, "{} of {}", coverage.totals.executions, coverage.states);
}

/// What a program is set up with cannot be done again without it, and need not be: also where an execution begins anew in the middle
/// of a step, because whoever ends after a receive, and drops an endpoint then, must not do so in the same step.
#[test]
fn a_program_that_is_set_up_again_is_seldom_executed() {
    let report = Checker::new().check(|| async {
        let net = Network::with_payload(Delivery::Fifo, Payload::visible());
        let mut server = net.endpoint("server");
        for number in 0..4 {
            let (client, to) = (net.endpoint(format!("client {number}")), server.address());
            task::spawn(async move {
                for _ in 0..2 {
                    client.send(to, number).await.expect("the server is there");
                }
                std::future::pending::<()>().await;
            });
        }
        for served in 0..8 {
            delay::checkpoint(&served);
            server.recv().await;
        }
    });
    report.assert_passed();
    let coverage = &report.coverage;
    assert!(coverage.states > 2_000, "{}", coverage.states);
    assert!(coverage.totals.executions * 5 < coverage.states, "{} of {}", coverage.totals.executions, coverage.states);
}

/// Messages that are lost or come twice, and time that passes, are nothing that a program has to be executed for.
#[test]
fn a_program_with_timeouts_and_faults_is_seldom_executed() {
    let lossy = Faults::NONE.drop(1);
    for (faults, states) in [(lossy, 400), (lossy.duplicate(1), 4_000)] {
        let report = Checker::new().faults(faults).end(End::Quiescent).waiting(Waiting::Allow).check(|| async {
            let net = Network::with_payload(Delivery::Fifo, Payload::visible().cloned());
            let mut server = net.endpoint("server");
            for number in 0..3 {
                let (mut client, to) = (net.endpoint(format!("client {number}")), server.address());
                task::spawn(async move {
                    for again in 0..2 {
                        client.send(to, number * 2 + again).await.expect("the server is there");
                    }
                    // It keeps its endpoint.
                    client.recv().await;
                });
            }
            task::spawn(async move {
                let mut served = 0;
                loop {
                    delay::checkpoint(&served);
                    let asked = timeout(Duration::from_millis(10), server.recv()).await;
                    served = (served + u32::from(asked.is_ok())) % 4;
                }
            });
        });
        report.assert_passed();
        let coverage = &report.coverage;
        assert!(coverage.states > states, "{}", coverage.states);
        assert!(
            coverage.totals.executions * 2 < coverage.states,
            "{} of {}",
            coverage.totals.executions,
            coverage.states
        );
    }
}

/// A lost message is gone with its endpoint, and the handle in it with the message: which was lost, nothing that a process has seen tells.
#[test]
fn a_handle_in_a_lost_message_goes_with_the_endpoint() {
    let count = |execution| {
        let checker = Checker::new().execution(execution).faults(Faults::NONE.drop(1));
        let report = checker.check(|| async {
            let net = Network::new(Delivery::Fifo);
            let mut server = net.endpoint("server");
            let (sender, mut receiver) = mpsc::unbounded_channel::<u64>();
            for number in 0..2 {
                let (client, to) = (net.endpoint(format!("client {number}")), server.address());
                let sender = sender.clone();
                task::spawn(async move { client.send(to, sender).await.is_ok() });
            }
            drop(sender);
            task::spawn(async move { timeout(Duration::from_millis(1), server.recv()).await.is_ok() });
            while receiver.recv().await.is_some() {}
        });
        report.assert_passed();
        (report.coverage.states, report.coverage.transitions, report.coverage.states_per_bound)
    };
    assert_eq!(count(Execution::Learned), count(Execution::Live));
}

//! Nothing that goes wrong has to go wrong; but what recovers, recovers at last.

use crate::{Said, exhaustive, passes};
use delay::{
    Faults, Payload, Report, checkpoint,
    monitor::{self, Monitor},
    net::{Delivery, Network},
    node::Node,
    task,
};

/// There is an answer at last.
#[derive(Hash)]
struct Answered(bool);

impl Monitor for Answered {
    type Event = Said;

    fn on(&mut self, said: &Said) -> Result<(), String> {
        self.0 |= *said == Said::Answered;
        Ok(())
    }

    fn is_hot(&self) -> bool {
        !self.0
    }
}

/// Two that go on and on, so that there is no end, and a node that answers a request.
fn check(faults: Faults) -> Report {
    exhaustive().faults(faults).check(|| async {
        monitor::register(Answered(false));
        let net = Network::with_payload(Delivery::Unordered, Payload::<u8>::visible());
        for (me, other) in [("ping", "pong"), ("pong", "ping")] {
            let mut endpoint = net.endpoint(me);
            let to = net.address(other);
            task::spawn_named(me, async move {
                if me == "ping" {
                    endpoint.send(to, 0).await.expect("it goes on and on");
                }
                loop {
                    checkpoint("playing");
                    endpoint.recv().await;
                    endpoint.send(to, 0).await.expect("it goes on and on");
                }
            });
        }
        let (there, client) = (net.clone(), net.endpoint("client"));
        Node::builder("server").mail(delay::node::Mail::Kept).start(move || {
            let net = there.clone();
            async move {
                let mut endpoint = net.endpoint("server");
                checkpoint("serving");
                while endpoint.recv().await.message == 1 {
                    monitor::announce(Said::Answered);
                    checkpoint("serving");
                }
            }
        });
        for _ in 0..2 {
            client.send(net.address("server"), 1).await.expect("it does not end");
        }
    })
}

#[track_caller]
fn goes_around(report: &Report) {
    let violation = &report.failure.as_ref().expect("it can stay hot for ever").violation;
    assert_eq!(violation.kind(), "lasso", "{violation}");
}

#[test]
fn without_faults_there_is_an_answer() {
    passes(&check(Faults::NONE));
}

#[test]
fn a_node_that_may_restart_does_at_last() {
    goes_around(&check(Faults::NONE.crash(1)));
    // Of the two requests one may be lost with the node; the other waits for it.
    passes(&check(Faults::NONE.crash(1).restart(1)));
}

#[test]
fn a_message_that_is_held_back_arrives_at_last() {
    goes_around(&check(Faults::NONE.drop(2)));
    passes(&check(Faults::NONE.drop(1)));
    passes(&check(Faults::NONE.delay(2)));
}

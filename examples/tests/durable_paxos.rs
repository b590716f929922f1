//! Paxos with acceptors that crash and start again: the correct protocol by exhaustion, and its seeded bugs.

use delay::{
    Faults, Payload, delay_test,
    monitor::register,
    net::{Delivery, Network},
    node::Node,
    task,
};
use delay_examples::{
    durable_paxos::{Bug, serve},
    paxos::{self, Agreement, Proposer},
};

const ACCEPTORS: [&str; 3] = ["acceptor 1", "acceptor 2", "acceptor 3"];

/// The acceptor whose memory both proposers depend on.
const SHARED: &str = "acceptor 2";

/// Two proposers for different values, who have only one acceptor in common, which may crash and start again.
///
/// A proposer whose question was lost with an acceptor waits for ever: what is shown is safety.
fn consensus(bug: Bug) {
    register(Agreement::new(ACCEPTORS.len()));
    let net = Network::with_payload(Delivery::Unordered, Payload::visible());
    for name in ACCEPTORS {
        let there = net.clone();
        let faults = if name == SHARED { Faults::NONE.crash(1).restart(1) } else { Faults::NONE };
        Node::builder(name).faults(faults).start(move || serve(there.endpoint(name), bug));
    }
    for (number, cut) in [(1, 2), (2, 0)] {
        let mut acceptors = ACCEPTORS.map(|name| net.address(name)).to_vec();
        acceptors[cut] = net.address("nowhere");
        let name = format!("proposer {number}");
        let proposer = Proposer::new(net.endpoint(&name), acceptors, (number, 10 * number), 1, paxos::Bug::None);
        task::spawn_named(name, proposer.run());
    }
}

#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro", budget = "60s")]
async fn proposers_agree_although_an_acceptor_starts_again() {
    consensus(Bug::None);
}

#[delay_test(mode = "ses", granularity = "macro", expect = "fail")]
async fn a_promise_is_lost_in_a_crash() {
    consensus(Bug::PromiseNotSynced);
}

#[delay_test(mode = "ses", granularity = "macro", expect = "fail")]
async fn an_accepted_value_is_lost_in_a_crash() {
    consensus(Bug::AcceptanceNotSynced);
}

#[delay_test(mode = "ses", granularity = "macro", expect = "fail")]
async fn an_accepted_value_was_never_stored() {
    consensus(Bug::StoresPromisesOnly);
}

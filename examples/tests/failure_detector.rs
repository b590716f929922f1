//! A failure detector: the correct protocol by exhaustion, with fast messages and with slow ones; its conformance to a
//! detector that is never wrong; the seeded bugs.

use delay::{
    Checker, Faults, Payload, Time, announce,
    conformance::Traces,
    delay_test,
    monitor::register,
    net::{Address, Delivery, Link, Network},
    node::Node,
    task,
};
use delay_examples::failure_detector::{
    Accuracy, Bug, Detection, Detector, Membership, Message, abstraction::watch, answer, follow,
};

/// Nodes that may crash, and a client that wants to know of it.
fn nodes(names: &[&'static str]) -> (Network<Message>, Vec<(Node, Address)>) {
    let net = Network::builder(Delivery::Unordered)
        .payload(Payload::visible())
        .link(Link::to("client").faults(Faults::NONE))
        .build();
    let nodes = names.iter().copied().map(|name| {
        let there = net.clone();
        let node = Node::start(name, move || answer(there.endpoint(name)));
        let (seen, address) = (node.clone(), net.address(name));
        task::spawn_named(format!("fate of {name}"), async move {
            seen.down().await;
            announce(Membership::Down(address));
        });
        (node, address)
    });
    let nodes = nodes.collect();
    task::spawn_named("client", follow(net.endpoint("client")));
    (net, nodes)
}

/// A detector goes through two rounds.
fn detect(names: &[&'static str], bug: Bug) {
    let (net, nodes) = nodes(names);
    let addresses = nodes.into_iter().map(|(_, address)| address);
    let detector = Detector::new(net.endpoint("detector"), addresses, vec![net.address("client")], bug);
    task::spawn_named("detector", detector.run(2));
}

fn detects(names: &[&'static str], bug: Bug) {
    register(Detection::default()).also::<Membership>();
    detect(names, bug);
}

/// The detector may be wrong about nodes that are alive; of those that are dead it misses none.
#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro", faults(crash = 1))]
async fn who_is_dead_is_found_out() {
    detects(&["n1"], Bug::None);
}

/// Messages are faster than the detector's patience, and one may be lost: nobody is taken for dead who is not.
#[delay_test(explorer = "rtc", mode = "ses", time = "ordered", faults(crash = 1, drop = 1))]
async fn who_is_alive_is_left_alone() {
    register(Accuracy::default());
    detects(&["n1", "n2"], Bug::None);
}

/// So clients can be tested with a detector that sees what is.
#[test]
fn with_fast_messages_it_does_nothing_its_abstraction_does_not() {
    let checker = Checker::new().time(Time::Ordered).faults(Faults::NONE.crash(1));
    let allowed = Traces::<Membership>::of(&checker, || async {
        let (net, nodes) = nodes(&["n1", "n2"]);
        for (node, address) in nodes {
            let detector = net.endpoint(format!("detector of {address}"));
            task::spawn(watch(detector, node, address, vec![net.address("client")]));
        }
    });
    let conforms = |time| {
        checker.time(time).check(|| async {
            register(allowed.monitor());
            detect(&["n1", "n2"], Bug::None);
        })
    };
    let report = conforms(Time::Ordered);
    report.assert_passed();
    assert!(report.is_complete(), "{}", report.sentences());
    assert!(conforms(Time::Any).is_failure(), "with slow messages it may be wrong");
}

#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro", faults(crash = 1), expect = "fail")]
async fn f1_a_late_pong_keeps_the_dead_alive() {
    detects(&["n1", "n2"], Bug::CountsStalePongs);
}

#[delay_test(explorer = "rr", mode = "ses", faults(crash = 1), expect = "fail")]
async fn f3_nobody_is_told() {
    detects(&["n1", "n2"], Bug::KeepsItToItself);
}

#[delay_test(explorer = "rtc", mode = "ses", time = "ordered", faults(drop = 1), expect = "fail")]
async fn a_lost_message_is_taken_for_a_death() {
    register(Accuracy::default());
    detects(&["n1", "n2"], Bug::AsksOnce);
}

//! A dispatcher while the membership changes twice: the correct protocol by exhaustion, its conformance to what clients
//! rely on, and the seeded bugs.

use delay::{
    Checker, Payload,
    conformance::Traces,
    delay_test,
    monitor::register,
    net::{Delivery, Network},
    task,
};
use delay_examples::dispatcher::{
    Bug, Dispatcher, Executed, Membership, Message, OnceEach, Service, abstraction, ask, replica,
};

/// A client with two requests.
fn client() -> Network<Message> {
    let net = Network::with_payload(Delivery::Unordered, Payload::visible());
    task::spawn_named("client", ask(net.endpoint("client"), net.address("dispatcher"), 2));
    net
}

/// Two replicas serve in turns, while a client makes its requests.
fn dispatch(bug: Bug) {
    let net = client();
    let membership = |version, head| Membership { version, head: net.address(head) };
    let dispatcher = Dispatcher::new(net.endpoint("dispatcher"), net.address("client"), membership(1, "r1"), bug);
    task::spawn_named("dispatcher", dispatcher.serve());
    for name in ["r1", "r2"] {
        task::spawn_named(name, replica(net.endpoint(name), membership(1, "r1")));
    }
    let news = [membership(2, "r2"), membership(3, "r1")];
    let (master, to) = (net.endpoint("master"), ["r1", "r2", "dispatcher"].map(|name| net.address(name)));
    task::spawn_named("master", async move {
        for membership in news {
            for to in to {
                master.send(to, Message::Configure(membership)).await.expect("nobody fails");
            }
        }
    });
}

fn dispatches(bug: Bug) {
    register(OnceEach::default()).also::<Service>().also::<Executed>();
    dispatch(bug);
}

#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro")]
async fn each_request_is_carried_out_once() {
    dispatches(Bug::None);
}

/// So clients can be tested with somebody who answers.
#[test]
fn it_does_nothing_its_abstraction_does_not() {
    let allowed = Traces::<Service>::of(&Checker::new(), || async {
        let net = client();
        task::spawn_named("dispatcher", abstraction::serve(net.endpoint("dispatcher")));
    });
    let report = Checker::new().granularity(delay::Granularity::Macro).check(|| async {
        register(allowed.monitor());
        dispatch(Bug::None);
    });
    report.assert_passed();
    assert!(report.is_complete(), "{}", report.sentences());
}

#[delay_test(explorer = "rtc", mode = "ses", expect = "fail")]
async fn an_older_membership_is_taken() {
    dispatches(Bug::TakesOlderMembership);
}

#[delay_test(explorer = "rr", mode = "ses", expect = "fail")]
async fn a_refused_request_is_forgotten() {
    dispatches(Bug::ForgetsRefused);
}

#[delay_test(explorer = "rtc", mode = "ses", expect = "fail")]
async fn a_request_is_carried_out_by_two_replicas() {
    dispatches(Bug::SendsAllAgain);
}

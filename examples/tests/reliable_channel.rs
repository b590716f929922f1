//! The reliable channel: the protocol by exhaustion, its conformance to its abstraction, a client over both, and the
//! seeded bugs.

use delay::{
    Checker, Faults, Payload,
    conformance::Traces,
    delay_test,
    monitor::register,
    net::{Delivery, Network},
    sync::mpsc,
    task,
};
use delay_examples::reliable_channel::{
    Abstraction, Bug, Channel, ExactlyOnce, Progress, Sender, Value,
    client::{Books, book, pay},
    receive,
};

/// What goes wrong in one execution, apart from acknowledgements that come too late.
const FAULTS: Faults = Faults::NONE.drop(1).duplicate(1);

/// A channel over a network whose delivery is as bad as it gets. What arrives comes out of the second.
fn implementation(bug: Bug) -> (Sender, mpsc::UnboundedReceiver<Value>) {
    let net = Network::with_payload(Delivery::Unordered, Payload::visible().cloned());
    let (host, arriving) = mpsc::unbounded_channel_with(Payload::visible());
    let receiver = net.endpoint("receiver");
    let sender = Sender::new(net.endpoint("sender"), receiver.address(), bug);
    task::spawn_named("receiver", receive(receiver, host, bug));
    (sender, arriving)
}

fn abstraction() -> (Abstraction, mpsc::UnboundedReceiver<Value>) {
    let (host, arriving) = mpsc::unbounded_channel_with(Payload::visible());
    (Abstraction::new(host), arriving)
}

/// Sends two values, if the channel lasts so long, to a host that takes what it gets.
fn send_two((mut channel, mut arriving): (impl Channel + 'static, mpsc::UnboundedReceiver<Value>)) {
    task::spawn_named("host", async move { while arriving.recv().await.is_some() {} });
    task::spawn_named("client", async move {
        for value in [10, 20] {
            if channel.send(value).await.is_err() {
                break;
            }
        }
    });
}

/// Two payments.
fn pay_two((channel, arriving): (impl Channel + 'static, mpsc::UnboundedReceiver<Value>)) {
    register(Books::default());
    task::spawn_named("ledger", book(arriving));
    task::spawn_named("payer", pay(channel, &[10, 20]));
}

fn exactly_once(bug: Bug) {
    register(ExactlyOnce::default());
    send_two(implementation(bug));
}

#[delay_test(explorer = "rtc", mode = "ses", faults(drop = 1, duplicate = 1))]
async fn what_is_sent_arrives_once() {
    exactly_once(Bug::None);
}

/// When the network is faster than the sender's patience, two attempts outlast a loss.
#[delay_test(explorer = "rtc", mode = "ses", time = "ordered", faults(drop = 1, duplicate = 1))]
async fn a_loss_does_not_break_the_channel() {
    let (mut sender, _arriving) = implementation(Bug::None);
    for value in [10, 20] {
        assert_eq!(sender.send(value).await, Ok(()));
    }
}

#[delay_test(explorer = "rtc", mode = "ses")]
async fn a_client_over_the_abstraction() {
    pay_two(abstraction());
}

#[delay_test(explorer = "rtc", mode = "ses", faults(drop = 1, duplicate = 1))]
async fn the_same_client_over_the_implementation() {
    pay_two(implementation(Bug::None));
}

/// So the safety of every client over the implementation follows from a test over the abstraction.
#[test]
fn the_implementation_does_nothing_its_abstraction_does_not() {
    let allowed = Traces::<Progress>::of(&Checker::new(), || async { send_two(abstraction()) });
    let checker = Checker::new().faults(FAULTS);
    let conforms = |bug| {
        checker.check(|| async {
            register(allowed.monitor());
            send_two(implementation(bug));
        })
    };
    let report = conforms(Bug::None);
    report.assert_passed();
    assert!(report.is_complete(), "{}", report.sentences());
    // What a stale acknowledgement leads to is that nothing happens, which conformance does not see.
    for bug in [Bug::DeliversAgain, Bug::GivesUpSilently] {
        let report = conforms(bug);
        assert!(report.failure.is_some(), "{bug:?}: {}", report.sentences());
    }
}

#[delay_test(mode = "ses", expect = "fail")]
async fn n1_a_value_is_delivered_again() {
    exactly_once(Bug::DeliversAgain);
}

#[delay_test(mode = "ses", time = "ordered", faults(drop = 2), expect = "fail")]
async fn n3_the_sender_gives_up_silently() {
    exactly_once(Bug::GivesUpSilently);
}

#[delay_test(mode = "ses", faults(drop = 1), expect = "fail")]
async fn a_late_acknowledgement_counts_for_the_next_value() {
    exactly_once(Bug::CountsStaleAcks);
}

/// The client's own test, over the implementation: N3 is the channel's bug, and shows in the books.
#[delay_test(mode = "ses", time = "ordered", faults(drop = 2), expect = "fail")]
async fn n3_a_payment_is_confirmed_and_never_booked() {
    pay_two(implementation(Bug::GivesUpSilently));
}

//! A client with a timer: the correct protocol by exhaustion, over the timer and over its abstraction; the timer's
//! conformance; the seeded bugs.

use delay::{
    Checker, Payload, announce,
    conformance::Traces,
    delay_test, flip,
    monitor::register,
    net::{Delivery, Endpoint, Network},
    task,
    time::Duration,
};
use delay_examples::timer_client::{Bug, Client, Message, Patience, abstraction, timer};

/// A client asks so many times. `start` is a timer.
async fn ask<F>(times: u32, start: impl Fn(Endpoint<Message>) -> F, bug: Bug)
where
    F: Future<Output = ()> + Send + 'static,
{
    register(Patience::default());
    let net = Network::with_payload(Delivery::PerSender, Payload::visible());
    let mut client = Client::new(net.endpoint("client"), net.address("timer"), net.address("server"), bug);
    task::spawn_named("timer", start(net.endpoint("timer")));
    task::spawn_named("server", abstraction::server(net.endpoint("server")));
    for request in 1..=times {
        client.ask(request).await;
    }
}

async fn on_clock(endpoint: Endpoint<Message>) {
    timer::serve(endpoint, Duration::from_secs(1)).await;
}

#[delay_test(explorer = "rtc", mode = "ses")]
async fn the_client_waits_for_each_answer_or_timeout() {
    ask(3, abstraction::timer, Bug::None).await;
}

#[delay_test(explorer = "rtc", mode = "ses")]
async fn so_it_does_with_a_timer_on_a_clock() {
    ask(3, on_clock, Bug::None).await;
}

/// What is sent to a timer, and what it says to that.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Event {
    Said(Message),
    Heard(Message),
}

/// Starts a timer twice, and cancels it or not before the second time.
fn use_timer<F>(start: impl Fn(Endpoint<Message>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let net = Network::with_payload(Delivery::PerSender, Payload::visible());
    let (mut user, timer) = (net.endpoint("user"), net.address("timer"));
    task::spawn_named("timer", start(net.endpoint("timer")));
    task::spawn_named("user", async move {
        for _ in 0..2 {
            let cancels = flip().await;
            for message in if cancels { &[Message::Start, Message::Cancel][..] } else { &[Message::Start] } {
                announce(Event::Said(*message));
                user.send(timer, *message).await.expect("it is there");
            }
            let mut heard = Vec::new();
            while !is_at_rest(cancels, &heard) {
                let message = user.recv().await.message;
                announce(Event::Heard(message));
                heard.push(message);
            }
        }
    });
}

fn is_at_rest(cancels: bool, heard: &[Message]) -> bool {
    let heard = |message| heard.contains(&message);
    heard(Message::CancelSucceeded) || heard(Message::Timeout) && heard(Message::CancelFailed) == cancels
}

#[test]
fn the_timer_does_nothing_its_abstraction_does_not() {
    let checker = Checker::new();
    let allowed = Traces::<Event>::of(&checker, || async { use_timer(abstraction::timer) });
    let report = checker.check(|| async {
        register(allowed.monitor());
        use_timer(on_clock);
    });
    report.assert_passed();
    assert!(report.is_complete(), "{}", report.sentences());
    // The abstraction allows more: that the timer fired may be heard after that it cannot be cancelled any more.
    let allowed = Traces::<Event>::of(&checker, || async { use_timer(on_clock) });
    let report = checker.check(|| async {
        register(allowed.monitor());
        use_timer(abstraction::timer);
    });
    assert!(report.is_failure(), "{}", report.sentences());
}

#[delay_test(explorer = "rtc", mode = "ses", expect = "fail")]
async fn t10_a_timeout_is_taken_for_that_of_the_next_request() {
    ask(2, abstraction::timer, Bug::LeavesTimeout).await;
}

#[delay_test(explorer = "rr", mode = "ses", expect = "fail")]
async fn a_timeout_is_not_expected_while_cancelling() {
    ask(1, on_clock, Bug::CannotFireNow).await;
}

#[delay_test(explorer = "ordered", mode = "ses", expect = "fail")]
async fn a_timeout_is_dropped_and_waited_for() {
    ask(1, on_clock, Bug::DropsTimeout).await;
}

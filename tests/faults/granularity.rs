//! What only `op` could find is found at the coarser granularities too.

use crate::outcomes::{Announced, Outcomes, Said, visited};
use delay::{
    Cache, Checker, Faults, Granularity, Payload, Time, announce, monitor,
    net::{Delivery, Network},
    node::{Mail, Node},
    storage::{Cell, Log},
    sync::mpsc,
    task, time,
};
use std::{
    collections::BTreeSet,
    future::{Future, pending},
    sync::Arc,
    time::Duration,
};

/// What `op` finds without a cache, which the given granularity must find too, with and without one.
fn same<F, Fut>(checker: Checker, coarser: Granularity, body: F) -> BTreeSet<String>
where
    F: Fn(Outcomes) -> Fut + Send + Sync,
    Fut: Future<Output = ()>,
{
    let expected = visited(checker.granularity(Granularity::Op).cache(Cache::Off), &body);
    assert_eq!(visited(checker.granularity(Granularity::Op), &body), expected, "op, cached");
    assert_eq!(visited(checker.granularity(coarser).cache(Cache::Off), &body), expected, "{coarser:?}");
    assert_eq!(visited(checker.granularity(coarser), &body), expected, "{coarser:?}, cached");
    expected
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn network(delivery: Delivery) -> Network<u32> {
    Network::with_payload(delivery, Payload::visible())
}

/// A message may overtake another that the receiver had already found.
async fn answered(all: Outcomes) {
    let net = network(Delivery::Fifo);
    let (mut receiver, mut other) = (net.endpoint("receiver"), net.endpoint("other"));
    let to = receiver.address();
    other.send(to, 1).await.unwrap();
    task::spawn_named("other", async move {
        other.recv().await;
        other.send(to, 2).await.unwrap();
    });
    receiver.send(net.address("other"), 0).await.unwrap();
    all.note(&(receiver.recv().await.message, receiver.recv().await.message));
}

#[test]
fn a_later_message_overtakes_the_one_that_is_there() {
    let seen = same(Checker::new().faults(Faults::NONE.reorder(1)), Granularity::Send, answered);
    assert_eq!(seen.len(), 2, "{seen:?}");
}

/// The body crashes a node that has said that it is there, and starts it again.
async fn crashed_by_the_program(all: Outcomes) {
    let net = network(Delivery::Fifo);
    let mut client = net.endpoint("client");
    client.send(net.address("server"), 7).await.unwrap();
    let there = net.clone();
    let node = Node::builder("server").mail(Mail::Kept).start(move || {
        let (net, all) = (there.clone(), all.clone());
        async move {
            let mut inbox = net.endpoint("server");
            let starts = Cell::<u32>::with_payload("starts", Payload::visible());
            let before = starts.read().await;
            starts.write(1).await;
            starts.sync().await;
            let _ = inbox.send(net.address("client"), 0).await;
            all.note(&(before, inbox.recv().await.message));
            pending::<()>().await;
        }
    });
    client.recv().await;
    node.crash().await;
    node.restart().await;
}

#[test]
fn a_crash_by_the_program_comes_before_a_receive() {
    let seen = same(Checker::new().time(Time::Ordered), Granularity::Send, crashed_by_the_program);
    assert_eq!(seen.len(), 2, "{seen:?}");
}

/// Between the message of `greeter` and its receipt a timer may have moved the clock.
async fn clock_around_a_receive(all: Outcomes) {
    let (messages, mut inbox) = mpsc::unbounded_channel_with(Payload::visible());
    messages.send(1).unwrap();
    let (ready, mut is_ready) = mpsc::channel(1);
    task::spawn_named("sleeper", async move {
        is_ready.recv().await;
        time::sleep(ms(5)).await;
    });
    task::spawn_named("reader", async move {
        let start = time::Instant::now();
        ready.send(()).await.unwrap();
        inbox.recv().await;
        time::sleep(ms(1)).await;
        all.note(&start.elapsed().as_millis());
        drop((messages, ready));
    });
}

#[test]
fn a_timer_fires_before_a_receive_and_the_timer_set_after_it() {
    let seen = same(Checker::new(), Granularity::Send, clock_around_a_receive);
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["1", "5", "6"]);
    let ordered = same(Checker::new().time(Time::Ordered), Granularity::Send, clock_around_a_receive);
    assert_eq!(ordered.into_iter().collect::<Vec<_>>(), ["1"]);
}

/// A task that is spawned sets its timer whenever it first runs.
#[test]
fn a_timer_fires_before_a_spawned_task_sets_its_own() {
    let seen = same(Checker::new(), Granularity::Send, |all| async move {
        let start = time::Instant::now();
        task::spawn(async { time::sleep(ms(5)).await });
        task::spawn(async move {
            time::sleep(ms(1)).await;
            all.note(&start.elapsed().as_millis());
        });
    });
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["1", "5", "6"]);
}

/// Two tasks on one store.
async fn shared_store(all: Outcomes) {
    let cell = || Cell::<u32>::with_payload("cell", Payload::visible());
    task::spawn(async move { cell().write(2).await });
    let cell = cell();
    cell.write(1).await;
    all.note(&cell.read().await);
}

#[test]
fn a_macro_step_ends_before_an_operation_on_a_store() {
    let seen = same(Checker::new(), Granularity::Macro, shared_store);
    assert_eq!(seen.len(), 2, "{seen:?}");
}

/// Each of the two appends may have been made when the node crashes.
async fn crashed_while_it_stores(all: Outcomes) {
    let node = Node::start("node", move || {
        let all = all.clone();
        async move {
            let log = Log::<u32>::with_payload("log", Payload::visible());
            let records = log.read().await.records;
            if records.is_empty() {
                for record in 1..=2 {
                    log.append(record).await;
                    log.sync().await;
                }
            }
            all.note(&records);
        }
    });
    node.crash().await;
    node.restart().await;
}

#[test]
fn a_macro_step_ends_where_a_crash_leaves_something() {
    let seen = same(Checker::new(), Granularity::Macro, crashed_while_it_stores);
    assert_eq!(seen.len(), 3, "{seen:?}");
}

/// One sends to two endpoints, which are looked into without waiting.
async fn looked_at(all: Outcomes) {
    let net = network(Delivery::Unordered);
    let (mut one, mut other, sender) = (net.endpoint("one"), net.endpoint("other"), net.endpoint("sender"));
    let (to_one, to_other) = (one.address(), other.address());
    task::spawn_named("sender", async move {
        // Who looked may be gone.
        let _ = sender.send(to_one, 1).await;
        let _ = sender.send(to_other, 2).await;
    });
    task::yield_now().await;
    all.note(&(other.try_recv().is_some(), one.try_recv().is_some()));
}

#[test]
fn a_macro_step_ends_before_a_send_that_others_look_for() {
    let seen = same(Checker::new(), Granularity::Macro, looked_at);
    assert_eq!(seen.len(), 3, "{seen:?}");
}

/// What two tasks do to a lock without waiting for it, with nothing but turns between.
#[test]
fn a_macro_step_ends_before_what_others_can_see() {
    let seen = same(Checker::new(), Granularity::Macro, |all| async move {
        let shared = Arc::new(delay::sync::mutex_with(Vec::new(), Payload::visible()));
        let other = shared.clone();
        task::spawn(async move {
            task::yield_now().await;
            other.try_lock().unwrap().push(3);
        });
        for number in 1..=2 {
            task::yield_now().await;
            shared.try_lock().unwrap().push(number);
        }
        task::yield_now().await;
        all.note(&*shared.try_lock().unwrap());
    });
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[test]
fn a_macro_step_ends_before_an_announcement() {
    let seen = same(Checker::new(), Granularity::Macro, |all| async move {
        monitor::register(Announced::default());
        let other = all.clone();
        task::spawn(async move {
            task::yield_now().await;
            announce(Said(3, other));
        });
        for number in 1..=2 {
            task::yield_now().await;
            announce(Said(number, all.clone()));
        }
    });
    assert!(seen.contains("[1, 3, 2]"), "{seen:?}");
}

/// A node that is down may start again between two sends to it.
#[test]
fn a_macro_step_ends_before_a_send_to_a_node_that_is_down() {
    let checker = Checker::new().faults(Faults::NONE.crash(1).restart(1));
    let seen = same(checker, Granularity::Macro, |all| async move {
        let net = network(Delivery::Unordered);
        let (client, there) = (net.endpoint("client"), net.clone());
        let node = Node::start("server", move || {
            let (net, all) = (there.clone(), all.clone());
            async move {
                let mut inbox = net.endpoint("server");
                let mut received = Vec::new();
                loop {
                    received.push(inbox.recv().await.message);
                    received.sort_unstable();
                    all.note(&received);
                }
            }
        });
        task::spawn_named("client", async move {
            node.down().await;
            drop(node);
            for number in 1..=2 {
                client.send(net.address("server"), number).await.unwrap();
            }
            pending::<()>().await;
        });
    });
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["[1, 2]", "[1]", "[2]"]);
}

/// What becomes of a message is decided when it is really sent, not when a branch of a `select!` was set aside.
#[test]
fn a_send_that_was_set_aside_can_still_be_overtaken_and_overtake() {
    let checker = Checker::new().faults(Faults::NONE.reorder(1));
    let seen = same(checker, Granularity::Send, |all| async move {
        let net = network(Delivery::Fifo);
        let (mut receiver, one, other) = (net.endpoint("receiver"), net.endpoint("one"), net.endpoint("other"));
        let to = receiver.address();
        let mut kept = Box::pin(one.send(to, 1));
        assert!(futures::poll!(&mut kept).is_pending());
        other.send(to, 2).await.unwrap();
        kept.await.unwrap();
        let mut look = || receiver.try_recv().map(|envelope| envelope.message);
        all.note(&(look(), look()));
    });
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["(Some(1), Some(2))", "(Some(2), Some(1))"]);
}

/// A name may be bound on a node that is started only after the message was sent.
#[test]
fn a_macro_step_ends_before_a_send_to_a_name_that_is_not_bound() {
    let seen = same(Checker::new().time(Time::Ordered), Granularity::Macro, |all| async move {
        let net = network(Delivery::Unordered);
        let (mut one, mut other, body) = (net.endpoint("one"), net.endpoint("other"), net.endpoint("body"));
        let (to_one, to_other, server) = (one.address(), other.address(), net.address("server"));
        task::spawn_named("one", async move {
            one.recv().await;
            one.send(to_other, 0).await.unwrap();
            one.send(server, 7).await.unwrap();
            pending::<()>().await;
        });
        task::spawn_named("other", async move {
            other.recv().await;
            let node = Node::builder("server").mail(Mail::Lost).start(move || {
                let (net, all) = (net.clone(), all.clone());
                async move {
                    let mut inbox = net.endpoint("server");
                    let starts = Cell::<u32>::with_payload("starts", Payload::visible());
                    let before = starts.read().await.unwrap_or(0);
                    starts.write(before + 1).await;
                    starts.sync().await;
                    let got = time::timeout(ms(5), inbox.recv()).await.is_ok();
                    all.note(&(before, got));
                    pending::<()>().await;
                }
            });
            node.crash().await;
            node.restart().await;
            pending::<()>().await;
        });
        body.send(to_one, 0).await.unwrap();
        // Nothing is dropped while the test runs.
        std::mem::forget(body);
    });
    assert!(seen.contains("(1, true)"), "{seen:?}");
}

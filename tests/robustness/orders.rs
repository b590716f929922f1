//! Orders that are easily lost: what a step does besides its op must not hide what others could have seen before it.

use delay::{
    Cache, Checker, Granularity, Payload, checkpoint, choose, flip,
    net::{Delivery, Network},
    rng,
    sync::mpsc,
    task,
    time::{Instant, interval, sleep},
};
use rand::Rng as _;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

type Seen = Arc<Mutex<BTreeSet<String>>>;

fn see(seen: &Seen, what: impl std::fmt::Debug) {
    seen.lock().expect("not poisoned").insert(format!("{what:?}"));
}

/// Every granularity and cache mode sees just these outcomes.
fn sees<Fut: Future<Output = ()>>(expected: &[&str], body: impl Fn(Seen) -> Fut + Send + Sync) {
    for granularity in [Granularity::Send, Granularity::Op] {
        for cache in [Cache::Off, Cache::State, Cache::StateExplorer] {
            let seen = Seen::default();
            let report = Checker::new().granularity(granularity).cache(cache).check(|| body(Arc::clone(&seen)));
            report.assert_passed();
            let outcomes: Vec<String> = seen.lock().expect("not poisoned").iter().cloned().collect();
            assert_eq!(outcomes, expected, "{granularity:?} {cache:?}");
        }
    }
}

#[test]
fn a_receiver_dropped_by_a_task_that_just_started() {
    sees(&["false", "true"], async |seen| {
        let (sender, receiver) = mpsc::channel::<u8>(1);
        task::spawn(async move { see(&seen, sender.send(1).await.is_ok()) });
        task::spawn(async move { drop(receiver) });
    });
}

#[test]
fn a_task_that_ends_at_once() {
    sees(&["false", "true"], async |seen| {
        let handle = task::spawn(async {});
        task::spawn(async move { see(&seen, handle.is_finished()) });
    });
}

#[test]
fn a_sender_dropped_by_a_task_that_just_started() {
    sees(&["Err(Disconnected)", "Err(Empty)"], async |seen| {
        let (sender, mut receiver) = mpsc::channel::<u8>(1);
        task::spawn(async move { see(&seen, receiver.try_recv()) });
        task::spawn(async move { drop(sender) });
    });
}

#[test]
fn a_receiver_dropped_after_a_receive_inside_the_step() {
    sees(&["false", "true"], async |seen| {
        let (first, mut second) = mpsc::channel::<u8>(1);
        let (sender, mut receiver) = mpsc::unbounded_channel::<u8>();
        let _ = sender.send(1);
        task::spawn(async move {
            let _ = first.send(1).await;
            receiver.recv().await;
        });
        task::spawn(async move {
            second.recv().await;
            task::yield_now().await;
            see(&seen, sender.send(2).is_ok());
        });
    });
}

#[test]
fn a_receive_that_does_not_wait_sees_every_order_of_arrival() {
    for delivery in [Delivery::Unordered, Delivery::PerSender] {
        sees(&["[1, 2]", "[2, 1]"], async |seen| {
            let network = Network::with_payload(delivery, Payload::visible());
            let mut reader = network.endpoint("reader");
            let senders = [1, 2].map(|value| {
                let (sender, to) = (network.endpoint(format!("sender {value}")), reader.address());
                task::spawn(async move { sender.send(to, value).await.is_ok() })
            });
            for sender in senders {
                assert_eq!(sender.await.ok(), Some(true));
            }
            task::yield_now().await;
            let first = reader.try_recv().map(|envelope| envelope.message);
            task::yield_now().await;
            let second = reader.try_recv().map(|envelope| envelope.message);
            see(&seen, [first, second].into_iter().flatten().collect::<Vec<u32>>());
        });
    }
}

#[test]
fn opaque_values_drawn_after_a_checkpoint_are_told_apart() {
    let body = || async {
        let network = Network::<u64>::new(Delivery::Unordered);
        let (mut reader, worker) = (network.endpoint("reader"), network.endpoint("worker"));
        let to = reader.address();
        let (sender, mut receiver) = mpsc::channel(2);
        let _ = sender.send(()).await;
        let _ = sender.send(()).await;
        drop(sender);
        let worker = task::spawn(async move {
            let mut random = rng();
            while receiver.recv().await.is_some() {
                checkpoint(&());
                let drawn = random.next_u64();
                let _ = worker.send(to, drawn).await;
                checkpoint(&());
            }
        });
        assert!(worker.await.is_ok());
        let (first, second) = (reader.recv().await.message, reader.recv().await.message);
        assert!(!(flip().await && first < second), "ascending");
    };
    for cache in [Cache::Off, Cache::State, Cache::StateExplorer] {
        assert!(Checker::new().cache(cache).check(body).is_failure(), "{cache:?}");
    }
}

#[test]
fn a_time_that_was_handed_out_and_not_looked_at_is_part_of_the_state() {
    let seconds = Duration::from_secs;
    for late in [seconds(110), seconds(1_010)] {
        let body = move || async move {
            let start = Instant::now();
            let (sender, receiver) = delay::sync::oneshot::channel::<()>();
            task::spawn(async move { sleep(seconds(100)).await });
            task::spawn(async move {
                sleep(seconds(1_000)).await;
                sleep(seconds(10_000)).await;
                let _ = sender.send(());
            });
            let mut interval = interval(seconds(10));
            interval.tick().await;
            let tick = interval.tick().await;
            let _ = receiver.await;
            assert!(!(flip().await && tick - start == late), "late");
        };
        for cache in [Cache::Off, Cache::State] {
            let checker = Checker::new().cache(cache).max_delays(4);
            assert!(checker.check(body).is_failure(), "{cache:?} {late:?}");
        }
    }
}

#[test]
fn two_explicit_choices_at_once_are_refused() {
    let report = Checker::new().check(|| async {
        tokio::select! { _ = choose(3) => {}, _ = choose(2) => {} }
    });
    let said = report.failure.map(|failure| failure.violation.to_string()).unwrap_or_default();
    assert!(said.contains("waits for two explicit choices at once"), "{said}");
}

#[test]
fn a_trace_numbers_its_events_by_choices() {
    let report = Checker::new().explorer("rr").check(|| async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let three = sender.clone();
        task::spawn_named("three", async move {
            for value in 1..4 {
                task::yield_now().await;
                let _ = three.send(value);
            }
        });
        for value in [8, 9] {
            let sender = sender.clone();
            task::spawn_named(format!("sends {value}"), async move {
                task::yield_now().await;
                let _ = sender.send(value);
            });
        }
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.push(receiver.recv().await);
        }
        task::yield_now().await;
        for _ in 0..2 {
            seen.push(receiver.recv().await);
        }
        assert_ne!(seen, [1, 2, 3, 9, 8].map(Some));
    });
    let trace = report.failure.expect("the order is found").trace;
    // Some receives were taken inside a step: there are fewer choices than ops.
    let receives = trace.events.iter().filter(|event| event.text.starts_with("receives")).map(|event| event.step);
    let receives: BTreeSet<u64> = receives.collect();
    assert!(receives.len() < 5, "{receives:?}");
    assert_eq!(trace.events.last().map(|event| event.step), Some(trace.steps));
    for deviation in &trace.schedule {
        let moved = trace.events.iter().find(|event| event.step == u64::from(deviation.step) + 1);
        assert_eq!(moved.map(|event| &event.process), Some(&deviation.process));
    }
}

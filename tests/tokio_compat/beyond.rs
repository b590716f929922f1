//! What tokio has no word for: networks, choices, checkpoints, random numbers, and the clock as part of the state.

use crate::driver::{every_schedule, first_schedule, on_tokio, outcomes_by_states, states};
use delay::{
    Payload,
    collections::{HashMap, HashSet},
    net::{Address, Delivery, Network},
    sync::mpsc,
    task,
    time::{self, Duration, Instant},
};
use rand::{Rng, RngExt};
use std::collections::BTreeSet;

/// Two senders of two messages each; what the receiver may see.
async fn arrivals(delivery: Delivery) -> Vec<(&'static str, u8)> {
    let net = Network::<u8>::with_payload(delivery, Payload::visible());
    let mut hub = net.endpoint("hub");
    for name in ["a", "b"] {
        let endpoint = net.endpoint(name);
        let hub = net.address("hub");
        task::spawn_named(name, async move {
            for message in 0..2 {
                endpoint.send(hub, message).await.expect("the hub is there");
            }
        });
    }
    let mut seen = Vec::new();
    for _ in 0..4 {
        let envelope = hub.recv().await;
        seen.push((envelope.from.name(), envelope.message));
    }
    seen
}

#[test]
fn delivery_says_which_orders_there_are() {
    let in_order = |seen: &[(&str, u8)]| {
        ["a", "b"].iter().all(|name| {
            seen.iter().filter(|(from, _)| from == name).map(|(_, message)| *message).collect::<Vec<_>>() == [0, 1]
        })
    };
    for (delivery, orders) in [(Delivery::Fifo, 6), (Delivery::PerSender, 6), (Delivery::Unordered, 24)] {
        let outcomes = every_schedule(move || arrivals(delivery));
        assert_eq!(outcomes.len(), orders, "{delivery:?}");
        assert_eq!(outcomes.keys().all(|seen| in_order(seen)), delivery != Delivery::Unordered);
        assert!(in_order(&on_tokio(arrivals(delivery))));
    }
}

#[test]
fn only_delivery_decides_where_the_merge_is_a_choice() {
    // With one queue the order of arrival is fixed by the sends; with one queue a sender it is chosen at the receive,
    // so that the order of the sends makes no difference to the state.
    assert!(states(|| arrivals(Delivery::PerSender)) < states(|| arrivals(Delivery::Fifo)));
}

async fn endpoints_come_and_go() -> Vec<String> {
    let net = Network::<u8>::new(Delivery::PerSender);
    let one = net.endpoint("one");
    let early = net.address("two");
    one.send(early, 1).await.expect("it waits for its endpoint");
    let mut two = net.endpoint(String::from("two"));
    let first = two.recv().await;
    let mut seen = vec![format!("{} {} {:?}", first.from, first.message, two.try_recv().is_none())];
    drop(two);
    let refused = one.send(early, 2).await.expect_err("it was dropped");
    seen.push(format!("{refused} {}", refused.0));
    seen
}

#[test]
fn a_message_waits_for_its_endpoint_and_fails_after_it() {
    let expected = vec!["one 1 true".to_owned(), "endpoint dropped 2".to_owned()];
    assert_eq!(on_tokio(endpoints_come_and_go()), expected);
    assert_eq!(every_schedule(endpoints_come_and_go).into_keys().collect::<Vec<_>>(), [expected]);
}

#[test]
fn addresses_are_names() {
    let (net, other) = (Network::<u8>::new(Delivery::Fifo), Network::<u16>::new(Delivery::Fifo));
    let (a, b) = (net.address("a"), other.address("b"));
    assert_eq!(a, other.address("a"));
    assert_eq!([b, a].into_iter().collect::<BTreeSet<Address>>().into_iter().next(), Some(a));
    assert_eq!(format!("{a}|{b:?}|{a:>3}"), "a|b|  a");
    assert_eq!([a, b, a].into_iter().collect::<HashSet<Address>>().len(), 2);
}

#[track_caller]
fn panics_with(words: &str, body: impl FnOnce() + std::panic::UnwindSafe) {
    let payload = std::panic::catch_unwind(body).expect_err("it must refuse");
    let text = payload.downcast_ref::<String>().cloned();
    let text = text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string)).expect("a text");
    assert!(text.contains(words), "{text}");
}

#[test]
fn mistakes_say_what_they_are() {
    panics_with("a name is bound once", || {
        let net = Network::<u8>::new(Delivery::Fifo);
        let _first = net.endpoint("one");
        drop(net.endpoint("one"));
    });
    panics_with("the address is of another network", || {
        let stranger = Network::<u8>::new(Delivery::Fifo).address("stranger");
        let one = Network::<u8>::new(Delivery::Fifo).endpoint("one");
        drop(one.send(stranger, 1));
    });
    panics_with("nothing to choose from", || drop(delay::choose(0)));
    panics_with("at most 65536 outcomes", || drop(delay::choose(65_537)));
    panics_with("would block the thread", || {
        first_schedule(|| async { mpsc::channel::<u8>(1).1.blocking_recv() });
    });
    panics_with("create them in the body", || {
        let kept = std::sync::OnceLock::new();
        let body = || {
            let sender = kept.get_or_init(|| mpsc::unbounded_channel::<u8>().0).clone();
            async move { sender.send(1).is_ok() }
        };
        every_schedule(body);
        first_schedule(body);
    });
}

#[test]
fn every_outcome_of_a_choice_comes_up() {
    let outcomes = every_schedule(|| async { (delay::choose(3).await, delay::flip().await) });
    assert_eq!(
        outcomes.into_keys().collect::<Vec<_>>(),
        [(0, false), (0, true), (1, false), (1, true), (2, false), (2, true)]
    );
    assert_eq!(first_schedule(|| async { (delay::choose(3).await, delay::flip().await) }), (0, false));
    let drawn: BTreeSet<usize> = (0..200).map(|_| on_tokio(async { delay::choose(3).await })).collect();
    assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [0, 1, 2], "each with probability 1/3, so missed once in 10^35");
}

/// Adds up what three tasks send, in any order.
async fn adder(declare: bool) -> u64 {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    for term in 1..=3 {
        let sender = sender.clone();
        task::spawn(async move {
            task::yield_now().await;
            sender.send(term).expect("it waits");
        });
    }
    drop(sender);
    let mut total = 0;
    loop {
        if declare {
            delay::checkpoint(&total);
        }
        match receiver.recv().await {
            Some(term) => total += term,
            None => return total,
        }
    }
}

#[test]
fn a_checkpoint_merges_histories() {
    assert!(states(|| adder(true)) < states(|| adder(false)));
    for declare in [false, true] {
        assert_eq!(every_schedule(move || adder(declare)).into_keys().collect::<Vec<_>>(), [6]);
    }
}

#[test]
#[expect(clippy::if_same_then_else, reason = "the place is the difference")]
fn checkpoints_at_different_places_are_different_states() {
    let apart = states(|| async {
        if delay::flip().await {
            delay::checkpoint(&1);
        } else {
            delay::checkpoint(&1);
        }
        task::yield_now().await;
    });
    let together = states(|| async {
        let _ = delay::flip().await;
        delay::checkpoint_with(|hasher| hasher.write_u8(1));
        task::yield_now().await;
    });
    assert!(together < apart, "{together} {apart}");
}

#[test]
fn a_checkpoint_beside_another_op_is_refused() {
    panics_with("another op of this task is pending", || {
        first_schedule(|| async {
            let (_sender, mut receiver) = mpsc::channel::<u8>(1);
            tokio::join!(receiver.recv(), async { delay::checkpoint(&0) }).0
        });
    });
    // An interval in a select loop leaves nothing behind.
    first_schedule(|| async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        sender.send(1).expect("it waits");
        let mut interval = time::interval(Duration::from_secs(1));
        for _ in 0..4 {
            delay::checkpoint(&interval.period());
            tokio::select! {
                _ = interval.tick() => {}
                _ = receiver.recv() => {}
            }
        }
        delay::checkpoint(&0);
    });
}

#[test]
fn random_numbers_do_not_branch() {
    let draw = || async {
        let mut rng = delay::rng();
        let other = task::spawn(async { delay::rng().next_u64() });
        let mut bytes = [0; 11];
        rng.fill_bytes(&mut bytes);
        let own = (rng.next_u32(), rng.random_range(0..1000_u32), bytes);
        (own, other.await.expect("it is not aborted"))
    };
    let outcomes = every_schedule(draw);
    assert_eq!(outcomes.len(), 1);
    let ((_, own, _), other) = outcomes.into_keys().next().expect("there is one");
    assert_ne!(u64::from(own), other);
    assert_ne!(on_tokio(draw()), on_tokio(draw()), "equal once in 2^64");
}

#[test]
fn collections_keep_their_order() {
    let order = || (0..100).map(|key| (key * 7919, key)).collect::<HashMap<u32, u32>>().into_keys().collect::<Vec<_>>();
    assert_eq!(order(), order());
}

#[test]
fn a_timer_fires_before_or_after_anything() {
    let outcomes = every_schedule(|| async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for (name, seconds) in [("early", 1), ("late", 5)] {
            let sender = sender.clone();
            task::spawn(async move {
                time::sleep(Duration::from_secs(seconds)).await;
                sender.send(name).expect("it waits");
            });
        }
        drop(sender);
        (receiver.recv().await, receiver.recv().await)
    });
    let (early, late) = (Some("early"), Some("late"));
    assert_eq!(outcomes.into_keys().collect::<Vec<_>>(), [(early, late), (late, early)]);
}

#[test]
fn what_the_clock_shows_is_part_of_the_state() {
    // One sleeper waits from the start or from the end of the other's sleep: the same history for both, and another
    // time of day. A program that looks at the clock must not have the two merged.
    let outcomes = outcomes_by_states(|| async {
        let start = Instant::now();
        let sleepers = [1, 1].map(|seconds| {
            task::spawn(async move {
                task::yield_now().await;
                time::sleep(Duration::from_secs(seconds)).await;
            })
        });
        for sleeper in sleepers {
            sleeper.await.expect("it is not aborted");
        }
        start.elapsed()
    });
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>(), [Duration::from_secs(1), Duration::from_secs(2)]);
}

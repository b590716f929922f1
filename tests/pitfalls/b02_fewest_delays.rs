//! With a delta above 1 a state may be met first with more delays than it needs: it is expanded again when it is met
//! with fewer.

use crate::{exhaustive, finds};
use delay::{
    Cache, Checker, Payload,
    net::{Delivery, Network},
    task,
};
use delay_core::world::masked::Part;

/// The notes' RELAY over per-sender endpoints, declared S, A, B, C. S: ? ? ?. A: !S(init) !C(go). B: !S(use). C: ? !S(quit).
fn relay(bad: [&'static str; 3]) {
    let network = Network::with_payload(Delivery::PerSender, Payload::visible());
    let [mut s, a, b, mut c] = ["S", "A", "B", "C"].map(|name| network.endpoint(name));
    let (to_s, to_c) = (s.address(), c.address());
    let kept = network.clone();
    task::spawn_named("S", async move {
        let seen = [s.recv().await.message, s.recv().await.message, s.recv().await.message];
        assert_ne!(seen, bad);
        drop(kept);
    });
    task::spawn_named("A", async move {
        a.send(to_s, "init").await.expect("S is there");
        a.send(to_c, "go").await.expect("C is there");
    });
    task::spawn_named("B", async move { b.send(to_s, "use").await.expect("S is there") });
    task::spawn_named("C", async move {
        c.recv().await;
        c.send(to_s, "quit").await.expect("S is there");
    });
}

fn with_delta_2() -> Checker {
    exhaustive().explorer("rr").cache(Cache::StateExplorer).delta(2).max_delays(4)
}

const LATE: [&str; 3] = ["quit", "use", "init"];

#[test]
fn what_needs_four_delays_is_found_within_four() {
    finds(&with_delta_2().check(|| async { relay(LATE) }), "init");
    // As it is found with a delta of 1.
    finds(&with_delta_2().delta(1).check(|| async { relay(LATE) }), "init");
}

#[test]
fn without_the_fewest_delays_it_is_missed_although_the_bound_is_claimed() {
    let report = with_delta_2().mask(Part::Delays).check(|| async { relay(LATE) });
    assert!(!report.is_failure(), "found it: {:?}", report.stop);
    assert!(report.sentences().starts_with("every state reached within 4 delays"), "{}", report.sentences());
    // In the end it is found.
    finds(&exhaustive().explorer("rr").delta(2).mask(Part::Delays).check(|| async { relay(LATE) }), "init");
}

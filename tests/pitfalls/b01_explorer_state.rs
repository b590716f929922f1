//! A cache without the explorer's state visits everything in the end, but not within the bound it belongs to.

use crate::{exhaustive, finds};
use delay::{Cache, Payload, Report, sync::mpsc, task};

/// The notes' LATE-1: with round robin, P2 sees (m2, m1) within one delay.
async fn late() {
    let (to_1, mut inbox_1) = mpsc::unbounded_channel_with(Payload::visible());
    let (to_2, mut inbox_2) = mpsc::unbounded_channel_with(Payload::visible());
    let from_1 = to_2.clone();
    task::spawn_named("P0", async move {
        task::yield_now().await;
        to_1.send("m0").expect("P1 receives");
        task::yield_now().await;
        let _ = to_2.send("m1");
    });
    task::spawn_named("P1", async move {
        task::yield_now().await;
        from_1.send("m2").expect("P2 receives");
        inbox_1.recv().await;
        task::yield_now().await;
        let _ = from_1.send("m3");
    });
    task::spawn_named("P2", async move {
        let seen = [inbox_2.recv().await, inbox_2.recv().await];
        assert_ne!(seen, [Some("m2"), Some("m1")]);
    });
}

fn run(cache: Cache) -> impl Fn(u32) -> Report {
    move |delays| exhaustive().explorer("rr").cache(cache).max_delays(delays).check(late)
}

#[test]
fn with_the_explorers_state_each_bound_is_exact() {
    assert!(!run(Cache::StateExplorer)(0).is_failure());
    finds(&run(Cache::StateExplorer)(1), "m2");
    finds(&run(Cache::Off)(1), "m2");
}

#[test]
fn without_it_the_bug_is_found_late_and_no_bound_is_claimed() {
    let report = run(Cache::State)(1);
    assert!(!report.is_failure());
    assert!(!report.sentences().contains("every"), "{}", report.sentences());
    finds(&run(Cache::State)(2), "m2");
}

//! The same samples, whatever the number of threads that take them.

use delay::{
    Checker, Granularity, Mode, Payload, Report,
    net::{Delivery, Network},
    sync::mpsc,
    task, time,
};
use std::time::Duration;

async fn four_in_order() {
    let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::visible());
    for me in 0..4 {
        let sender = sender.clone();
        task::spawn_named(format!("sender {me}"), async move {
            task::yield_now().await;
            sender.send(me).expect("the body receives");
        });
    }
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.extend(receiver.recv().await);
    }
    assert!(seen[0] != 3 || seen[3] != 0, "the last came first and the first last");
}

async fn four_in_any_order() {
    for me in 0..4 {
        task::spawn_named(format!("task {me}"), async move { task::yield_now().await });
    }
}

fn with_jobs(mode: Mode, seed: u64, run: impl Fn(Checker) -> Report) -> [Report; 3] {
    let checker = Checker::new().mode(mode).granularity(Granularity::Op).seed(seed).samples(500).max_delays(4);
    [1, 2, 4].map(|jobs| run(checker.jobs(jobs)))
}

#[test]
fn the_same_bug_is_found_with_any_number_of_jobs() {
    for (mode, seed) in [Mode::Ss, Mode::Random].into_iter().flat_map(|mode| (0..8).map(move |seed| (mode, seed))) {
        let [one, two, four] = with_jobs(mode, seed, |checker| checker.check(four_in_order)).map(|report| {
            let failure = report.failure.expect("500 samples find it");
            (report.stop, failure.violation, failure.trace)
        });
        assert_eq!(one, two, "{mode:?}, seed {seed}");
        assert_eq!(one, four, "{mode:?}, seed {seed}");
    }
}

#[test]
fn the_same_is_covered_with_any_number_of_jobs() {
    for mode in [Mode::Ss, Mode::Random] {
        let [one, two, four] = with_jobs(mode, 7, |checker| checker.check(four_in_any_order)).map(|report| {
            let coverage = report.coverage;
            let counts = (coverage.executions, coverage.transitions, coverage.longest, coverage.choices);
            (report.stop, counts, coverage.strata)
        });
        assert_eq!(one, two, "{mode:?}");
        assert_eq!(one, four, "{mode:?}");
    }
}

/// The search begins anew when somebody looks for a message without waiting, or at the clock: in some executions only.
async fn looks_now_and_then() {
    let net = Network::with_payload(Delivery::Unordered, Payload::visible());
    let (mut receiver, sender) = (net.endpoint("receiver"), net.endpoint("sender"));
    let to = receiver.address();
    task::spawn_named("sender", async move {
        for number in 0..3 {
            sender.send(to, number).await.expect("the body receives");
        }
    });
    let first = receiver.recv().await.message;
    if first != 0 {
        let start = time::Instant::now();
        let then = receiver.try_recv().map(|envelope| envelope.message);
        time::sleep(Duration::from_millis(1)).await;
        assert!(then != Some(0) || start.elapsed().is_zero(), "{first}, then 0");
    }
}

#[test]
fn a_search_begins_anew_with_any_number_of_jobs() {
    for mode in [Mode::Ss, Mode::Random] {
        for seed in 0..4 {
            let [one, two, four] = with_jobs(mode, seed, |checker| checker.check(looks_now_and_then)).map(|report| {
                let failure = report.failure.expect("500 samples find it");
                (report.stop, failure.violation, failure.trace)
            });
            assert_eq!(one, two, "{mode:?}, seed {seed}");
            assert_eq!(one, four, "{mode:?}, seed {seed}");
            assert_eq!(Checker::new().replay(&one.2, looks_now_and_then), one.2, "{mode:?}, seed {seed}");
        }
    }
}

//! How time passes: any timer at any time, or in order; and clocks that differ.

use crate::outcomes::outcomes;
use delay::{Checker, Time, node::Node, task, time};
use std::time::Duration;

/// Three timers; what they say is noted in the order in which they fire.
fn order(checker: Checker) -> Vec<String> {
    let all = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let report = checker.check(|| async {
        let order = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for seconds in [3, 1, 2] {
            let order = order.clone();
            tasks.push(task::spawn(async move {
                time::sleep(Duration::from_secs(seconds)).await;
                order.lock().unwrap().push(seconds);
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        all.lock().unwrap().insert(format!("{:?}", order.lock().unwrap()));
    });
    assert!(!report.is_failure());
    all.into_inner().unwrap().into_iter().collect()
}

#[test]
fn timers_fire_in_order_if_asked_to() {
    assert_eq!(order(Checker::new().cache(delay::Cache::Off)).len(), 6);
    assert_eq!(order(Checker::new().cache(delay::Cache::Off).time(Time::Ordered)), ["[1, 2, 3]"]);
}

#[test]
fn in_order_a_timer_fires_only_when_nothing_else_can_happen() {
    let yields = |time| {
        let report = Checker::new().time(time).check(|| async {
            let late = task::spawn(async {
                for _ in 0..3 {
                    task::yield_now().await;
                }
            });
            time::sleep(Duration::from_millis(1)).await;
            assert!(late.is_finished(), "the timer came first");
        });
        report.is_failure()
    };
    assert!(yields(Time::Any));
    assert!(!yields(Time::Ordered));
}

/// Whether the timer was cancelled, and whether it had fired.
async fn cancels_a_timer() -> (bool, bool) {
    let (tell, mut fired) = delay::sync::mpsc::unbounded_channel();
    let timer = task::spawn(async move {
        time::sleep(Duration::from_secs(1)).await;
        tell.send(()).unwrap();
    });
    task::yield_now().await;
    timer.abort();
    let cancelled = timer.await.is_err();
    (cancelled, fired.recv().await.is_some())
}

/// Listing 1 of the P paper: a timer may have fired before it is cancelled.
#[test]
fn a_timer_that_is_cancelled_may_have_fired() {
    let seen = outcomes(Checker::new(), |all| async move { all.note(&cancels_a_timer().await) });
    // With timers in order it cannot have: nothing waits that long.
    assert_eq!(seen, ["(true, false)"]);
    let any = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let report = Checker::new().check(|| async {
        let outcome = cancels_a_timer().await;
        any.lock().unwrap().insert(outcome);
    });
    report.assert_passed();
    assert_eq!(any.into_inner().unwrap().into_iter().collect::<Vec<_>>(), [(false, true), (true, false)]);
}

/// A lease that its holder believes in for longer than the server grants it.
#[test]
fn clocks_of_nodes_may_differ_within_a_bound() {
    let overlap = |skew: u64, margin: u64| {
        let checker = Checker::new().time(Time::Ordered).skew(Duration::from_millis(skew));
        let report = checker.check(move || async move {
            let (tell, mut told) = delay::sync::mpsc::unbounded_channel();
            let server = tell.clone();
            Node::start("server", move || {
                let tell = server.clone();
                async move {
                    time::sleep(Duration::from_millis(100 + margin)).await;
                    let _ = tell.send("granted to another");
                }
            });
            Node::start("holder", move || {
                let tell = tell.clone();
                async move {
                    time::sleep(Duration::from_millis(100)).await;
                    let _ = tell.send("released");
                }
            });
            assert_eq!(told.recv().await, Some("released"));
        });
        report.is_failure()
    };
    assert!(!overlap(0, 1));
    assert!(overlap(5, 1));
    assert!(!overlap(5, 6));
}

#[test]
fn the_clock_of_a_node_may_be_ahead() {
    let seen = outcomes(Checker::new().skew(Duration::from_millis(5)), |all| async move {
        let start = time::Instant::now();
        Node::start("node", move || {
            let all = all.clone();
            async move { all.note(&start.elapsed().as_millis()) }
        });
    });
    assert_eq!(seen, ["0", "5"]);
}

/// An aborted task never runs on, whatever becomes of its timer.
#[test]
fn a_task_that_was_aborted_does_not_wake_up() {
    let report = Checker::new().check(|| async {
        let task = task::spawn_named("sleeper", async {
            time::sleep(Duration::from_millis(3)).await;
            time::sleep(Duration::from_millis(3)).await;
        });
        task::spawn_named("aborter", async move { task.abort() });
    });
    assert!(report.is_complete(), "{:?}", report.stop);
}

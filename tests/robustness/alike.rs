//! A task that waits for several ops alike at once: which one was granted is told apart, also where values are opaque.

use delay::{
    Checker, Waiting,
    sync::{Semaphore, mpsc},
    task,
};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

/// What is received, in order, in some execution.
fn received(count: u32) -> BTreeSet<Vec<u32>> {
    let orders = Arc::new(Mutex::new(BTreeSet::new()));
    let noted = Arc::clone(&orders);
    let report = Checker::new().check(move || {
        let noted = Arc::clone(&noted);
        async move {
            let (sender, mut receiver) = mpsc::channel::<u32>(2);
            task::spawn(async move {
                let all = (1..=count).map(|number| sender.send(number));
                futures::future::join_all(all).await;
            });
            let mut order = Vec::new();
            for _ in 0..count {
                let number = receiver.recv().await.expect("all are sent");
                if number == 2 {
                    task::yield_now().await;
                }
                order.push(number);
            }
            noted.lock().expect("nobody panics").insert(order);
        }
    });
    assert!(report.is_complete(), "{}", report.sentences());
    orders.lock().expect("nobody panics").clone()
}

#[test]
fn every_order_of_sends_that_are_awaited_together_is_visited() {
    assert_eq!(received(2), BTreeSet::from([vec![1, 2], vec![2, 1]]));
    assert_eq!(received(3).len(), 6);
}

/// Who of two that wait for permits at one place of the code is the first in the queue, is told apart.
#[test]
fn permits_that_one_task_waits_for_twice_at_one_place_are_told_apart() {
    for explorer in ["rtc", "rr"] {
        let report = Checker::new().explorer(explorer).waiting(Waiting::Allow).check(async || {
            let permits = Arc::new(Semaphore::new(0));
            let of_task = Arc::clone(&permits);
            task::spawn(async move {
                let take = async |keeps: bool| {
                    let permit = of_task.acquire_many(2).await;
                    if keeps {
                        std::future::pending::<()>().await;
                    }
                    drop(permit);
                };
                futures::future::join(take(true), take(false)).await;
            });
            for _ in 0..2 {
                task::yield_now().await;
                permits.add_permits(1);
            }
            task::yield_now().await;
            assert_ne!(permits.available_permits(), 7);
            task::yield_now().await;
        });
        assert!(report.is_complete() && !report.is_failure(), "{explorer}: {:?}", report.stop);
    }
}

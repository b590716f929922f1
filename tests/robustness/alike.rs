//! A task that waits for several ops alike at once: which one was granted is told apart, also where values are opaque.

use delay::{Checker, sync::mpsc, task};
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

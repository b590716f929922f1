//! Notifications and watched values.

use crate::{exhaustive, finds, same_with_and_without_cache};
use delay::{
    checkpoint,
    sync::{Notify, Semaphore, watch},
    task,
};
use delay_core::world::masked::Part;
use std::{pin::pin, sync::Arc};

async fn one_for_two() -> (bool, bool) {
    let notify = Arc::new(Notify::new());
    let mut futures = [pin!(notify.notified()), pin!(notify.notified())];
    let before = futures[0].as_mut().enable();
    futures[1].as_mut().enable();
    let other = Arc::clone(&notify);
    task::spawn(async move { other.notify_one() }).await.expect("it ends");
    (before, futures[0].as_mut().enable() && !futures[1].as_mut().enable())
}

#[test]
fn the_first_in_the_queue_is_notified() {
    assert_eq!(same_with_and_without_cache(one_for_two).into_iter().collect::<Vec<_>>(), [(false, true)]);
}

async fn nobody_listens(all: bool) {
    let notify = Arc::new(Notify::new());
    let other = Arc::clone(&notify);
    task::spawn(async move {
        task::yield_now().await;
        if all { other.notify_waiters() } else { other.notify_one() }
    });
    task::yield_now().await;
    notify.notified().await;
}

#[test]
fn notify_waiters_is_lost_on_who_comes_later() {
    finds(&exhaustive().check(|| nobody_listens(true)), "main waits for a notification of notify main#1");
    crate::passes(&exhaustive().check(|| nobody_listens(false)));
}

async fn last_sender(wrong: u8) {
    let (sender, receiver) = watch::channel(0);
    let tasks = [1, 2].map(|task| {
        let sender = sender.clone();
        task::spawn(async move {
            task::yield_now().await;
            sender.send(task).expect("there is a receiver");
            checkpoint("sent");
            drop(sender);
        })
    });
    for task in tasks {
        task.await.expect("it ends");
    }
    let last = *receiver.borrow();
    assert_ne!(last, wrong, "the wrong one was last");
}

#[test]
fn without_versions_the_last_value_is_missed() {
    let missed = |checker: &dyn Fn() -> delay::Checker| {
        let all = [1, 2].map(|wrong| !checker().check(move || last_sender(wrong)).is_failure());
        all.iter().filter(|missed| **missed).count()
    };
    assert_eq!(missed(&exhaustive), 0);
    assert_eq!(missed(&|| exhaustive().mask(Part::Version)), 1);
}

async fn watched() -> Vec<u8> {
    let (sender, mut receiver) = watch::channel(0);
    task::spawn(async move {
        for value in 1..3 {
            task::yield_now().await;
            sender.send(value).expect("there is a receiver");
        }
    });
    let mut seen = Vec::new();
    while receiver.changed().await.is_ok() {
        seen.push(*receiver.borrow_and_update());
    }
    seen
}

#[test]
fn a_receiver_sees_the_last_value_and_may_miss_others() {
    assert_eq!(same_with_and_without_cache(watched).into_iter().collect::<Vec<_>>(), [vec![1, 2], vec![2]]);
}

/// Only the value tells who came last: the senders have ended, and nobody asks how.
async fn forgotten_senders() -> u8 {
    let (sender, receiver) = watch::channel(0);
    let done = Arc::new(Semaphore::new(0));
    for task in [1, 2] {
        let (sender, done) = (sender.clone(), Arc::clone(&done));
        task::spawn(async move {
            task::yield_now().await;
            sender.send(task).expect("there is a receiver");
            done.add_permits(1);
        });
    }
    let _both = done.acquire_many(2).await.expect("it is open");
    task::yield_now().await;
    *receiver.borrow()
}

#[test]
fn a_version_says_whose_value_it_is() {
    assert_eq!(same_with_and_without_cache(forgotten_senders).into_iter().collect::<Vec<_>>(), [1, 2]);
}

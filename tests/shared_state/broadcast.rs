//! Broadcasts, and what becomes of handles that go in the middle of something.

use crate::{exhaustive, finds, passes, same_with_and_without_cache};
use delay::{
    Payload,
    node::Node,
    sync::{
        Mutex, Semaphore,
        broadcast::{self, error::RecvError},
        mpsc,
    },
    task,
};
use std::sync::Arc;

async fn all_of(mut receiver: broadcast::Receiver<u8>) -> Vec<Result<u8, u64>> {
    let mut seen = Vec::new();
    loop {
        match receiver.recv().await {
            Ok(value) => seen.push(Ok(value)),
            Err(RecvError::Lagged(lost)) => seen.push(Err(lost)),
            Err(RecvError::Closed) => return seen,
        }
    }
}

/// Two senders, and two receivers of which both must see the same order.
async fn two_senders(payload: Payload<u8>, capacity: usize) -> [Vec<Result<u8, u64>>; 2] {
    let (sender, one) = broadcast::channel_with(capacity, payload);
    let other = sender.subscribe();
    for value in 1..3 {
        let sender = sender.clone();
        task::spawn(async move {
            task::yield_now().await;
            sender.send(value).expect("there are receivers");
        });
    }
    drop(sender);
    let other = task::spawn(all_of(other));
    let one = all_of(one).await;
    [one, other.await.expect("it ends")]
}

#[test]
fn every_receiver_sees_every_value_in_one_order() {
    let outcomes = same_with_and_without_cache(|| two_senders(Payload::opaque(), 2));
    let both = |order: [u8; 2]| [order.map(Ok).to_vec(), order.map(Ok).to_vec()];
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>(), [both([1, 2]), both([2, 1])]);
}

#[test]
fn a_receiver_that_is_too_slow_is_told_what_it_lost() {
    let outcomes = same_with_and_without_cache(|| two_senders(Payload::hash(), 1));
    for outcome in &outcomes {
        for seen in outcome {
            let (got, last) = (seen.len(), seen.last());
            assert!(got == 2 && matches!(last, Some(Ok(_))), "two values, or the loss of one and the other: {seen:?}");
        }
    }
    // Either order, and each receiver keeps up or lags.
    assert_eq!(outcomes.len(), 8);
}

/// The last permit is handed to who gives up, and must not be lost.
async fn given_up() -> bool {
    let semaphore = Arc::new(Semaphore::new(1));
    let held = semaphore.acquire().await.expect("it is open");
    let [one, other] = [(); 2].map(|()| {
        let semaphore = Arc::clone(&semaphore);
        task::spawn(async move { semaphore.acquire().await.map(drop) })
    });
    task::yield_now().await;
    drop(held);
    task::yield_now().await;
    one.abort();
    other.await.expect("it ends").expect("it is open");
    one.await.is_ok()
}

#[test]
fn who_gives_up_hands_its_permits_on() {
    assert_eq!(same_with_and_without_cache(given_up).into_iter().collect::<Vec<_>>(), [false, true]);
}

/// Part of what the head of the queue wants waits with it, and goes on with it.
async fn partial() -> usize {
    let semaphore = Arc::new(Semaphore::new(2));
    let held = semaphore.acquire().await.expect("it is open");
    let many = Arc::clone(&semaphore);
    let greedy = task::spawn(async move { many.acquire_many(3).await.map(drop) });
    task::yield_now().await;
    drop(held);
    greedy.abort();
    assert!(greedy.await.is_err(), "there are never three");
    semaphore.available_permits()
}

#[test]
fn permits_of_an_unfinished_acquire_come_back() {
    assert_eq!(same_with_and_without_cache(partial).into_iter().collect::<Vec<_>>(), [2]);
}

async fn closed_while_waiting() -> bool {
    let semaphore = Arc::new(Semaphore::new(0));
    let waiting = Arc::clone(&semaphore);
    let waiter = task::spawn(async move { waiting.acquire().await.is_err() });
    task::yield_now().await;
    semaphore.close();
    waiter.await.expect("it ends")
}

#[test]
fn closing_wakes_who_waits() {
    assert_eq!(same_with_and_without_cache(closed_while_waiting).into_iter().collect::<Vec<_>>(), [true]);
}

/// `select!` drops the acquire that lost, wherever it stood.
async fn selected() -> bool {
    let mutex = Arc::new(Mutex::new(()));
    let held = Arc::clone(&mutex);
    task::spawn(async move {
        let _guard = held.lock().await;
        task::yield_now().await;
    });
    let won = tokio::select! {
        _guard = mutex.lock() => true,
        () = task::yield_now() => false,
    };
    drop(mutex.lock().await);
    won
}

#[test]
fn a_lock_that_lost_a_select_is_free() {
    assert_eq!(same_with_and_without_cache(selected).into_iter().collect::<Vec<_>>(), [false, true]);
}

#[test]
fn a_receiver_without_a_sender_that_sends_is_a_deadlock() {
    let report = exhaustive().check(|| async {
        let (_sender, mut receiver) = broadcast::channel::<u8>(1);
        let _: Result<u8, RecvError> = receiver.recv().await;
    });
    finds(&report, "broadcast");
    passes(&exhaustive().check(|| async {
        let (sender, mut receiver) = broadcast::channel::<u8>(1);
        drop(sender);
        assert_eq!(receiver.recv().await, Err(RecvError::Closed));
    }));
}

/// A node goes down, perhaps while it holds the lock or waits for it.
async fn crashed_holder() -> bool {
    let mutex = Arc::new(Mutex::new(()));
    let (entered, mut inside) = mpsc::unbounded_channel();
    let held = Arc::clone(&mutex);
    let node = Node::start("node", move || {
        let (held, entered) = (Arc::clone(&held), entered.clone());
        async move {
            let _guard = held.lock().await;
            entered.send(()).expect("the body listens");
            std::future::pending::<()>().await;
        }
    });
    task::yield_now().await;
    node.crash().await;
    drop(mutex.lock().await);
    inside.try_recv().is_ok()
}

#[test]
fn a_crash_releases_what_the_node_held() {
    assert_eq!(same_with_and_without_cache(crashed_holder).into_iter().collect::<Vec<_>>(), [false, true]);
}

//! Every execution starts from a fresh body: what the body makes is not shared with the execution before.

use crate::{exhaustive, finds, passes};
use delay::{Cache, task};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

/// A lost update: both read before either writes.
async fn lost_update() {
    let counter = Arc::new(AtomicU32::new(0));
    let tasks = [0, 1].map(|_| {
        let counter = Arc::clone(&counter);
        task::spawn(async move {
            task::yield_now().await;
            let read = counter.load(Ordering::Relaxed);
            task::yield_now().await;
            counter.store(read + 1, Ordering::Relaxed);
        })
    });
    for task in tasks {
        task.await.expect("it ends");
    }
    assert_eq!(counter.load(Ordering::Relaxed), 2, "an update was lost");
}

/// State that tasks share outside the library's objects starts anew with each execution. It is not in the key: without
/// a cache nothing is merged.
#[test]
fn state_of_one_execution_is_state_of_one_execution() {
    finds(&exhaustive().cache(Cache::Off).check(lost_update), "an update was lost");
}

struct Alive(Arc<AtomicU32>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn nothing_is_left_of_an_execution_when_the_next_begins() {
    let alive = Arc::new(AtomicU32::new(0));
    let report = exhaustive().check(|| async {
        assert_eq!(alive.fetch_add(1, Ordering::Relaxed), 0, "the one before is gone");
        let guard = Alive(Arc::clone(&alive));
        task::spawn(async move {
            task::yield_now().await;
            std::future::pending::<()>().await;
            drop(guard);
        });
        task::yield_now().await;
    });
    passes(&report);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

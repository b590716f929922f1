//! Mutexes, read-write locks and semaphores.

use crate::{exhaustive, finds, passes, same_with_and_without_cache};
use delay::{
    Payload, checkpoint,
    sync::{self, Mutex, RwLock, Semaphore},
    task,
};
use delay_core::world::masked::Part;
use std::sync::Arc;

/// In which order n tasks got the lock.
async fn orders(n: u32) -> Vec<u32> {
    let mutex = Arc::new(Mutex::new(Vec::new()));
    let tasks: Vec<_> = (0..n)
        .map(|task| {
            let mutex = Arc::clone(&mutex);
            task::spawn(async move {
                let mut order = mutex.lock().await;
                task::yield_now().await;
                order.push(task);
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("it ends");
    }
    mutex.lock().await.clone()
}

#[test]
fn a_lock_is_taken_in_every_order() {
    assert_eq!(same_with_and_without_cache(|| orders(2)).len(), 2);
    assert_eq!(same_with_and_without_cache(|| orders(3)).len(), 6);
}

async fn philosophers(left_handed: bool) {
    let forks: Arc<Vec<Mutex<()>>> = Arc::new((0..3).map(|_| Mutex::new(())).collect());
    let diners: Vec<_> = (0..3)
        .map(|seat| {
            let forks = Arc::clone(&forks);
            task::spawn_named(["ada", "bea", "cat"][seat], async move {
                let (mut first, mut second) = (seat, (seat + 1) % 3);
                if left_handed && seat == 2 {
                    std::mem::swap(&mut first, &mut second);
                }
                let _one = forks[first].lock().await;
                let _other = forks[second].lock().await;
            })
        })
        .collect();
    for diner in diners {
        diner.await.expect("it ends");
    }
}

#[test]
fn a_deadlock_of_philosophers_names_who_holds_what() {
    let report = exhaustive().check(|| philosophers(false));
    finds(&report, "ada waits for the lock mutex main#2, held by bea");
    finds(&report, "cat waits for the lock mutex main#1, held by ada");
    passes(&exhaustive().check(|| philosophers(true)));
}

async fn two_increments(upgrade: bool) -> u32 {
    let lock = Arc::new(RwLock::new(0));
    let add = |lock: Arc<RwLock<u32>>| async move {
        if upgrade {
            let seen = *lock.read().await;
            *lock.write().await = seen + 1;
        } else {
            *lock.write().await += 1;
        }
    };
    let (one, two) = (task::spawn(add(Arc::clone(&lock))), task::spawn(add(Arc::clone(&lock))));
    one.await.expect("it ends");
    two.await.expect("it ends");
    *lock.read().await
}

#[test]
fn an_update_is_lost_between_read_and_write() {
    assert_eq!(same_with_and_without_cache(|| two_increments(true)).into_iter().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(same_with_and_without_cache(|| two_increments(false)).into_iter().collect::<Vec<_>>(), [2]);
}

/// The value behind the lock is all that tells who came last.
async fn last_writer(wrong: u8) {
    let mutex = Arc::new(Mutex::new(0));
    let tasks = [1, 2].map(|task| {
        let mutex = Arc::clone(&mutex);
        task::spawn(async move {
            let mut value = mutex.lock().await;
            task::yield_now().await;
            *value = task;
            drop(value);
            checkpoint("wrote");
            drop(mutex);
        })
    });
    for task in tasks {
        task.await.expect("it ends");
    }
    let value = *mutex.lock().await;
    assert_ne!(value, wrong, "the wrong one was last");
}

async fn last_writer_rw(wrong: u8) {
    let lock = Arc::new(RwLock::new(0));
    let tasks = [1, 2].map(|task| {
        let lock = Arc::clone(&lock);
        task::spawn(async move {
            let mut value = lock.write().await;
            task::yield_now().await;
            *value = task;
            drop(value);
            checkpoint("wrote");
            drop(lock);
        })
    });
    for task in tasks {
        task.await.expect("it ends");
    }
    let value = *lock.read().await;
    assert_ne!(value, wrong, "the wrong one was last");
}

#[test]
fn without_versions_what_is_behind_a_lock_is_missed() {
    // Who comes last in the one schedule that is left without versions is up to the explorer.
    let missed = |checker: &dyn Fn() -> delay::Checker| {
        let plain = [1, 2].map(|wrong| !checker().check(move || last_writer(wrong)).is_failure());
        let rw = [1, 2].map(|wrong| !checker().check(move || last_writer_rw(wrong)).is_failure());
        (plain.iter().filter(|missed| **missed).count(), rw.iter().filter(|missed| **missed).count())
    };
    assert_eq!(missed(&exhaustive), (0, 0));
    // A search that masks something is not audited; there is no timer here to miss. So it is the versions that find both.
    assert_eq!(missed(&|| exhaustive().mask(Part::Timers)), (0, 0));
    assert_eq!(missed(&|| exhaustive().mask(Part::Version)), (1, 1));
    finds(&exhaustive().check(|| last_writer(1)), "the wrong one was last");
}

#[test]
fn values_that_can_be_hashed_merge_states() {
    let states = |payload: fn() -> Payload<u8>| {
        let report = exhaustive().check(move || async move {
            let mutex = Arc::new(sync::mutex_with(0, payload()));
            for _ in 0..3 {
                let mutex = Arc::clone(&mutex);
                task::spawn(async move { *mutex.lock().await = 1 });
            }
        });
        passes(&report);
        report.coverage.states
    };
    assert!(states(Payload::hash) < states(Payload::opaque));
}

/// A queue is served in order, and nobody passes it.
async fn fair() -> (bool, Vec<u32>) {
    let semaphore = Arc::new(Semaphore::new(1));
    let first = semaphore.acquire().await.expect("it is open");
    let many = Arc::clone(&semaphore);
    let waiting = task::spawn(async move { many.acquire_many(2).await.map(|permits| permits.num_permits()).is_ok() });
    task::yield_now().await;
    drop(first);
    let passed = semaphore.try_acquire().is_ok();
    semaphore.add_permits(2);
    (passed, vec![u32::from(waiting.await.expect("it ends"))])
}

#[test]
fn permits_are_handed_over() {
    // Passing is possible only while nobody has queued.
    assert_eq!(same_with_and_without_cache(fair).len(), 2);
}

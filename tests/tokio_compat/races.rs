//! What the schedule decides: what tokio comes to is among what is explored.

#![expect(clippy::unwrap_used, reason = "scenarios read better with it, and a panic shows its line")]

use crate::driver::{every_schedule, on_tokio};

/// The names a scenario uses, as tokio's.
mod on_theirs {
    pub(super) use std::sync::Arc;
    pub(super) use tokio::{
        select,
        sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, SetOnce, broadcast, mpsc, watch},
        task::{self, JoinSet},
        time::{self, Duration},
    };
    pub(super) use tokio_util::{sync::CancellationToken, task::TaskTracker};
}

/// The names a scenario uses, as ours.
mod on_ours {
    pub(super) use delay::{
        select,
        sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, SetOnce, broadcast, mpsc, watch},
        task::{self, JoinSet},
        time::{self, Duration},
        tokio_util::{sync::CancellationToken, task::TaskTracker},
    };
    pub(super) use std::sync::Arc;
}

among! {
    @2 async fn who_comes_first_to_a_lock() {
        let order = Arc::new(Mutex::new(Vec::new()));
        let tasks = [1, 2].map(|n| {
            let order = Arc::clone(&order);
            task::spawn(async move { order.lock().await.push(n) })
        });
        for task in tasks {
            task.await.unwrap();
        }
        seen![*order.lock().await]
    }

    @2 async fn a_writer_that_waits_keeps_later_readers_out() {
        let lock = Arc::new(RwLock::new(0));
        let reader = lock.read().await;
        let (writes, reads) = (Arc::clone(&lock), Arc::clone(&lock));
        let writer = task::spawn(async move { *writes.write().await += 1 });
        let later = task::spawn(async move { *reads.read().await });
        task::yield_now().await;
        drop(reader);
        writer.await.unwrap();
        seen![later.await.unwrap()]
    }

    @2 async fn who_gets_the_permit() {
        let semaphore = Arc::new(Semaphore::new(1));
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for n in [1, 2] {
            let (semaphore, sender) = (Arc::clone(&semaphore), sender.clone());
            task::spawn(async move {
                let _permit = semaphore.acquire().await.unwrap();
                sender.send(n).unwrap();
            });
        }
        seen![receiver.recv().await, receiver.recv().await]
    }

    @2 async fn who_is_notified() {
        let notify = Arc::new(Notify::new());
        let mut set = JoinSet::new();
        for n in [1, 2] {
            let notify = Arc::clone(&notify);
            set.spawn(async move {
                notify.notified().await;
                n
            });
        }
        task::yield_now().await;
        notify.notify_one();
        let first = set.join_next().await.unwrap().unwrap();
        set.shutdown().await;
        seen![first]
    }

    @2 async fn a_cancellation_and_a_message() {
        let token = CancellationToken::new();
        let (sender, mut receiver) = mpsc::channel(1);
        sender.send(1).await.unwrap();
        let child = token.child_token();
        let server = task::spawn(async move {
            select! {
                biased;
                message = receiver.recv() => message,
                () = child.cancelled() => None,
            }
        });
        token.cancel();
        seen![server.await.unwrap()]
    }

    @2 async fn whether_a_cancellation_is_seen() {
        let token = CancellationToken::new();
        let other = token.clone();
        let looks = task::spawn(async move { other.is_cancelled() });
        task::yield_now().await;
        token.cancel();
        seen![looks.await.unwrap()]
    }

    @2 async fn who_computes_the_value() {
        let cell = Arc::new(OnceCell::new());
        let tasks = [1, 2].map(|n| {
            let cell = Arc::clone(&cell);
            task::spawn(async move { *cell.get_or_init(|| async move { n }).await })
        });
        let mut seen = Vec::new();
        for task in tasks {
            seen.push(task.await.unwrap());
        }
        seen![seen, cell.get()]
    }

    @2 async fn who_sets_the_value() {
        let once = Arc::new(SetOnce::new());
        for n in [1, 2] {
            let once = Arc::clone(&once);
            task::spawn(async move { drop(once.set(n)) });
        }
        seen![once.wait().await]
    }

    @2 async fn who_leads_at_a_barrier() {
        let barrier = Arc::new(Barrier::new(2));
        let tasks = [(); 2].map(|()| {
            let barrier = Arc::clone(&barrier);
            task::spawn(async move { barrier.wait().await.is_leader() })
        });
        let mut seen = Vec::new();
        for task in tasks {
            seen.push(task.await.unwrap());
        }
        seen![seen]
    }

    @2 async fn whether_a_tracked_task_has_ended() {
        let tracker = TaskTracker::new();
        tracker.spawn(async {});
        task::yield_now().await;
        let seen = seen![tracker.len()];
        tracker.close();
        tracker.wait().await;
        seen
    }

    @3 async fn how_many_values_a_slow_receiver_loses() {
        let (sender, mut receiver) = broadcast::channel(1);
        let sends = task::spawn(async move {
            for n in 0..3 {
                task::yield_now().await;
                drop(sender.send(n));
            }
        });
        let first = receiver.recv().await;
        sends.await.unwrap();
        seen![first]
    }

    @2 async fn which_versions_are_seen() {
        let (sender, mut receiver) = watch::channel(0);
        let sends = task::spawn(async move {
            sender.send_replace(1);
            task::yield_now().await;
            sender.send_replace(2);
        });
        let mut seen = Vec::new();
        while receiver.changed().await.is_ok() {
            seen.push(*receiver.borrow_and_update());
        }
        sends.await.unwrap();
        seen![seen]
    }

    @2 async fn a_timeout_and_what_it_waits_for() {
        let (sender, mut receiver) = mpsc::channel(1);
        task::spawn(async move { sender.send(1).await });
        seen![time::timeout(Duration::from_mins(10), receiver.recv()).await.ok()]
    }
}

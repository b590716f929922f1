//! Shared state: the same code on tokio's types, on ours outside a controlled execution, and on ours inside one.

#![expect(clippy::unwrap_used, reason = "scenarios read better with it, and a panic shows its line")]

use crate::driver::{every_schedule, on_tokio};

/// The names a scenario uses, as tokio's.
mod on_theirs {
    pub(super) use std::{pin::pin, sync::Arc};
    pub(super) use tokio::{
        sync::{Mutex, Notify, RwLock, Semaphore, broadcast, watch},
        task,
    };
}

/// The names a scenario uses, as ours.
mod on_ours {
    pub(super) use delay::{
        sync::{Mutex, Notify, RwLock, Semaphore, broadcast, watch},
        task,
    };
    pub(super) use std::{pin::pin, sync::Arc};
}

parity! {
    async fn a_mutex_is_locked_once() {
        let mutex = Arc::new(Mutex::new(1));
        let mut guard = mutex.lock().await;
        *guard += 1;
        let mut seen = seen![mutex.try_lock().is_err(), mutex.try_lock().map(drop).unwrap_err().to_string()];
        drop(guard);
        let owned = Arc::clone(&mutex).try_lock_owned().unwrap();
        seen.extend(seen![*owned, mutex.try_lock().is_err(), Arc::clone(&mutex).try_lock_owned().is_err()]);
        drop(owned);
        let owned = Arc::clone(&mutex).lock_owned().await;
        seen.extend(seen![*owned]);
        drop(owned);
        seen.extend(seen![Arc::into_inner(mutex).unwrap().into_inner()]);
        seen
    }

    async fn an_aborted_holder_lets_go() {
        let mutex = Arc::new(Mutex::new(()));
        let held = Arc::clone(&mutex);
        let holder = task::spawn(async move {
            let _guard = held.lock().await;
            std::future::pending::<()>().await;
        });
        task::yield_now().await;
        holder.abort();
        let ended = holder.await.unwrap_err().is_cancelled();
        seen![ended, mutex.try_lock().is_ok()]
    }

    async fn readers_share_and_a_writer_does_not() {
        let lock = RwLock::new(1);
        let (one, other) = (lock.read().await, lock.try_read().unwrap());
        let mut seen = seen![*one + *other, lock.try_write().is_err()];
        drop((one, other));
        let mut writer = lock.write().await;
        *writer = 5;
        seen.extend(seen![lock.try_read().is_err(), lock.try_write().is_err()]);
        let reader = writer.downgrade();
        seen.extend(seen![*reader, lock.try_read().is_ok(), lock.try_write().is_err()]);
        drop(reader);
        seen.extend(seen![lock.try_write().is_ok(), lock.into_inner()]);
        seen
    }

    async fn permits_are_counted() {
        let semaphore = Arc::new(Semaphore::new(3));
        let mut two = semaphore.acquire_many(2).await.unwrap();
        let mut seen = seen![semaphore.available_permits(), semaphore.try_acquire_many(2).map(drop), two.num_permits()];
        let one = two.split(1).unwrap();
        two.forget();
        drop(one);
        seen.extend(seen![semaphore.available_permits()]);
        semaphore.add_permits(2);
        seen.extend(seen![semaphore.available_permits(), semaphore.forget_permits(3), semaphore.available_permits()]);
        let mut owned = Arc::clone(&semaphore).acquire_many_owned(1).await.unwrap();
        semaphore.add_permits(1);
        owned.merge(Arc::clone(&semaphore).try_acquire_owned().unwrap());
        seen.extend(seen![owned.num_permits(), semaphore.available_permits()]);
        drop(owned);
        seen.extend(seen![semaphore.available_permits()]);
        seen
    }

    async fn a_closed_semaphore_refuses() {
        let semaphore = Semaphore::new(1);
        let held = semaphore.acquire().await.unwrap();
        semaphore.close();
        drop(held);
        seen![
            semaphore.is_closed(), semaphore.acquire().await.map(drop), semaphore.try_acquire().map(drop),
            semaphore.available_permits(),
        ]
    }

    async fn one_notification_is_kept_and_one_for_all_is_not() {
        let notify = Notify::new();
        notify.notify_one();
        notify.notify_one();
        notify.notified().await;
        let mut late = pin!(notify.notified());
        let mut seen = seen![late.as_mut().enable()];
        notify.notify_waiters();
        late.await;
        let mut later = pin!(notify.notified());
        seen.extend(seen![later.as_mut().enable()]);
        seen
    }

    async fn a_dropped_notification_goes_on() {
        let notify = Notify::new();
        let (mut one, mut other) = (Box::pin(notify.notified()), Box::pin(notify.notified()));
        let mut seen = seen![one.as_mut().enable(), other.as_mut().enable()];
        notify.notify_one();
        drop(one);
        other.await;
        let mut none = pin!(notify.notified());
        seen.extend(seen![none.as_mut().enable()]);
        seen
    }

    async fn a_notification_for_all_reaches_who_was_created() {
        let notify = Notify::new();
        let (one, other) = (notify.notified(), notify.notified());
        notify.notify_waiters();
        one.await;
        other.await;
        seen!["both"]
    }

    async fn a_watched_value_is_seen_after_its_end() {
        let (sender, mut receiver) = watch::channel(0);
        let mut seen = seen![receiver.has_changed().is_ok_and(|it| !it), sender.send(1).is_ok()];
        seen.extend(seen![receiver.has_changed().is_ok_and(|it| it), *receiver.borrow(), *receiver.borrow_and_update()]);
        seen.extend(seen![receiver.has_changed().is_ok_and(|it| it), sender.send_if_modified(|_| false)]);
        seen.extend(seen![receiver.has_changed().is_ok_and(|it| it), sender.send_replace(7), sender.receiver_count()]);
        drop(sender);
        seen.extend(seen![receiver.changed().await.is_ok(), *receiver.borrow(), receiver.changed().await.is_err()]);
        seen.extend(seen![receiver.has_changed().is_err(), receiver.wait_for(|it| *it == 7).await.is_ok()]);
        seen.extend(seen![receiver.wait_for(|it| *it == 8).await.is_err()]);
        seen
    }

    async fn a_watch_without_receivers_is_closed() {
        let (sender, receiver) = watch::channel(0);
        drop(receiver);
        sender.closed().await;
        let mut seen = seen![sender.is_closed(), sender.send(1).is_err(), *sender.borrow()];
        let receiver = sender.subscribe();
        seen.extend(seen![sender.send(2).is_ok(), *receiver.borrow()]);
        seen
    }

    async fn a_slow_receiver_of_a_broadcast_lags() {
        let (sender, mut receiver) = broadcast::channel(3);
        let mut other = sender.subscribe();
        let mut seen = seen![sender.receiver_count(), receiver.try_recv(), sender.len()];
        for value in 0..6 {
            seen.extend(seen![sender.send(value), sender.len(), receiver.len()]);
        }
        seen.extend(seen![receiver.recv().await, receiver.len(), receiver.recv().await, receiver.try_recv()]);
        let mut late = receiver.resubscribe();
        seen.extend(seen![late.try_recv(), other.try_recv(), other.len(), other.recv().await, sender.len()]);
        drop(other);
        seen.extend(seen![sender.len(), sender.is_empty(), receiver.recv().await, receiver.recv().await, sender.len()]);
        let clone = sender.clone();
        seen.extend(seen![clone.same_channel(&sender), clone.send(9), receiver.is_closed()]);
        drop((clone, sender));
        seen.extend(seen![receiver.is_closed(), receiver.recv().await, receiver.recv().await, receiver.try_recv()]);
        seen.extend(seen![late.recv().await, late.recv().await, late.is_empty()]);
        seen
    }

    async fn a_broadcast_without_receivers_gives_the_value_back() {
        let (sender, receiver) = broadcast::channel(1);
        sender.send(1).unwrap();
        drop(receiver);
        sender.closed().await;
        let mut seen = seen![sender.send(2), sender.receiver_count(), sender.len()];
        let mut receiver = sender.subscribe();
        seen.extend(seen![sender.send(3), receiver.recv().await, receiver.try_recv()]);
        seen
    }

    async fn a_broadcast_value_is_dropped_once_all_have_seen_it() {
        let counted = Arc::new(());
        let (sender, mut one) = broadcast::channel(4);
        let (mut other, gone) = (sender.subscribe(), sender.subscribe());
        sender.send(Arc::clone(&counted)).unwrap();
        let mut seen = seen![Arc::strong_count(&counted)];
        drop(one.recv().await);
        drop(gone);
        seen.extend(seen![Arc::strong_count(&counted)]);
        drop(other.recv().await);
        seen.extend(seen![Arc::strong_count(&counted)]);
        seen
    }
}

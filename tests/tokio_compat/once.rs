//! Barriers, values that are set once, guards of parts, weak senders, and what a task knows of itself: the same code on
//! tokio's types, on ours outside a controlled execution, and on ours inside one.

#![expect(clippy::unwrap_used, reason = "scenarios read better with it, and a panic shows its line")]

use crate::driver::{every_schedule, on_tokio};

/// The names a scenario uses, as tokio's.
mod on_theirs {
    pub(super) use std::{future::pending, sync::Arc};
    pub(super) use tokio::{
        join, pin, select, spawn as begin,
        sync::{
            Barrier, MappedMutexGuard, Mutex, MutexGuard, OnceCell, OwnedMutexGuard, OwnedRwLockReadGuard,
            OwnedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, SetOnce, broadcast, mpsc, oneshot, watch,
        },
        task::{self, JoinSet},
        task_local, time, try_join,
    };
}

/// The names a scenario uses, as ours.
mod on_ours {
    pub(super) use delay::{
        join, pin, select, spawn as begin,
        sync::{
            Barrier, MappedMutexGuard, Mutex, MutexGuard, OnceCell, OwnedMutexGuard, OwnedRwLockReadGuard,
            OwnedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, SetOnce, broadcast, mpsc, oneshot, watch,
        },
        task::{self, JoinSet},
        task_local, time, try_join,
    };
    pub(super) use std::{future::pending, sync::Arc};
}

parity! {
    async fn a_barrier_has_one_leader_each_time() {
        let barrier = Arc::new(Barrier::new(2));
        let other = Arc::clone(&barrier);
        let waits = task::spawn(async move { [other.wait().await.is_leader(), other.wait().await.is_leader()] });
        let own = [barrier.wait().await.is_leader(), barrier.wait().await.is_leader()];
        let theirs = waits.await.unwrap();
        let leaders = own.into_iter().zip(theirs).map(|(own, theirs)| u8::from(own) + u8::from(theirs));
        seen![leaders.collect::<Vec<_>>(), Barrier::new(0).wait().await.is_leader(), Barrier::new(1).wait().await]
    }

    async fn who_gives_up_at_a_barrier_has_arrived() {
        let barrier = Barrier::new(2);
        let mut gives_up = Box::pin(barrier.wait());
        let is_pending = futures::poll!(&mut gives_up).is_pending();
        drop(gives_up);
        seen![is_pending, barrier.wait().await.is_leader()]
    }

    async fn a_cell_is_set_once() {
        let cell = OnceCell::new();
        let mut seen = seen![cell.get(), cell.initialized(), cell.set(1), cell.set(2), cell.get(), cell.initialized()];
        seen.extend(seen![cell.get_or_init(|| async { 3 }).await, cell, cell.clone() == cell]);
        seen.extend(seen![cell.set(2).unwrap_err().is_already_init_err(), OnceCell::from(4).into_inner()]);
        let mut cell = OnceCell::new_with(Some(5));
        *cell.get_mut().unwrap() += 1;
        seen.extend(seen![cell.take(), cell.get(), cell.set(7), OnceCell::<u8>::default().into_inner(), cell.into_inner()]);
        seen
    }

    async fn a_cell_whose_computation_fails_is_computed_again() {
        let cell = OnceCell::new();
        let failed = cell.get_or_try_init(|| async { Err::<u8, _>("no") }).await.copied();
        let mut given_up = Box::pin(cell.get_or_init(pending));
        let mut seen = seen![failed, futures::poll!(&mut given_up).is_pending()];
        drop(given_up);
        seen.extend(seen![cell.get(), cell.get_or_try_init(|| async { Ok::<_, ()>(1) }).await, cell.get()]);
        seen
    }

    async fn who_sets_a_cell_that_is_computed_is_told() {
        let cell = Arc::new(OnceCell::new());
        let (go, gone) = oneshot::channel();
        let (begun, has_begun) = oneshot::channel();
        let other = Arc::clone(&cell);
        let computes = task::spawn(async move {
            *other
                .get_or_init(|| async {
                    begun.send(()).unwrap();
                    gone.await.unwrap()
                })
                .await
        });
        has_begun.await.unwrap();
        let mut seen = seen![cell.set(1), cell.set(1).unwrap_err().is_initializing_err(), cell.get()];
        go.send(2).unwrap();
        seen.extend(seen![cell.get_or_init(|| async { 3 }).await, computes.await.unwrap(), cell.set(4)]);
        seen
    }

    async fn a_value_that_is_set_once_is_waited_for() {
        let once = Arc::new(SetOnce::new());
        let other = Arc::clone(&once);
        let waits = task::spawn(async move { *other.wait().await });
        let mut seen = seen![once.get(), once.initialized(), once.set(1), once.set(2).unwrap_err().0, waits.await.unwrap()];
        seen.extend(seen![once.wait().await, once, SetOnce::from(1) == (*once).clone(), once.initialized()]);
        seen.extend(seen![SetOnce::new_with(Some(3)).into_inner(), SetOnce::<u8>::default().into_inner()]);
        seen
    }

    async fn a_guard_of_a_part_holds_the_lock() {
        let mutex = Arc::new(Mutex::new((1, [2, 3])));
        let mut part = MutexGuard::map(mutex.lock().await, |pair| &mut pair.1);
        part[0] = 4;
        let mut seen = seen![part, mutex.try_lock().is_err()];
        let mut one = MappedMutexGuard::try_map(part, |part| part.first_mut()).unwrap();
        *one += 1;
        drop(one);
        let guard = MutexGuard::try_map(mutex.lock().await, |_| None::<&mut u8>).unwrap_err();
        seen.extend(seen![guard.1, mutex.try_lock().is_err()]);
        drop(guard);
        let owned = OwnedMutexGuard::map(Arc::clone(&mutex).lock_owned().await, |pair| &mut pair.0);
        seen.extend(seen![*owned, mutex.try_lock().is_err()]);
        drop(owned);
        seen.extend(seen![mutex.try_lock().is_ok()]);
        seen
    }

    async fn readers_and_writers_of_parts() {
        let lock = Arc::new(RwLock::new(vec![1, 2]));
        let mut written = RwLockWriteGuard::map(lock.write().await, |all| &mut all[0]);
        *written = 5;
        let mut seen = seen![lock.try_read().is_err()];
        drop(written);
        let read = RwLockReadGuard::try_map(lock.read().await, |all| all.get(1)).unwrap();
        seen.extend(seen![*read, lock.try_read().is_ok(), lock.try_write().is_err()]);
        drop(read);
        let read = RwLockWriteGuard::downgrade_map(lock.write().await, |all| &all[0]);
        seen.extend(seen![*read, lock.try_read().is_ok(), lock.try_write().is_err()]);
        drop(read);
        let writer = RwLockWriteGuard::try_downgrade_map(lock.write().await, |all| all.get(9)).unwrap_err();
        seen.extend(seen![*writer, lock.try_read().is_err()]);
        drop(RwLockWriteGuard::into_mapped(writer));
        let writer = Arc::clone(&lock).write_owned().await;
        let read = OwnedRwLockWriteGuard::try_downgrade_map(writer, |all| all.first()).unwrap();
        let part = OwnedRwLockReadGuard::map(Arc::clone(&lock).read_owned().await, |all| &all[1]);
        seen.extend(seen![*read, *part, lock.try_write().is_err()]);
        drop((read, part));
        seen.extend(seen![lock.try_write().is_ok()]);
        seen
    }

    async fn a_weak_sender_does_not_keep_a_broadcast_open() {
        let (sender, mut receiver) = broadcast::channel(2);
        let weak = sender.downgrade();
        let mut seen = seen![sender.strong_count(), sender.weak_count(), receiver.sender_weak_count()];
        let again = weak.upgrade().unwrap();
        seen.extend(seen![again.send(1), weak.strong_count(), receiver.sender_strong_count()]);
        drop((again, sender));
        seen.extend(seen![weak.upgrade().is_none(), weak.clone().weak_count(), receiver.recv().await, receiver.recv().await]);
        seen
    }

    async fn a_watch_whose_sender_is_gone_is_closed() {
        let (sender, receiver) = watch::channel(0);
        let before = receiver.is_closed();
        drop(sender);
        seen![before, receiver.is_closed(), *watch::Sender::<u8>::default().borrow()]
    }

    async fn code_that_blocks_is_a_task() {
        let mut set = JoinSet::new();
        set.spawn_blocking(|| 1);
        let (id, result) = set.join_next_with_id().await.unwrap().unwrap();
        let mut seen = seen![result, set.len()];
        let other = set.spawn(async { 2 }).id();
        seen.extend(seen![id == other, set.join_next_with_id().await.unwrap().unwrap() == (other, 2)]);
        seen.extend(seen![set.try_join_next_with_id().is_none(), task::spawn_blocking(|| 3).await.unwrap()]);
        seen
    }

    async fn a_task_knows_itself() {
        let task = task::spawn(async { (task::id(), task::try_id() == Some(task::id())) });
        let (id, abort) = (task.id(), task.abort_handle());
        let (known, twice) = task.await.unwrap();
        let cancelled = task::spawn(pending::<()>());
        cancelled.abort();
        let of = cancelled.id();
        seen![id == known, twice, abort.id() == id, cancelled.await.unwrap_err().id() == of]
    }

    async fn what_needs_no_control_works_inside() {
        task_local! { static NUMBER: u8; }
        let other = begin(NUMBER.scope(1, async {
            task::yield_now().await;
            NUMBER.get()
        }));
        let own = NUMBER.scope(2, async {
            task::coop::consume_budget().await;
            task::coop::unconstrained(task::yield_now()).await;
            NUMBER.with(|number| *number)
        });
        pin!(own);
        let (sender, mut receiver) = mpsc::channel::<u8>(1);
        let joined = join!(own, async { other.await.unwrap() });
        let failed = try_join!(async { Ok::<_, u8>(1) }, async { Err::<u8, _>(2) });
        let selected = select! {
            Some(it) = receiver.recv() => it,
            () = time::sleep(time::Duration::from_millis(1)) => 9,
        };
        drop(sender);
        seen![joined, failed, selected, NUMBER.try_get().is_err()]
    }
}

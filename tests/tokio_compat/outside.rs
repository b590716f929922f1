//! Panics, the end of a runtime, fairness and missed ticks: on tokio's types and on ours outside a controlled execution.
//! Inside one the first is a violation, and the others have no meaning.

#![expect(clippy::unwrap_used, reason = "scenarios read better with it, and a panic shows its line")]

use crate::driver::{every_schedule, explore, on_tokio};
use delay_core::{verdict::Violation, world::Granularity};

/// The names a scenario uses, as tokio's.
mod on_theirs {
    pub(super) use std::{future::pending, sync::Arc};
    pub(super) use tokio::{
        sync::{Mutex, mpsc, oneshot},
        task::{self, JoinSet},
        time::{self, Duration, MissedTickBehavior, advance, pause},
    };
}

/// The names a scenario uses, as ours.
mod on_ours {
    pub(super) use delay::{
        sync::{Mutex, mpsc, oneshot},
        task::{self, JoinSet},
        time::{self, Duration, MissedTickBehavior, advance, pause},
    };
    pub(super) use std::{future::pending, sync::Arc};
}

outside! {
    async fn a_panic_in_a_task_is_its_error() {
        let error = task::spawn(async { panic!("for a reason") }).await.map(|()| 0).unwrap_err();
        let mut seen = seen![error.is_panic(), error.is_cancelled(), error.to_string().ends_with("panicked with message \"for a reason\"")];
        seen.extend(seen![error.into_panic().downcast_ref::<&str>()]);
        let error = task::spawn_blocking(|| panic!("in a thread")).await.map(|()| 0).unwrap_err();
        seen.extend(seen![std::io::Error::from(error).to_string(), task::spawn(pending::<()>()).is_finished()]);
        let cancelled = task::spawn(pending::<()>());
        cancelled.abort();
        let error = cancelled.await.unwrap_err();
        seen.extend(seen![format!("{error:?}").starts_with("JoinError::Cancelled"), error.try_into_panic().is_err()]);
        seen
    }

    async fn a_panic_in_a_set_goes_on_where_it_is_joined() {
        let mut set = JoinSet::new();
        set.spawn(async { panic!("in a set") });
        let joined = task::spawn(set.join_all()).await.map(|results: Vec<()>| results.len());
        seen![joined.unwrap_err().into_panic().downcast_ref::<&str>()]
    }

    async fn a_panic_does_not_poison_a_lock() {
        let mutex = Arc::new(Mutex::new(1));
        let held = Arc::clone(&mutex);
        let holder = task::spawn(async move {
            let _guard = held.lock().await;
            panic!("with the lock");
        });
        seen![holder.await.map(|()| 0).is_err(), *mutex.lock().await]
    }

    async fn a_runtime_that_ends_drops_its_tasks() {
        let (sender, mut receiver) = mpsc::channel::<u8>(1);
        let (started, has_started) = oneshot::channel();
        let ended = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let entered = runtime.enter();
            let task = task::spawn(async move {
                started.send(()).unwrap();
                pending::<()>().await;
                drop(sender);
            });
            drop(entered);
            runtime.block_on(has_started).unwrap();
            drop(runtime);
            let other = tokio::runtime::Builder::new_current_thread().build().unwrap();
            other.block_on(task).unwrap_err().is_cancelled()
        });
        seen![receiver.recv().await, ended.join().unwrap()]
    }

    async fn who_yields_lets_others_go_first() {
        let order = Arc::new(Mutex::new(Vec::new()));
        let tasks = [1, 2, 3].map(|n| {
            let order = Arc::clone(&order);
            task::spawn(async move {
                for round in 0..3 {
                    order.lock().await.push((round, n));
                    task::yield_now().await;
                }
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
        seen![*order.lock().await]
    }

    async fn who_always_finds_something_lets_others_go_first() {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for n in 0..1000 {
            sender.send(n).unwrap();
        }
        let other = task::spawn(async {});
        let mut received = 0;
        while !other.is_finished() {
            receiver.recv().await.unwrap();
            received += 1;
        }
        seen![received]
    }

    async fn missed_ticks() {
        pause();
        let mut seen = Vec::new();
        for behavior in [MissedTickBehavior::Burst, MissedTickBehavior::Delay, MissedTickBehavior::Skip] {
            let start = time::Instant::now();
            let mut interval = time::interval(Duration::from_millis(10));
            interval.set_missed_tick_behavior(behavior);
            interval.tick().await;
            advance(Duration::from_millis(35)).await;
            for _ in 0..4 {
                let due = interval.tick().await;
                seen.extend(seen![behavior, due - start, start.elapsed()]);
            }
        }
        seen
    }

    async fn timers_fire_in_order() {
        pause();
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for seconds in [3, 1, 2] {
            let sender = sender.clone();
            task::spawn(async move {
                time::sleep(Duration::from_secs(seconds)).await;
                sender.send(seconds).unwrap();
            });
        }
        let late = time::timeout(Duration::from_millis(2500), pending::<()>()).await.is_err();
        seen![late, receiver.recv().await, receiver.recv().await, receiver.try_recv()]
    }
}

#[test]
fn a_panic_in_a_task_is_a_violation() {
    let (_, violations) = explore(Granularity::Op, || async {
        delay::task::spawn(async { panic!("for a reason") }).await.map(|()| 0).is_err()
    });
    assert!(violations.iter().all(|violation| matches!(violation, Violation::Panic { .. })), "{violations:?}");
    assert!(!violations.is_empty());
}

#[test]
fn ticks_are_not_missed_on_virtual_time() {
    let ticks = |behavior: on_ours::MissedTickBehavior| {
        every_schedule(move || async move {
            let mut interval = delay::time::interval(delay::time::Duration::from_millis(10));
            interval.set_missed_tick_behavior(behavior);
            interval.tick().await;
            delay::time::sleep(delay::time::Duration::from_millis(35)).await;
            let (one, other) = (interval.tick().await, interval.tick().await);
            other - one
        })
    };
    let behaviors = [on_ours::MissedTickBehavior::Burst, on_ours::MissedTickBehavior::Delay];
    let [burst, delay] = behaviors.map(ticks);
    assert_eq!(burst, delay);
}

#[test]
fn the_clock_cannot_be_put_forward_in_a_controlled_execution() {
    let (_, violations) =
        explore(Granularity::Op, || async { delay::time::advance(delay::time::Duration::ZERO).await });
    assert!(format!("{violations:?}").contains("timers fire whenever the search says"), "{violations:?}");
}

#[test]
fn code_that_blocks_in_place_is_part_of_its_step() {
    let body = || async { delay::task::block_in_place(|| 1) };
    assert_eq!(every_schedule(body).into_keys().collect::<Vec<_>>(), [1]);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    assert_eq!(runtime.block_on(body()), 1);
}

#[test]
fn budgets_do_not_run_out_in_a_controlled_execution() {
    let outcomes = every_schedule(|| async {
        let (sender, mut receiver) = delay::sync::mpsc::unbounded_channel();
        for n in 0..300 {
            sender.send(n).unwrap();
            receiver.recv().await.unwrap();
        }
        delay::task::coop::has_budget_remaining()
    });
    assert_eq!(outcomes.into_keys().collect::<Vec<_>>(), [true]);
}

#[test]
fn a_time_of_the_real_clock_is_refused_in_a_controlled_execution() {
    let (_, violations) = explore(Granularity::Op, || async {
        delay::time::sleep_until(std::time::Instant::now().into()).await;
    });
    assert!(
        format!("{violations:?}").contains("a real instant is used inside a controlled execution"),
        "{violations:?}"
    );
}

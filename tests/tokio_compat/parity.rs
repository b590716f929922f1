//! The same code on tokio's types, on ours outside a controlled execution, and on ours inside one: the same results.
//!
//! Each scenario's result does not depend on the schedule, so under control every schedule must give it.

#![expect(clippy::unwrap_used, reason = "scenarios read better with it, and a panic shows its line")]

use crate::driver::{every_schedule, on_tokio};

/// The names a scenario uses, as tokio's.
mod on_theirs {
    pub(super) use tokio::{
        sync::{mpsc, oneshot},
        task::{self, JoinSet},
        time::{self, Duration},
    };
}

/// The names a scenario uses, as ours.
mod on_ours {
    pub(super) use delay::{
        sync::{mpsc, oneshot},
        task::{self, JoinSet},
        time::{self, Duration},
    };
}

/// Writes an async fn twice, over tokio and over us, and compares what it returns: the same in every schedule.
macro_rules! parity {
    ($($(#[$attribute:meta])* async fn $name:ident() $body:block)*) => {$(
        $(#[$attribute])*
        #[test]
        fn $name() {
            twice!($body);
            let expected = on_tokio(theirs::run());
            assert!(!expected.is_empty());
            assert_eq!(on_tokio(ours::run()), expected, "outside a controlled execution");
            let outcomes = every_schedule(ours::run);
            assert_eq!(outcomes.into_keys().collect::<Vec<_>>(), [expected], "inside a controlled execution");
        }
    )*};
}

/// As `parity!`, for what the schedule decides: what tokio comes to is among what is explored, and merging equal states
/// loses nothing.
macro_rules! among {
    ($(@$outcomes:literal async fn $name:ident() $body:block)*) => {$(
        #[test]
        fn $name() {
            twice!($body);
            let expected = on_tokio(theirs::run());
            assert_eq!(on_tokio(ours::run()), expected, "outside a controlled execution");
            let outcomes: std::collections::BTreeSet<_> = every_schedule(ours::run).into_keys().collect();
            assert!(outcomes.contains(&expected), "{expected:?} is not among {outcomes:?}");
            assert_eq!(outcomes.len(), $outcomes, "{outcomes:?}");
            assert_eq!(crate::driver::outcomes_by_states(ours::run), outcomes, "by states");
        }
    )*};
}

/// As `parity!`, for what is a violation in a controlled execution, or needs a real clock.
macro_rules! outside {
    ($(async fn $name:ident() $body:block)*) => {$(
        #[test]
        fn $name() {
            twice!($body);
            let expected = on_tokio(theirs::run());
            assert!(!expected.is_empty());
            assert_eq!(on_tokio(ours::run()), expected);
        }
    )*};
}

/// The two versions of a scenario.
macro_rules! twice {
    ($body:block) => {
        mod theirs {
            use super::on_theirs::*;
            pub(super) async fn run() -> Vec<String> $body
        }
        mod ours {
            use super::on_ours::*;
            pub(super) async fn run() -> Vec<String> $body
        }
    };
}

/// What a scenario saw.
macro_rules! seen {
    ($($value:expr),* $(,)?) => { vec![$(format!("{:?}", $value)),*] };
}

parity! {
    async fn a_channel_ends_when_its_senders_are_gone() {
        let (sender, mut receiver) = mpsc::channel(2);
        let other = sender.clone();
        task::spawn(async move {
            sender.send(1).await.unwrap();
            drop(sender);
            other.send(2).await.unwrap();
        });
        seen![receiver.recv().await, receiver.recv().await, receiver.recv().await, receiver.recv().await]
    }

    async fn a_send_to_a_dropped_receiver_gives_the_value_back() {
        let (sender, receiver) = mpsc::channel(1);
        let (unbounded, other) = mpsc::unbounded_channel();
        drop((receiver, other));
        seen![
            sender.is_closed(), sender.send(1).await.map_err(|error| error.0), sender.try_send(2),
            sender.reserve().await.map(drop), sender.try_reserve().map(drop), sender.send(3).await.unwrap_err().to_string(),
            unbounded.is_closed(), unbounded.send(4).map_err(|error| error.0),
        ]
    }

    async fn a_blocked_send_fails_when_the_receiver_goes() {
        let (sender, receiver) = mpsc::channel(1);
        sender.send(1).await.unwrap();
        let blocked = task::spawn(async move { sender.send(2).await.map_err(|error| error.0) });
        task::yield_now().await;
        drop(receiver);
        seen![blocked.await.unwrap()]
    }

    async fn try_ops_say_why_not() {
        let (sender, mut receiver) = mpsc::channel(1);
        let mut seen = seen![receiver.try_recv(), receiver.try_recv().unwrap_err().to_string()];
        seen.extend(seen![sender.try_send(1), sender.try_send(2), sender.try_send(2).unwrap_err().to_string()]);
        seen.extend(seen![receiver.try_recv(), receiver.try_recv()]);
        drop(sender);
        seen.extend(seen![receiver.try_recv(), receiver.try_recv().unwrap_err().to_string()]);
        seen
    }

    async fn a_closed_receiver_still_gets_what_was_sent() {
        let (sender, mut receiver) = mpsc::channel(4);
        sender.send(1).await.unwrap();
        sender.send(2).await.unwrap();
        let mut seen = seen![receiver.is_closed()];
        receiver.close();
        seen.extend(seen![receiver.is_closed(), sender.is_closed(), sender.try_send(3), receiver.len()]);
        seen.extend(seen![receiver.recv().await, receiver.try_recv(), receiver.try_recv(), receiver.recv().await]);
        seen
    }

    async fn a_permit_keeps_a_closed_channel_open() {
        let (sender, mut receiver) = mpsc::channel(2);
        let permit = sender.reserve().await.unwrap();
        receiver.close();
        let mut seen = seen![receiver.try_recv(), receiver.is_empty()];
        permit.send(7);
        seen.extend(seen![receiver.recv().await, receiver.recv().await, receiver.try_recv()]);
        seen
    }

    async fn permits_hold_room() {
        let (sender, mut receiver) = mpsc::channel(2);
        let mut seen = seen![sender.capacity(), sender.max_capacity(), receiver.max_capacity()];
        let one = sender.reserve().await.unwrap();
        let two = sender.try_reserve().unwrap();
        seen.extend(seen![sender.capacity(), receiver.capacity(), sender.try_reserve().map(drop), sender.try_send(0)]);
        drop(one);
        seen.extend(seen![sender.capacity(), sender.try_send(1)]);
        two.send(2);
        seen.extend(seen![receiver.recv().await, receiver.recv().await, sender.capacity()]);
        seen
    }

    async fn an_owned_permit_gives_the_sender_back() {
        let (sender, mut receiver) = mpsc::channel(1);
        let sender = sender.reserve_owned().await.unwrap().send(1);
        let mut seen = Vec::new();
        let sender = match sender.try_reserve_owned() {
            Err(error) => { seen.push(error.to_string()); error.into_inner() }
            Ok(_) => unreachable!("it is full"),
        };
        seen.extend(seen![receiver.recv().await]);
        let sender = sender.try_reserve_owned().unwrap().release();
        let permit = sender.clone().reserve_owned().await.unwrap();
        drop(sender);
        seen.extend(seen![receiver.try_recv()]);
        drop(permit);
        seen.extend(seen![receiver.try_recv()]);
        seen
    }

    async fn a_waiting_reserve_gets_the_room_a_permit_gives_back() {
        let (sender, mut receiver) = mpsc::channel::<u8>(1);
        let permit = sender.reserve().await.unwrap();
        let other = sender.clone();
        let waiting = task::spawn(async move { other.reserve().await.map(|permit| permit.send(9)).is_ok() });
        task::yield_now().await;
        drop(permit);
        seen![receiver.recv().await, waiting.await.unwrap()]
    }

    async fn weak_senders_do_not_keep_a_channel_open() {
        let (sender, mut receiver) = mpsc::channel(1);
        let weak = sender.downgrade();
        let mut seen = seen![sender.strong_count(), sender.weak_count(), weak.strong_count(), weak.weak_count()];
        let again = weak.upgrade().unwrap();
        seen.extend(seen![again.same_channel(&sender), sender.strong_count(), receiver.sender_strong_count()]);
        again.send(1).await.unwrap();
        drop((again, sender));
        seen.extend(seen![weak.upgrade().is_none(), receiver.is_closed(), receiver.recv().await, receiver.recv().await]);
        drop(weak.clone());
        seen.extend(seen![receiver.sender_weak_count()]);
        seen
    }

    async fn weak_unbounded_senders_do_not_keep_a_channel_open() {
        let (sender, mut receiver) = mpsc::unbounded_channel::<u8>();
        let weak = sender.downgrade();
        let again = weak.upgrade().unwrap();
        let mut seen = seen![again.same_channel(&sender), sender.strong_count(), weak.weak_count()];
        drop((again, sender));
        seen.extend(seen![weak.upgrade().is_none(), receiver.try_recv(), receiver.recv().await]);
        seen
    }

    async fn an_unbounded_channel_keeps_order() {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for message in 0..4 {
            sender.send(message).unwrap();
        }
        let mut seen = seen![receiver.len(), receiver.is_empty(), receiver.try_recv(), receiver.recv().await];
        receiver.close();
        seen.extend(seen![sender.send(9).map_err(|error| error.0), receiver.recv().await, receiver.recv().await]);
        seen.extend(seen![receiver.recv().await, receiver.is_closed()]);
        seen
    }

    async fn recv_many_takes_what_is_there() {
        let (sender, mut receiver) = mpsc::channel(8);
        for message in 0..5 {
            sender.send(message).await.unwrap();
        }
        let mut buffer = vec![100];
        let mut seen = seen![receiver.recv_many(&mut buffer, 0).await, receiver.recv_many(&mut buffer, 3).await];
        seen.extend(seen![buffer]);
        drop(sender);
        seen.extend(seen![receiver.recv_many(&mut buffer, 9).await, receiver.recv_many(&mut buffer, 9).await]);
        seen.extend(seen![buffer]);
        seen
    }

    async fn closed_waits_for_the_receiver_to_go() {
        let (bounded, receiver) = mpsc::channel::<u8>(1);
        let (unbounded, mut other) = mpsc::unbounded_channel::<u8>();
        let waits = task::spawn(async move {
            bounded.closed().await;
            unbounded.closed().await;
            (bounded.is_closed(), unbounded.is_closed())
        });
        task::yield_now().await;
        drop(receiver);
        other.close();
        seen![waits.await.unwrap()]
    }

    async fn a_oneshot_carries_one_value() {
        let (sender, mut receiver) = oneshot::channel();
        let mut seen = seen![receiver.try_recv(), receiver.try_recv().unwrap_err().to_string(), receiver.is_empty()];
        seen.extend(seen![sender.is_closed(), sender.send(1), receiver.is_empty(), receiver.is_terminated()]);
        seen.extend(seen![(&mut receiver).await, receiver.is_terminated(), receiver.try_recv()]);
        seen
    }

    async fn a_oneshot_whose_sender_is_gone() {
        let (sender, receiver) = oneshot::channel::<u8>();
        let (other, mut tried) = oneshot::channel::<u8>();
        task::spawn(async move { drop(sender) });
        drop(other);
        seen![receiver.await, tried.try_recv(), tried.try_recv(), tried.is_terminated()]
    }

    async fn a_oneshot_whose_receiver_is_gone() {
        let (mut sender, receiver) = oneshot::channel();
        let waiting = task::spawn(async move {
            sender.closed().await;
            (sender.is_closed(), sender.send(5))
        });
        task::yield_now().await;
        drop(receiver);
        seen![waiting.await.unwrap()]
    }

    async fn a_closed_oneshot_still_gives_what_was_sent() {
        let (sender, mut receiver) = oneshot::channel();
        let (late, mut closed) = oneshot::channel();
        sender.send(1).unwrap();
        receiver.close();
        closed.close();
        seen![receiver.try_recv(), late.is_closed(), late.send(2), closed.try_recv(), closed.is_terminated()]
    }

    async fn a_closed_oneshot_is_an_error_when_awaited() {
        let (_sender, mut receiver) = oneshot::channel::<u8>();
        receiver.close();
        let error = receiver.await.unwrap_err();
        seen![error, error.to_string()]
    }

    async fn an_aborted_task_is_cancelled() {
        let task = task::spawn(std::future::pending::<()>());
        let (abort, other) = (task.abort_handle(), task::spawn(async { 3 }));
        abort.abort();
        let error = task.await.unwrap_err();
        seen![error.is_cancelled(), error.is_panic(), abort.is_finished(), other.await.map_err(|error| error.is_panic())]
    }

    async fn a_finished_task_cannot_be_aborted() {
        let task = task::spawn(async { 4 });
        let abort = task.abort_handle();
        let joined = task.await.unwrap();
        let mut seen = seen![joined, abort.is_finished()];
        abort.abort();
        seen.extend(seen![abort.is_finished()]);
        seen
    }

    async fn an_aborted_task_drops_what_it_holds() {
        let (sender, mut receiver) = mpsc::channel::<u8>(1);
        let task = task::spawn(async move {
            std::future::pending::<()>().await;
            drop(sender);
        });
        task::yield_now().await;
        task.abort();
        seen![receiver.recv().await, task.await.unwrap_err().is_cancelled()]
    }

    async fn a_dropped_handle_detaches() {
        let (sender, receiver) = oneshot::channel();
        drop(task::spawn(async move {
            task::yield_now().await;
            sender.send(1)
        }));
        seen![receiver.await]
    }

    async fn a_join_set_joins_all() {
        let mut set = JoinSet::new();
        let mut seen = seen![set.join_next().await.map(Result::unwrap), set.is_empty(), set.try_join_next().is_none()];
        for task in 0..3 {
            set.spawn(async move { task });
        }
        seen.extend(seen![set.len()]);
        let mut results = Vec::new();
        while let Some(joined) = set.join_next().await {
            results.push(joined.unwrap());
        }
        results.sort_unstable();
        seen.extend(seen![results, set.len()]);
        seen
    }

    async fn a_join_set_aborts() {
        let mut set = JoinSet::new();
        for _ in 0..2 {
            set.spawn(std::future::pending::<()>());
        }
        set.abort_all();
        let mut seen = seen![set.join_next().await.unwrap().unwrap_err().is_cancelled()];
        set.shutdown().await;
        seen.extend(seen![set.is_empty()]);
        seen
    }

    async fn a_dropped_join_set_aborts_and_a_detached_one_does_not() {
        let (sender, mut receiver) = mpsc::channel(2);
        let (mut kept, mut dropped) = (JoinSet::new(), JoinSet::new());
        let hold = sender.clone();
        dropped.spawn(async move {
            std::future::pending::<()>().await;
            drop(hold);
        });
        kept.spawn(async move { sender.send(1).await });
        kept.detach_all();
        let len = kept.len();
        drop((kept, dropped));
        seen![len, receiver.recv().await, receiver.recv().await]
    }

    async fn try_join_next_takes_what_has_ended() {
        let (sender, mut receiver) = mpsc::channel(2);
        let mut set: JoinSet<u8> = [1, 2]
            .into_iter()
            .map(|task| {
                let sender = sender.clone();
                async move {
                    sender.send(()).await.unwrap();
                    task
                }
            })
            .collect();
        // A task that has sent has nothing left to wait for.
        receiver.recv().await.unwrap();
        receiver.recv().await.unwrap();
        let mut results = vec![set.try_join_next().unwrap().unwrap(), set.try_join_next().unwrap().unwrap()];
        results.sort_unstable();
        let mut seen = seen![results, set.try_join_next().is_none(), set.len()];
        let all = [3, 4].into_iter().map(|task| async move { task }).collect::<JoinSet<u8>>().join_all().await;
        seen.extend(seen![all.len()]);
        seen
    }

    async fn a_timeout_of_what_never_comes() {
        let (sender, mut receiver) = mpsc::channel::<u8>(1);
        let late = time::timeout(Duration::from_millis(2), receiver.recv()).await.unwrap_err();
        let seen = seen![late, late.to_string(), time::timeout(Duration::from_millis(1), std::future::ready(3)).await];
        drop(sender);
        seen
    }

    async fn a_send_that_is_out_of_time_gives_the_value_back() {
        let (sender, receiver) = mpsc::channel(1);
        let mut seen = seen![sender.send_timeout(1, Duration::from_mins(10)).await.is_ok() || sender.try_send(1).is_ok()];
        seen.extend(seen![sender.send_timeout(2, Duration::from_millis(2)).await]);
        drop(receiver);
        let closed = sender.send_timeout(3, Duration::from_mins(10)).await.unwrap_err().into_inner();
        seen.extend(seen![closed]);
        seen
    }

    async fn sleeps_end() {
        let start = time::Instant::now();
        time::sleep(Duration::from_millis(3)).await;
        let mut sleep = std::pin::pin!(time::sleep(Duration::from_mins(10)));
        let mut seen = seen![sleep.is_elapsed(), start.elapsed() >= Duration::from_millis(3)];
        sleep.as_mut().reset(time::Instant::now() + Duration::from_millis(2));
        sleep.as_mut().await;
        seen.extend(seen![sleep.is_elapsed(), sleep.deadline() <= time::Instant::now()]);
        time::sleep_until(start).await;
        seen.extend(seen![start + Duration::from_secs(1) - start, start - Duration::from_mins(1) < start]);
        seen.extend(seen![start.duration_since(start + Duration::from_secs(1))]);
        seen
    }

    async fn an_interval_ticks() {
        let start = time::Instant::now();
        let mut interval = time::interval(Duration::from_millis(2));
        let (first, second) = (interval.tick().await, interval.tick().await);
        let mut seen = seen![first >= start, second - first >= Duration::from_millis(2), interval.period()];
        seen.extend(seen![interval.missed_tick_behavior()]);
        interval.reset();
        let third = interval.tick().await;
        interval.reset_immediately();
        seen.extend(seen![third > second, interval.tick().await >= third]);
        seen
    }
}

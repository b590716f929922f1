//! Combinators over controlled futures: `select!` and `join!` of tokio and futures, and what stores futures to poll
//! them later. In every schedule no message is lost or doubled, and nothing hangs.

use crate::driver::{every_schedule, explore};
use delay::{
    sync::{mpsc, oneshot},
    task,
    time::{self, Duration},
};
use delay_core::world::Granularity;
use futures::{FutureExt, StreamExt, future::join_all, stream::FuturesUnordered};
use std::{collections::BTreeSet, pin::pin};

/// Two producers of two messages each, on channels of their own.
fn producers() -> (mpsc::Receiver<u8>, mpsc::UnboundedReceiver<u8>) {
    let (bounded, one) = mpsc::channel(1);
    let (unbounded, two) = mpsc::unbounded_channel();
    task::spawn(async move {
        for message in [1, 2] {
            // The receiver may have seen enough.
            let _ = bounded.send(message).await;
        }
    });
    task::spawn(async move {
        for message in [11, 12] {
            task::yield_now().await;
            let _ = unbounded.send(message);
        }
    });
    (one, two)
}

/// Each channel's messages must have come once, in order.
fn check_merge(seen: &[u8]) {
    let of = |low| seen.iter().copied().filter(|message| (*message > 10) == low).collect::<Vec<_>>();
    assert_eq!((of(false), of(true)), (vec![1, 2], vec![11, 12]), "{seen:?}");
}

const MERGES: usize = 6;

/// Both branches wait at one place of the program: nothing but their order tells them apart.
#[test]
fn two_waits_of_one_place_are_told_apart() {
    async fn next(receiver: &mut mpsc::UnboundedReceiver<u8>) -> Option<u8> {
        receiver.recv().await
    }
    let outcomes = every_schedule(|| async {
        let (one, mut ones) = mpsc::unbounded_channel();
        let (two, mut twos) = mpsc::unbounded_channel();
        for (sender, number) in [(one, 1), (two, 2)] {
            task::spawn(async move {
                task::yield_now().await;
                let _ = sender.send(number);
            });
        }
        delay::select! {
            number = next(&mut ones) => number,
            number = next(&mut twos) => number,
        }
    });
    assert_eq!(outcomes.into_keys().collect::<Vec<_>>(), [Some(1), Some(2)]);
}

/// Branches that are ready by themselves: the first is taken, each time.
#[test]
fn among_branches_that_wait_for_nothing_the_first_is_taken() {
    let outcomes = every_schedule(|| async {
        let (sender, mut receiver) = mpsc::unbounded_channel::<u8>();
        task::spawn(async move {
            task::yield_now().await;
            drop(sender);
        });
        delay::select! {
            _ = receiver.recv() => 0,
            () = async {} => 1,
            () = async {} => 2,
        }
    });
    assert_eq!(outcomes.into_keys().collect::<Vec<_>>(), [1]);
}

#[test]
fn a_tokio_select_loop_loses_nothing() {
    let outcomes = every_schedule(|| async {
        let (mut one, mut two) = producers();
        let mut seen = Vec::new();
        loop {
            tokio::select! {
                Some(message) = one.recv() => seen.push(message),
                Some(message) = two.recv() => seen.push(message),
                else => break,
            }
        }
        check_merge(&seen);
        seen
    });
    assert_eq!(outcomes.len(), MERGES);
}

#[test]
fn a_biased_select_loop_sees_every_merge_too() {
    let outcomes = every_schedule(|| async {
        let (mut one, mut two) = producers();
        let mut seen = Vec::new();
        loop {
            tokio::select! {
                biased;
                Some(message) = one.recv() => seen.push(message),
                Some(message) = two.recv() => seen.push(message),
                else => break,
            }
        }
        check_merge(&seen);
        seen
    });
    assert_eq!(outcomes.len(), MERGES);
}

#[test]
fn granularity_send_sees_the_same_merges() {
    for granularity in [Granularity::Op, Granularity::Send] {
        let (outcomes, violations) = explore(granularity, || async {
            let (mut one, mut two) = producers();
            let mut seen = Vec::new();
            while seen.len() < 4 {
                tokio::select! {
                    Some(message) = one.recv() => seen.push(message),
                    Some(message) = two.recv() => seen.push(message),
                }
            }
            check_merge(&seen);
            seen
        });
        assert_eq!((outcomes.len(), violations.len()), (MERGES, 0));
    }
}

#[test]
fn the_branch_that_awaits_keeps_the_others_messages() {
    // While a branch's body awaits, a receive that was kept can be granted: it must not be lost, nor spin.
    let outcomes = every_schedule(|| async {
        let (mut one, mut two) = producers();
        let mut seen = Vec::new();
        let mut kept = pin!(two.recv());
        loop {
            tokio::select! {
                message = &mut kept => {
                    seen.push(message.expect("two are sent"));
                    break;
                }
                Some(message) = one.recv() => {
                    seen.push(message);
                    task::yield_now().await;
                }
            }
        }
        seen
    });
    let seen: Vec<_> = outcomes.keys().cloned().collect();
    assert_eq!(seen, [vec![1, 2, 11], vec![1, 11], vec![11]]);
}

#[test]
fn a_dropped_receive_gives_its_message_back() {
    let outcomes = every_schedule(|| async {
        let (sender, mut receiver) = mpsc::channel(4);
        let (stop, mut stopped) = oneshot::channel();
        task::spawn(async move {
            for message in 0..2 {
                sender.send(message).await.expect("the receiver is there");
            }
        });
        task::spawn(async move {
            task::yield_now().await;
            stop.send(())
        });
        let mut seen = Vec::new();
        loop {
            tokio::select! {
                _ = &mut stopped => break,
                message = receiver.recv() => match message {
                    Some(message) => seen.push(message),
                    None => break,
                },
            }
        }
        let before = seen.len();
        while let Some(message) = receiver.recv().await {
            seen.push(message);
        }
        assert_eq!(seen, [0, 1], "{before} before the stop");
        before
    });
    assert_eq!(outcomes.keys().copied().collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn a_receive_that_was_granted_and_not_polled_gives_its_message_back() {
    let outcomes = every_schedule(|| async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let (go, gone) = oneshot::channel();
        task::spawn(async move {
            task::yield_now().await;
            sender.send(7).expect("the receiver is there");
            task::yield_now().await;
            go.send(()).expect("somebody waits");
        });
        {
            let mut kept = pin!(receiver.recv());
            assert!(futures::poll!(&mut kept).is_pending());
            // The message may be granted here; nobody polls for it.
            gone.await.expect("it is sent");
        }
        receiver.recv().await
    });
    assert_eq!(outcomes.keys().copied().collect::<Vec<_>>(), [Some(7)]);
}

#[test]
fn select_of_futures_loses_nothing() {
    let outcomes = every_schedule(|| async {
        let (mut one, mut two) = producers();
        let mut ones = futures::stream::poll_fn(|cx| one.poll_recv(cx)).fuse();
        let mut twos = futures::stream::poll_fn(|cx| two.poll_recv(cx)).fuse();
        let mut seen = Vec::new();
        loop {
            futures::select! {
                message = ones.select_next_some() => seen.push(message),
                message = twos.select_next_some() => seen.push(message),
                complete => break,
            }
        }
        check_merge(&seen);
        seen
    });
    assert_eq!(outcomes.len(), MERGES);
}

#[test]
fn both_joins_and_both_try_joins_wait_for_all() {
    let outcomes = every_schedule(|| async {
        let (mut one, mut two) = producers();
        let (a, b) = tokio::join!(one.recv(), two.recv());
        let (c, d) = futures::join!(one.recv(), two.recv());
        let some = |message: Option<u8>| async move { message.ok_or("the end") };
        assert_eq!(tokio::try_join!(some(a), some(b)), Ok((1, 11)));
        assert_eq!(futures::try_join!(some(c), some(d)), Ok((2, 12)));
        assert_eq!(tokio::try_join!(async { one.recv().await.ok_or("the end") }, some(b)), Err("the end"));
    });
    assert_eq!(outcomes.len(), 1);
}

#[test]
fn futures_unordered_polls_what_was_granted() {
    let outcomes = every_schedule(|| async {
        let mut receivers = Vec::new();
        for message in 0..3 {
            let (sender, receiver) = oneshot::channel();
            receivers.push(receiver);
            task::spawn(async move {
                task::yield_now().await;
                sender.send(message).expect("somebody waits");
            });
        }
        let answers: FuturesUnordered<_> = receivers.into_iter().collect();
        answers.map(|answer| answer.expect("it is sent")).collect::<Vec<u8>>().await
    });
    assert_eq!(outcomes.len(), 6, "every order of three answers");
}

#[test]
fn join_all_of_many_waits_for_all() {
    // Above 30 futures join_all is a FuturesUnordered inside.
    for count in [3, 40] {
        let value = crate::driver::first_schedule(move || async move {
            let tasks = (0..count).map(|i| {
                task::spawn(async move {
                    task::yield_now().await;
                    i
                })
            });
            join_all(tasks).await.into_iter().map(|joined| joined.expect("none is aborted")).sum::<u32>()
        });
        assert_eq!(value, count * (count - 1) / 2);
    }
}

#[test]
fn now_or_never_does_not_hang() {
    // An awaited op is a scheduling point: polled once, it is never ready. What it had asked for is given up.
    let outcomes = every_schedule(|| async {
        let (sender, mut receiver) = mpsc::channel(1);
        sender.send(1).await.expect("the receiver is there");
        let first = receiver.recv().now_or_never();
        assert_eq!(first, None);
        (receiver.recv().await, sender.send(2).now_or_never().is_none(), receiver.try_recv().is_err())
    });
    assert_eq!(outcomes.into_keys().collect::<Vec<_>>(), [(Some(1), true, true)]);
}

#[test]
fn a_kept_timer_does_not_spin() {
    let outcomes = every_schedule(|| async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        task::spawn(async move {
            task::yield_now().await;
            // The time may be up already.
            let _ = sender.send(1);
        });
        let mut limit = pin!(time::sleep(Duration::from_secs(1)));
        let mut seen = Vec::new();
        loop {
            tokio::select! {
                () = &mut limit => break,
                Some(message) = receiver.recv() => {
                    seen.push(message);
                    task::yield_now().await;
                }
            }
        }
        seen
    });
    assert_eq!(outcomes.into_keys().collect::<BTreeSet<_>>(), BTreeSet::from([vec![], vec![1]]));
}

#[test]
fn a_stream_by_poll_recv_loses_nothing() {
    let outcomes = every_schedule(|| async {
        let (mut one, mut two) = producers();
        let ones = futures::stream::poll_fn(|cx| one.poll_recv(cx));
        let twos = futures::stream::poll_fn(|cx| two.poll_recv(cx));
        let seen: Vec<u8> = futures::stream::select(ones, twos).collect().await;
        check_merge(&seen);
        seen
    });
    assert_eq!(outcomes.len(), MERGES);
}

#[test]
fn a_branch_that_is_ready_by_itself_gives_the_message_back() {
    let outcomes = every_schedule(|| async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        task::spawn(async move {
            task::yield_now().await;
            sender.send(1).expect("the receiver waits");
        });
        let mut polls = 0;
        let second_poll = std::future::poll_fn(|_| {
            polls += 1;
            if polls == 2 { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        });
        let first = tokio::select! {
            biased;
            () = second_poll => None,
            message = receiver.recv() => message,
        };
        (first, receiver.recv().await)
    });
    assert_eq!(outcomes.into_keys().collect::<Vec<_>>(), [(None, Some(1))]);
}

/// A send that was begun and is kept, while another one to the same full channel is awaited.
async fn two_sends_of_one_task(give_up: bool) -> Option<u8> {
    let (sender, mut receiver) = mpsc::channel(1);
    sender.send(0).await.expect("the receiver is there");
    let mut kept = Box::pin(sender.send(1));
    assert!(futures::poll!(&mut kept).is_pending());
    assert_eq!(receiver.recv().await, Some(0));
    if give_up {
        drop(kept);
        sender.send(2).await.expect("the receiver is there");
    } else {
        sender.send(2).await.expect("the receiver is there");
        drop(kept);
    }
    receiver.recv().await
}

#[test]
fn a_kept_send_holds_the_room_it_was_granted() {
    // As in tokio, where it is known as futurelock.
    let (outcomes, violations) = explore(Granularity::Op, || two_sends_of_one_task(false));
    assert_eq!(outcomes.into_keys().collect::<Vec<_>>(), [Some(2)]);
    assert!(violations.iter().any(|violation| violation.kind() == "deadlock"));
    let outcomes = every_schedule(|| two_sends_of_one_task(true));
    assert_eq!(outcomes.into_keys().collect::<Vec<_>>(), [Some(2)]);
}

#[test]
fn a_kept_send_takes_effect_when_it_is_polled() {
    let outcomes = every_schedule(|| async {
        let (sender, mut receiver) = mpsc::channel(2);
        let mut kept = Box::pin(sender.send(1));
        assert!(futures::poll!(&mut kept).is_pending());
        task::yield_now().await;
        sender.send(2).await.expect("the receiver is there");
        let mut seen = vec![receiver.try_recv().ok()];
        kept.await.expect("the receiver is there");
        seen.push(receiver.recv().await);
        seen
    });
    assert_eq!(outcomes.into_keys().collect::<Vec<_>>(), [[Some(2), Some(1)]]);
}

#[test]
fn a_future_that_was_polled_can_move_to_another_task() {
    let outcomes = every_schedule(|| async {
        let (sender, receiver) = oneshot::channel();
        let mut first = task::spawn(async { 1 });
        let mut receiver = Box::pin(receiver);
        assert!(futures::poll!(&mut receiver).is_pending());
        assert!(futures::poll!(&mut first).is_pending());
        let second = task::spawn(async move { (first.await.expect("it is not aborted"), receiver.await.ok()) });
        task::yield_now().await;
        sender.send(2).expect("somebody waits");
        second.await.expect("it is not aborted")
    });
    assert_eq!(outcomes.into_keys().collect::<Vec<_>>(), [(1, Some(2))]);
}

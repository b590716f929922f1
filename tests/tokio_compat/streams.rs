//! tokio-stream's wrappers and timed streams on tokio, ours outside a controlled execution, and ours inside one.

#![expect(clippy::unwrap_used, reason = "scenarios read better with it, and a panic shows its line")]

use crate::driver::{every_schedule, on_tokio};

/// The names a scenario uses, as tokio-stream's.
mod on_theirs {
    pub(super) use tokio::{
        sync::{broadcast, mpsc, watch},
        task::{self, JoinSet},
        time::{self, Duration, pause},
    };
    pub(super) use tokio_stream::{
        Stream, StreamExt, StreamMap, iter, pending,
        wrappers::{
            BroadcastStream, IntervalStream, JoinSetStream, ReceiverStream, UnboundedReceiverStream, WatchStream,
        },
    };
}

/// The names a scenario uses, as ours.
mod on_ours {
    pub(super) use delay::{
        sync::{broadcast, mpsc, watch},
        task::{self, JoinSet},
        time::{self, Duration, pause},
        tokio_stream::{
            Stream, StreamExt, StreamMap, iter, pending,
            wrappers::{
                BroadcastStream, IntervalStream, JoinSetStream, ReceiverStream, UnboundedReceiverStream, WatchStream,
            },
        },
    };
}

parity! {
    async fn receivers_are_streams() {
        let (sender, receiver) = mpsc::channel(4);
        let (unbounded, other) = mpsc::unbounded_channel();
        task::spawn(async move {
            for n in 0..4 {
                sender.send(n).await.unwrap();
                unbounded.send(n + 10).unwrap();
            }
        });
        let mut both = ReceiverStream::new(receiver).chain(UnboundedReceiverStream::from(other));
        let first = both.next().await;
        seen![first, both.collect::<Vec<_>>().await]
    }

    async fn a_receiver_s_stream_says_what_may_come() {
        let (sender, receiver) = mpsc::channel(4);
        let mut stream = ReceiverStream::new(receiver);
        sender.send(1).await.unwrap();
        let mut seen = seen![stream.size_hint(), stream.as_ref().len()];
        let permit = sender.reserve().await.unwrap();
        stream.close();
        seen.extend(seen![stream.size_hint(), sender.try_send(2).is_err()]);
        permit.send(3);
        seen.extend(seen![stream.next().await, stream.as_mut().try_recv(), stream.size_hint(), stream.next().await]);
        let (sender, receiver) = mpsc::unbounded_channel();
        sender.send(4).unwrap();
        let mut stream = UnboundedReceiverStream::new(receiver);
        let before = stream.size_hint();
        drop(sender);
        seen.extend(seen![before, stream.size_hint(), stream.next().await, stream.into_inner().recv().await]);
        seen
    }

    async fn a_broadcast_s_stream_lags() {
        let (sender, receiver) = broadcast::channel(2);
        let mut stream = BroadcastStream::new(receiver);
        for n in 0..4 {
            sender.send(n).unwrap();
        }
        let mut seen = seen![stream.next().await, stream.next().await];
        drop(sender);
        seen.extend(seen![stream.next().await, stream.next().await, stream.next().await]);
        seen
    }

    async fn a_watch_s_stream_sees_the_last_value() {
        let (sender, receiver) = watch::channel(0);
        let (mut all, mut changes) = (WatchStream::new(receiver.clone()), WatchStream::from_changes(receiver));
        let mut seen = seen![all.next().await];
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        seen.extend(seen![all.next().await, changes.next().await]);
        sender.send(3).unwrap();
        drop(sender);
        seen.extend(seen![changes.next().await, changes.next().await, all.next().await, all.next().await]);
        seen
    }

    async fn an_interval_s_stream_ticks() {
        let start = time::Instant::now();
        let stream = IntervalStream::new(time::interval(Duration::from_millis(1)));
        let hint = stream.size_hint();
        let ticks: Vec<_> = stream.take(3).collect().await;
        seen![hint, ticks.len(), ticks.iter().all(|tick| *tick >= start), ticks.is_sorted()]
    }

    async fn the_tasks_of_a_set_are_a_stream() {
        let set: JoinSet<u8> = [1, 2, 3].into_iter().map(|n| async move { n }).collect();
        let mut results: Vec<_> = JoinSetStream::new(set).map(Result::unwrap).collect().await;
        results.sort_unstable();
        seen![results]
    }

    async fn the_methods_of_streams() {
        let numbers = || iter(1..=6);
        let mut seen = seen![numbers().map(|n| n * 2).filter(|n| *n > 4).collect::<Vec<_>>().await];
        seen.extend(seen![numbers().filter_map(|n| (n % 2 == 0).then_some(n)).fold(0, |sum, n| sum + n).await]);
        seen.extend(seen![numbers().skip(1).take(2).chain(numbers().skip_while(|n| *n < 5)).collect::<Vec<_>>().await]);
        seen.extend(seen![numbers().take_while(|n| *n < 3).merge(iter([9])).collect::<Vec<_>>().await]);
        seen.extend(seen![numbers().map_while(|n| (n < 3).then_some(n)).fuse().collect::<Vec<_>>().await]);
        seen.extend(seen![numbers().all(|n| n > 0).await, numbers().any(|n| n > 6).await]);
        let mut then = Box::pin(numbers().then(|n| async move { n + 1 }));
        seen.extend(seen![then.next().await, iter([Ok(1), Err(2)]).collect::<Result<Vec<_>, _>>().await]);
        let mut results = iter([Ok(1), Err(2)]);
        seen.extend(seen![results.try_next().await, results.try_next().await, results.try_next().await]);
        let mut peeked = numbers().peekable();
        seen.extend(seen![peeked.peek().await.copied(), peeked.next().await]);
        let mut map: StreamMap<_, _> = [("one", iter([1])), ("other", iter([2]))].into_iter().collect();
        let mut values = vec![map.next().await, map.next().await, map.next().await];
        values.sort_unstable();
        seen.extend(seen![values]);
        seen
    }

    async fn a_stream_that_times_out() {
        let mut late = Box::pin(pending::<u8>().timeout(Duration::from_millis(2)));
        let mut seen = seen![late.next().await, late.size_hint()];
        let mut repeats = Box::pin(pending::<u8>().timeout_repeating(time::interval(Duration::from_millis(2))));
        seen.extend(seen![repeats.next().await, repeats.next().await]);
        seen.extend(seen![iter([1, 2]).timeout(Duration::from_mins(10)).collect::<Result<Vec<_>, _>>().await]);
        seen
    }

    async fn streams_that_are_held_up() {
        let throttled = iter([1, 2]).throttle(Duration::from_millis(1)).collect::<Vec<_>>().await;
        let chunks = iter(1..=5).chunks_timeout(2, Duration::from_mins(10)).collect::<Vec<_>>().await;
        let (sender, receiver) = mpsc::channel(4);
        sender.send(1).await.unwrap();
        let mut late = Box::pin(ReceiverStream::new(receiver).chunks_timeout(2, Duration::from_millis(2)));
        let first = late.next().await;
        drop(sender);
        seen![throttled, chunks, first, late.next().await]
    }
}

// On tokio's paused clock, so that it is certain how long each takes.
outside! {
    async fn timed_streams_keep_their_times() {
        pause();
        let start = time::Instant::now();
        let (sender, receiver) = mpsc::channel(4);
        task::spawn(async move {
            for n in 1..=4 {
                time::sleep(Duration::from_secs(n)).await;
                sender.send(n).await.unwrap();
            }
        });
        let mut late = Box::pin(ReceiverStream::new(receiver).timeout(Duration::from_millis(2500)));
        let mut seen = Vec::new();
        while let Some(item) = late.next().await {
            seen.extend(seen![item, start.elapsed().as_secs()]);
        }
        let throttled: Vec<_> = iter(0..3).throttle(Duration::from_secs(1)).collect().await;
        seen.extend(seen![throttled, start.elapsed().as_secs()]);
        let ticks = IntervalStream::new(time::interval(Duration::from_secs(1)));
        let chunks: Vec<_> = ticks.map(|_| ()).take(5).chunks_timeout(3, Duration::from_millis(1500)).collect().await;
        seen.extend(seen![chunks, start.elapsed().as_secs()]);
        let every = time::interval(Duration::from_secs(2));
        let mut repeats = Box::pin(pending::<u8>().timeout_repeating(every));
        seen.extend(seen![repeats.next().await, repeats.next().await, start.elapsed().as_secs()]);
        seen
    }
}

//! Without the controlled side what only `delay` has still runs on tokio: the same source compiles, and does what it does outside tests.

use delay::{
    Faults, Payload, announce, checkpoint, checkpoint_with, choose,
    collections::HashMap,
    fair_choose, fair_flip, flip,
    inbox::Inbox,
    invariant::invariant,
    linearizability, monitor, net,
    node::Node,
    observe, receive, rng, storage, sync, task, time,
    tokio_stream::{
        StreamExt,
        wrappers::{JoinSetStream, ReceiverStream},
    },
    tokio_util::{sync::CancellationToken, task::TaskTracker, time::FutureExt},
};
use std::{
    future::pending,
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

#[tokio::test]
async fn channels_and_locks_take_a_payload() {
    let (sender, mut receiver) = sync::mpsc::channel_with(1, Payload::visible());
    sender.send(1).await.expect("there is room");
    let (unbounded, mut unbounded_receiver) = sync::mpsc::unbounded_channel_with(Payload::debug());
    unbounded.send(2).expect("it is there");
    let (one, shot) = sync::oneshot::channel_with(Payload::hash());
    one.send(3).expect("it is there");
    let (watched, watcher) = sync::watch::channel_with(0, Payload::opaque());
    watched.send(4).expect("it is there");
    let (cast, mut listener) = sync::broadcast::channel_with(1, Payload::visible().cloned());
    cast.send(5).expect("it is there");
    let mutex = sync::mutex_with(6, Payload::visible());
    let lock = sync::rwlock_with(7, Payload::default());
    let seen = [
        receiver.recv().await.expect("it was sent"),
        unbounded_receiver.recv().await.expect("it was sent"),
        shot.await.expect("it was sent"),
        *watcher.borrow(),
        listener.recv().await.expect("it was sent"),
        *mutex.lock().await,
        *lock.read().await,
    ];
    assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7]);
}

#[tokio::test]
async fn tasks_have_names() {
    let named = task::spawn_named("one", async { 1 });
    let built = task::Builder::new().name("two").spawn(async { 2 });
    let mut set = task::JoinSet::new();
    set.spawn_named("three", async { 3 });
    assert_eq!((named.await.ok(), built.await.ok(), set.join_all().await), (Some(1), Some(2), vec![3]));
    assert_eq!(task::spawn_identical(2, || async { 4 }).join_all().await, [4, 4]);
}

/// What is awaited together, cancelled, tracked, and streamed.
#[tokio::test(start_paused = true)]
async fn companions_are_there() {
    let token = CancellationToken::new();
    let tracker = TaskTracker::new();
    let (sender, receiver) = sync::mpsc::channel(1);
    let stop = token.clone();
    tracker.spawn(async move {
        let mut next = 0;
        while delay::select! { sent = sender.send(next) => sent.is_ok(), () = stop.cancelled() => false } {
            next += 1;
        }
    });
    let counted = tracker.token();
    assert!(TaskTracker::ptr_eq(counted.task_tracker(), &tracker));
    assert_eq!((tracker.len(), tracker.close()), (2, true));
    drop(counted);
    let seen: Vec<u8> = ReceiverStream::new(receiver).take(3).collect().await;
    token.cancel();
    tracker.wait().await;
    assert_eq!(seen, [0, 1, 2]);
    let set: task::JoinSet<u8> = [async { 7 }].into_iter().collect();
    let ended: Vec<u8> = JoinSetStream::new(set).filter_map(Result::ok).collect().await;
    let (late, blocking) =
        delay::join!(pending::<()>().timeout(time::Duration::from_secs(1)), task::spawn_blocking(|| 8),);
    assert_eq!((ended, late.is_err(), blocking.ok()), (vec![7], true, Some(8)));
}

#[tokio::test]
async fn choices_are_made_at_random() {
    let mut counts: HashMap<usize, u32> = HashMap::default();
    for _ in 0..200 {
        *counts.entry(choose(2).await).or_default() += 1;
        *counts.entry(2 + fair_choose(2).await).or_default() += 1;
        *counts.entry(4 + usize::from(flip().await)).or_default() += 1;
        *counts.entry(6 + usize::from(fair_flip().await)).or_default() += 1;
    }
    assert_eq!(counts.len(), 8, "each outcome came up: {counts:?}");
    let _: delay::DelayRng = rng();
}

/// Counts the tasks that were dropped.
struct Ending(Arc<AtomicUsize>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// What a node's tasks spawn is the node's, sets and trackers included: it ends with it, and opens the node's stores.
#[tokio::test]
async fn a_crash_ends_all_of_a_node_and_leaves_its_stores() {
    let ended = Arc::new(AtomicUsize::new(0));
    let (tell, mut told) = sync::mpsc::unbounded_channel();
    let count = Arc::clone(&ended);
    // Of the process, not of the node.
    let tracker = TaskTracker::new();
    let tracks = tracker.clone();
    let node = Node::start("node", move || {
        let (tell, tracks) = (tell.clone(), tracks.clone());
        let [own, second, third, fourth] = [(); 4].map(|()| Ending(Arc::clone(&count)));
        async move {
            let _own = own;
            let linger = move |ending: Ending| {
                let tell = tell.clone();
                async move {
                    let _ending = ending;
                    let starts = storage::Cell::<u32>::with_payload("starts", Payload::visible());
                    starts.write(starts.read().await.unwrap_or(0) + 1).await;
                    starts.sync().await;
                    tell.send(starts.read().await.expect("it was written")).expect("it listens");
                    pending::<()>().await;
                }
            };
            task::spawn(linger(second));
            let mut set = task::JoinSet::new();
            set.spawn(linger(third));
            set.detach_all();
            tracks.spawn(linger(fourth));
            pending::<()>().await;
        }
    });
    let mut seen = Vec::new();
    for life in 1..=2 {
        for _ in 0..3 {
            seen.push(told.recv().await.expect("all tell"));
        }
        node.crash().await;
        node.down().await;
        assert_eq!((ended.load(Ordering::Relaxed), node.is_up()), (4 * life, false));
        assert!(tracker.is_empty());
        node.restart().await;
    }
    assert_eq!(seen, [1, 2, 3, 4, 5, 6]);
    assert_eq!(storage::Cell::<u32>::open("starts").read().await, None, "what is outside the node has its own");
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Message {
    Request(u32),
    Noise,
}

#[tokio::test]
async fn messages_go_over_networks_and_inboxes() {
    let link = net::Link::to("server").when(|_, _, message| *message == Message::Noise).faults(Faults::NONE.drop(1));
    let net = net::Network::builder(net::Delivery::PerSender).payload(Payload::visible()).link(link).build();
    let (client, server) = (net.endpoint("client"), net.endpoint("server"));
    let to = server.address();
    for message in [Message::Noise, Message::Request(1)] {
        client.send(to, message).await.expect("it is bound");
    }
    let mut inbox = Inbox::new(server);
    let first = receive!(inbox, "serving", {
        net::Envelope { message: Message::Request(n), .. } => n,
        defer net::Envelope { message: Message::Noise, .. },
    });
    let (give, take) = sync::mpsc::channel(1);
    give.send(Message::Request(2)).await.expect("there is room");
    drop(give);
    let mut inbox = Inbox::new(take);
    let second = receive!(inbox, "serving", { Message::Request(n) => n, ignore Message::Noise, closed => 0 });
    let end = receive!(inbox, "serving", { Message::Request(n) => n, ignore Message::Noise, closed => 0 });
    assert_eq!((first, second, end), (1, 2, 0));
}

#[tokio::test]
#[should_panic(expected = "unhandled message: a task in state \"idle\" received Noise")]
async fn an_unhandled_message_is_a_panic() {
    let (give, take) = sync::mpsc::unbounded_channel();
    give.send(Message::Noise).expect("it is there");
    let mut inbox = Inbox::new(take);
    receive!(inbox, "idle", { Message::Request(_) => (), closed => () });
}

#[derive(Hash)]
struct Never;

impl monitor::Monitor for Never {
    type Event = Message;

    fn on(&mut self, _event: &Message) -> Result<(), String> {
        Err("told in production, where nobody asked for it".to_owned())
    }
}

/// What specifications say is for tests, and for who asks: `observed.rs`.
#[tokio::test]
async fn specifications_are_silent() {
    monitor::register(Never);
    announce(Message::Noise);
    invariant("never", |seen| Err(format!("{:?}", seen.get::<u8>("a"))));
    observe("a", 1_u8);
    checkpoint(&1);
    checkpoint_with(|hasher| hasher.write_u8(1));
    linearizability::invoke::<linearizability::Register<u8>>("ada", linearizability::RegisterOp::Read);
    linearizability::ret::<linearizability::Register<u8>>("ada", linearizability::Returned::Value(1));
    time::sleep(time::Duration::ZERO).await;
}

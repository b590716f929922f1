//! Random programs, executed live: with identical tasks they come to the same outcomes as with tasks of their own, and to the same
//! states whoever decides who moves.

use crate::{Spawned, checker, visited};
use delay::{
    Execution, Payload, checkpoint, flip,
    net::{Address, Delivery, Endpoint, Network},
    sync::{mpsc, oneshot},
    task,
};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

/// A fixed stream of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn op(&mut self) -> Op {
        match self.below(12) {
            0 | 1 => Op::Yield,
            2 => Op::Say(self.below(2) as u32),
            3 | 4 => Op::Ask,
            5 => Op::Flip,
            6 => Op::Sub,
            7 => Op::Wait,
            8 => Op::Try,
            9 => Op::Post,
            10 => Op::Either,
            _ => Op::Checkpoint,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Yield,
    Say(u32),
    Ask,
    Flip,
    /// A task of its own, which it joins.
    Sub,
    /// Sends to a channel that may be full, or tries to.
    Wait,
    Try,
    /// Sends over a network.
    Post,
    /// Waits for two things at once.
    Either,
    Checkpoint,
}

enum Message {
    Say(u32),
    Ask(oneshot::Sender<u32>),
}

#[derive(Clone, Copy, Debug)]
enum Parent {
    JoinsAll,
    /// Aborts the others.
    JoinsOne,
    /// They go on by themselves.
    Leaves,
}

#[derive(Clone, Debug)]
struct Program {
    count: usize,
    ops: Vec<Op>,
    parent: Parent,
    delivery: Delivery,
    /// What messages over the network are, the engine sees.
    is_visible: bool,
    forgets: bool,
}

/// What a task can reach.
#[derive(Clone)]
struct Reach {
    server: mpsc::UnboundedSender<Message>,
    narrow: mpsc::Sender<u32>,
    guest: Arc<Endpoint<u32>>,
    post: Address,
}

async fn run(ops: Vec<Op>, reach: Reach) -> Vec<u32> {
    let mut seen = Vec::new();
    for op in ops {
        match op {
            Op::Yield => task::yield_now().await,
            Op::Say(word) => drop(reach.server.send(Message::Say(word))),
            Op::Ask => {
                let (reply, answer) = oneshot::channel_with(Payload::visible());
                let _ = reach.server.send(Message::Ask(reply));
                seen.push(answer.await.unwrap_or(99));
            }
            Op::Flip => seen.push(u32::from(flip().await)),
            Op::Sub => {
                let server = reach.server.clone();
                let sub = task::spawn(async move {
                    task::yield_now().await;
                    let _ = server.send(Message::Say(5));
                });
                task::yield_now().await;
                seen.push(u32::from(sub.await.is_ok()));
            }
            Op::Wait => seen.push(u32::from(reach.narrow.send(1).await.is_ok())),
            Op::Try => seen.push(u32::from(reach.narrow.try_send(2).is_ok())),
            Op::Post => drop(reach.guest.send(reach.post, 3).await),
            Op::Either => {
                let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::visible());
                task::spawn(async move {
                    task::yield_now().await;
                    let _ = sender.send(4);
                });
                seen.push(delay::select! {
                    said = receiver.recv() => said.unwrap_or(98),
                    () = task::yield_now() => 97,
                });
            }
            Op::Checkpoint => checkpoint(&seen),
        }
    }
    seen
}

async fn serve(mut messages: mpsc::UnboundedReceiver<Message>, forgets: bool, log: oneshot::Sender<Vec<u32>>) {
    let mut heard = Vec::new();
    while let Some(message) = messages.recv().await {
        if forgets {
            heard.truncate(3);
        }
        match message {
            Message::Say(word) => heard.push(word),
            Message::Ask(reply) => {
                heard.push(10);
                task::yield_now().await;
                let _ = reply.send(heard.len() as u32);
            }
        }
    }
    let _ = log.send(heard);
}

type Outcomes = Mutex<BTreeSet<(Vec<Vec<u32>>, Vec<u32>, Vec<u32>)>>;

async fn start(program: Program, spawned: Spawned, outcomes: &Outcomes) {
    let Program { count, ops, parent, delivery, is_visible, forgets } = program;
    let payload = if is_visible { Payload::visible() } else { Payload::opaque() };
    let net = Network::with_payload(delivery, payload);
    let (guest, mut post) = (Arc::new(net.endpoint("guest")), net.endpoint("post"));
    let (server, messages) = mpsc::unbounded_channel();
    let (narrow, mut narrows) = mpsc::channel_with(1, Payload::visible());
    let (log, logged) = oneshot::channel_with(Payload::visible());
    task::spawn(serve(messages, forgets, log));
    let reach = Reach { server, narrow, guest, post: post.address() };
    let mut tasks = spawned.spawn(count, move || run(ops, reach));
    let taken = task::spawn(async move {
        let mut taken = Vec::new();
        while let Some(word) = narrows.recv().await {
            taken.push(word);
        }
        taken
    });
    task::spawn(async move {
        for _ in 0..2 {
            post.recv().await;
        }
    });
    let mut results = Vec::new();
    match parent {
        Parent::JoinsAll => results = tasks.join_all().await,
        Parent::JoinsOne => {
            results.extend(tasks.join_next().await.and_then(Result::ok));
            drop(tasks);
        }
        Parent::Leaves => tasks.detach_all(),
    }
    results.sort();
    let (taken, heard) = (taken.await.unwrap_or_default(), logged.await.unwrap_or_default());
    outcomes.lock().expect("nobody panics in here").insert((results, taken, heard));
}

fn program(random: &mut Random) -> Program {
    let count = 2 + random.below(2) as usize;
    // A task whose first op is seen by others begins in a step of its own, which makes many states.
    let mut ops = vec![if random.below(3) == 0 { Op::Flip } else { Op::Yield }];
    let more = if count == 2 { 1 + random.below(3) } else { 1 + random.below(2) };
    ops.extend((0..more).map(|_| random.op()));
    let parent = [Parent::JoinsAll, Parent::JoinsOne, Parent::Leaves][random.below(3) as usize];
    let delivery = [Delivery::Fifo, Delivery::PerSender, Delivery::Unordered][random.below(3) as usize];
    let (is_visible, forgets) = (random.below(2) == 0, random.below(2) == 0);
    Program { count, ops, parent, delivery, is_visible, forgets }
}

#[test]
fn random_programs_come_to_the_same_outcomes() {
    const STATES_MAX: u64 = 4_000;
    let mut random = Random(11);
    let (mut compared, mut exchanged, mut fewer) = (0, 0, 0);
    for _ in 0..150 {
        let program = program(&mut random);
        let search = |spawned, explorer, execution| {
            let outcomes = Outcomes::default();
            let checker = checker().explorer(explorer).execution(execution).max_states(STATES_MAX);
            let report = checker.check(|| start(program.clone(), spawned, &outcomes));
            assert!(!report.is_failure(), "{program:?}: {:?}", report.stop);
            (report, outcomes.into_inner().expect("nobody panics in here"))
        };
        let (each, outcomes) = search(Spawned::Each, "rtc", Execution::Live);
        if !each.is_complete() {
            continue;
        }
        let (identical, same) = search(Spawned::Identical, "rtc", Execution::Live);
        assert_eq!(same, outcomes, "{program:?}");
        let (learned, _) = search(Spawned::Identical, "rr", Execution::Learned);
        assert_eq!(visited(&learned), visited(&identical), "{program:?}");
        compared += 1;
        let is_exchanged = identical.coverage.totals.copies.as_ref().is_some_and(|copies| copies.apart.is_none());
        exchanged += u32::from(is_exchanged);
        fewer += u32::from(visited(&identical).0 < visited(&each).0);
        assert!(is_exchanged || visited(&identical) == visited(&each), "{program:?}");
    }
    assert!(
        compared > 100 && exchanged > 80 && fewer > 80,
        "{compared} compared, {exchanged} exchanged, {fewer} fewer"
    );
}

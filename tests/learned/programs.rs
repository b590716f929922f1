//! Random programs over what learned execution knows: channels of each kind, tasks, joins, aborts, choices, monitors, timers, and messages that meet
//! faults. Other tests use them too.

use delay::{
    Cache, Faults, Granularity, Payload, Time, announce, checkpoint, choose, flip,
    monitor::{self, Monitor},
    net::{Delivery, Endpoint, Network},
    sync::{mpsc, oneshot},
    task, time,
};
use rand::Rng;
use std::{
    hash::{Hash, Hasher},
    pin::Pin,
    time::Duration,
};

/// A fixed stream of numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound) as usize
    }

    pub(crate) fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64)].clone()
    }
}

/// What a task does.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Yield,
    Send(usize),
    TrySend(usize),
    Post(usize),
    Recv,
    TryRecv,
    RecvOrTurn,
    Fetch,
    Reserve(usize),
    Forget(usize),
    Close,
    Ask(usize),
    Spawn(Vec<Op>),
    Join,
    Abort,
    Detach,
    IsOver,
    Choose,
    Say,
    Draw,
    Checkpoint,
    Sleep(u64),
    RecvInTime(u64),
    FetchInTime(u64),
}

fn op(random: &mut Random, tasks: usize, may_spawn: bool) -> Op {
    let to = random.below(tasks as u64);
    match random.below(if may_spawn { 24 } else { 20 }) {
        0 => Op::Yield,
        1 | 2 => Op::Send(to),
        3 => Op::TrySend(to),
        4 => Op::Post(to),
        5 | 6 => Op::Recv,
        7 => Op::TryRecv,
        8 | 9 => Op::RecvOrTurn,
        10 => Op::Fetch,
        11 => Op::Reserve(to),
        12 => Op::Forget(to),
        13 => Op::Close,
        14 => Op::Ask(to),
        15 => Op::Choose,
        16 => Op::Say,
        17 => Op::Draw,
        18 | 19 => Op::Checkpoint,
        20 => Op::Join,
        21 => random.of(&[Op::Abort, Op::Detach, Op::IsOver]),
        _ => {
            let length = random.below(2) + 1;
            Op::Spawn((0..length).map(|_| op(random, tasks, false)).collect())
        }
    }
}

/// A program, and how it is searched.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    tasks: Vec<Vec<Op>>,
    capacity: usize,
    delivery: Delivery,
    is_opaque: bool,
    pub(crate) granularity: Granularity,
    pub(crate) cache: Cache,
    pub(crate) explorer: &'static str,
    pub(crate) faults: Faults,
    pub(crate) time: Time,
}

pub(crate) fn program(random: &mut Random) -> Program {
    let tasks = random.below(2) + 2;
    let ops = |random: &mut Random| {
        let length = random.below(4) + 1;
        (0..length).map(|_| op(random, tasks, true)).collect()
    };
    let tasks: Vec<Vec<Op>> = (0..tasks).map(|_| ops(random)).collect();
    let asks = format!("{tasks:?}").contains("Ask");
    Program {
        tasks,
        capacity: random.below(2) + 1,
        delivery: random.of(&[Delivery::Fifo, Delivery::PerSender, Delivery::Unordered]),
        is_opaque: random.below(3) == 0 || asks,
        granularity: random.of(&[Granularity::Send, Granularity::Op]),
        cache: random.of(&[Cache::State, Cache::State, Cache::StateExplorer]),
        explorer: random.of(&["rtc", "rr", "prr", "ordered"]),
        faults: Faults::NONE,
        time: Time::Any,
    }
}

/// One in which time passes, and messages of the network meet faults.
pub(crate) fn hostile(random: &mut Random) -> Program {
    let mut program = program(random);
    let tasks = program.tasks.len() as u64;
    for ops in &mut program.tasks {
        for op in ops {
            let span = random.below(3) as u64 + 1;
            match random.below(10) {
                0 => *op = Op::Sleep(span),
                1 => *op = Op::RecvInTime(span),
                2 => *op = Op::FetchInTime(span),
                3 | 4 => *op = Op::Post(random.below(tasks)),
                5 => *op = Op::Fetch,
                _ => {}
            }
        }
    }
    // There is something that faults can happen to.
    program.tasks[0].insert(0, Op::Fetch);
    program.tasks[1].splice(..0, [Op::Post(0), Op::Post(0)]);
    program.tasks[1].truncate(4);
    program.time = random.of(&[Time::Any, Time::Ordered]);
    let can_overtake = u32::from(program.delivery != Delivery::Unordered);
    let faults = Faults::NONE.drop(random.below(2) as u32).reorder(random.below(2) as u32 * can_overtake);
    let late = random.below(6) as u32;
    program.faults = faults.duplicate(late / 5).delay(late / 4);
    program
}

/// What goes over a channel: a number, or a question that wants an answer.
#[derive(Debug)]
enum Letter {
    Number(u64),
    Question(oneshot::Sender<u64>),
}

/// Only where nobody asks: a question is told from others by its origin.
impl Hash for Letter {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Number(number) => number.hash(state),
            Self::Question(_) => panic!("questions are opaque"),
        }
    }
}

/// Remembers what was said last.
#[derive(Hash, Default)]
struct Said(u64);

impl Monitor for Said {
    type Event = u64;

    fn on(&mut self, said: &u64) -> Result<(), String> {
        self.0 = self.0 * 3 + said;
        Ok(())
    }
}

struct Ends {
    senders: Vec<Option<mpsc::Sender<Letter>>>,
    inbox: Option<mpsc::Receiver<Letter>>,
    endpoint: Option<Endpoint<u64>>,
    net: Network<u64>,
}

/// The tasks that a task has spawned and not joined.
#[derive(Default)]
pub(crate) struct Children(pub(crate) Vec<task::JoinHandle<()>>);

impl Children {
    /// Joins the last. What is heard of that.
    pub(crate) async fn join(&mut self) -> u64 {
        match self.0.pop() {
            Some(child) => u64::from(child.await.is_ok()),
            None => 9,
        }
    }

    /// Aborts the last. What is heard of that.
    pub(crate) fn abort(&self) -> u64 {
        if let Some(child) = self.0.last() {
            child.abort();
        }
        0
    }
}

/// A task's tasks.
fn boxed(ops: Vec<Op>, ends: Ends) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(run(ops, ends))
}

async fn run(ops: Vec<Op>, mut ends: Ends) {
    let mut seen = 1;
    let mut children = Children::default();
    for (at, op) in ops.into_iter().enumerate() {
        let heard = match op {
            Op::Yield => {
                task::yield_now().await;
                0
            }
            Op::Spawn(ops) => {
                let theirs = Ends { senders: ends.senders.clone(), inbox: None, endpoint: None, net: ends.net.clone() };
                children.0.push(task::spawn(boxed(ops, theirs)));
                0
            }
            Op::Join => children.join().await,
            Op::Abort => children.abort(),
            Op::Detach => {
                children.0.pop();
                0
            }
            Op::IsOver => children.0.last().map_or(9, |child| u64::from(child.is_finished())),
            Op::Choose => {
                let chosen = choose(2).await as u64;
                chosen + u64::from(flip().await)
            }
            Op::Say => {
                announce(seen % 4);
                0
            }
            Op::Draw => delay::rng().next_u64() % 2,
            Op::Checkpoint => {
                seen %= 3;
                // Handles to children and open ends are part of what a task is.
                let open: Vec<bool> = ends.senders.iter().map(Option::is_some).collect();
                checkpoint(&(at, seen, children.0.len(), open, ends.inbox.is_some()));
                0
            }
            op => ends.speak(op, seen).await.unwrap_or(9),
        };
        seen = seen * 4 + heard;
    }
}

/// What is heard in a letter; a question is answered.
fn hear(letter: Option<Letter>) -> u64 {
    match letter {
        Some(Letter::Number(number)) => number + 2,
        Some(Letter::Question(asker)) => u64::from(asker.send(7).is_ok()),
        None => 0,
    }
}

impl Ends {
    /// Sends or receives. None if that end was given up.
    async fn speak(&mut self, op: Op, seen: u64) -> Option<u64> {
        Some(match op {
            Op::Send(to) => u64::from(self.senders[to].as_ref()?.send(Letter::Number(seen)).await.is_ok()),
            Op::TrySend(to) => u64::from(self.senders[to].as_ref()?.try_send(Letter::Number(seen)).is_ok()),
            Op::Post(to) => {
                let address = self.net.address(format!("e{to}"));
                u64::from(self.endpoint.as_ref()?.send(address, seen).await.is_ok())
            }
            Op::Recv => hear(self.inbox.as_mut()?.recv().await),
            Op::TryRecv => hear(self.inbox.as_mut()?.try_recv().ok()),
            Op::RecvOrTurn => tokio::select! {
                letter = self.inbox.as_mut()?.recv() => hear(letter),
                () = task::yield_now() => 5,
            },
            Op::Fetch => self.endpoint.as_mut()?.recv().await.message,
            Op::Sleep(span) => {
                time::sleep(Duration::from_millis(span)).await;
                0
            }
            Op::RecvInTime(span) => {
                let letter = time::timeout(Duration::from_millis(span), self.inbox.as_mut()?.recv()).await;
                letter.map_or(8, hear)
            }
            Op::FetchInTime(span) => {
                let fetched = time::timeout(Duration::from_millis(span), self.endpoint.as_mut()?.recv()).await;
                fetched.map_or(8, |envelope| envelope.message)
            }
            Op::Reserve(to) => match self.senders[to].as_ref()?.reserve().await {
                Ok(permit) if seen.is_multiple_of(2) => {
                    permit.send(Letter::Number(seen));
                    1
                }
                Ok(_) => 1,
                Err(_) => 2,
            },
            Op::Forget(to) => {
                self.senders[to] = None;
                0
            }
            Op::Close => {
                self.inbox = None;
                0
            }
            Op::Ask(to) => {
                let (asker, answer) = oneshot::channel();
                let _ = self.senders[to].as_ref()?.send(Letter::Question(asker)).await;
                answer.await.unwrap_or(3)
            }
            op => unreachable!("{op:?} needs no end of a channel"),
        })
    }
}

/// What the test body does.
pub(crate) fn start(program: &Program) {
    monitor::register(Said::default());
    let net = Network::with_payload(program.delivery, Payload::visible().cloned());
    let payload = if program.is_opaque { Payload::opaque() } else { Payload::visible() };
    let (senders, inboxes): (Vec<_>, Vec<_>) =
        program.tasks.iter().map(|_| mpsc::channel_with(program.capacity, payload)).unzip();
    let senders: Vec<Option<_>> = senders.into_iter().map(Some).collect();
    let endpoints: Vec<_> = (0..program.tasks.len()).map(|me| net.endpoint(format!("e{me}"))).collect();
    for ((ops, inbox), endpoint) in program.tasks.iter().zip(inboxes).zip(endpoints) {
        let ends = Ends { senders: senders.clone(), inbox: Some(inbox), endpoint: Some(endpoint), net: net.clone() };
        task::spawn(run(ops.clone(), ends));
    }
}

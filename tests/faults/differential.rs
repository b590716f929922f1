//! Small random programs: what they can come to is the same with and without a state cache, in any granularity, under any
//! explorer. The uncached search in granularity `op` knows nothing of fingerprints, nor of what commutes, so it is the measure.

use crate::outcomes::{Announced, Outcomes, Said};
use delay::{
    Cache, Checker, Faults, Granularity, Payload, Time, announce, monitor,
    net::{Delivery, Network},
    node::{Mail, Node},
    storage::{Cell, Log},
    sync::Mutex,
    task, time,
};
use std::{collections::BTreeSet, sync::Arc, time::Duration};

#[derive(Clone, Copy, Debug)]
enum Op {
    Send(u32),
    Receive,
    ReceiveInTime,
    Poll,
    PollTwice,
    Sleep,
    Clock,
    Announce,
    Crash(usize),
    Yield,
    Lock,
    Write,
    Sync,
    Read,
    Append,
}

#[derive(Clone, Debug)]
struct Program {
    /// The ops of each task.
    tasks: Vec<Vec<Op>>,
    delivery: Delivery,
    mail: Mail,
    faults: Faults,
    time: Time,
    on_nodes: bool,
}

/// A generator of its own: what it draws must not change with the library.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn program(random: &mut Random) -> Program {
    let ops = [
        Op::Receive,
        Op::Receive,
        Op::ReceiveInTime,
        Op::Poll,
        Op::PollTwice,
        Op::Yield,
        Op::Sleep,
        Op::Clock,
        Op::Announce,
        Op::Lock,
        Op::Write,
        Op::Sync,
        Op::Read,
        Op::Append,
    ];
    let op = |random: &mut Random| match random.below(12) {
        0..4 => Op::Send(random.below(2) as u32),
        4 if random.below(3) == 0 => Op::Crash(random.below(2) as usize),
        _ => ops[random.below(ops.len() as u64) as usize],
    };
    let tasks = (0..2).map(|_| (0..2 + random.below(2)).map(|_| op(random)).collect()).collect();
    let none = Faults::NONE;
    let time = [Time::Any, Time::Ordered][random.below(2) as usize];
    // What runs on no node is taken furthest in a step.
    let on_nodes = random.below(3) == 0;
    let faults = match random.below(if on_nodes { 10 } else { 5 }) {
        0 => none,
        1 => none.reorder(1),
        2 => none.drop(1),
        3 => none.duplicate(1),
        4 => none.delay(1),
        5 => none.crash(1),
        6 => none.crash(1).restart(1),
        7 => none.partition(1),
        _ => none.drop(1).delay(1),
    };
    let delivery = [Delivery::Fifo, Delivery::PerSender, Delivery::Unordered][random.below(3) as usize];
    let mail = [Mail::Lost, Mail::Kept][random.below(2) as usize];
    Program { tasks, delivery, mail, faults, time, on_nodes }
}

/// What the tasks of a program share.
#[derive(Clone)]
struct Shared {
    net: Network<u32>,
    number: Arc<Mutex<u32>>,
    nodes: Arc<std::sync::Mutex<Vec<Node>>>,
    start: time::Instant,
    all: Outcomes,
}

async fn run(me: usize, ops: Vec<Op>, shared: Shared) {
    let Shared { net, number, nodes, start, all } = shared;
    let mut endpoint = net.endpoint(format!("t{me}"));
    let (cell, log) = (Cell::<u32>::open("cell"), Log::<u32>::open("log"));
    let mut seen: Vec<String> = Vec::new();
    for (at, op) in ops.into_iter().enumerate() {
        let value = (10 * me + at) as u32;
        match op {
            Op::Send(to) => endpoint.send(net.address(format!("t{to}")), value).await.expect("endpoints stay"),
            Op::Receive => seen.push(format!("{}", endpoint.recv().await.message)),
            Op::PollTwice => {
                let mut poll = || endpoint.try_recv().map(|envelope| envelope.message);
                seen.push(format!("{:?} {:?}", poll(), poll()));
            }
            Op::Sleep => time::sleep(Duration::from_millis(value.into())).await,
            Op::Clock => seen.push(format!("{:?}", start.elapsed())),
            Op::Announce => announce(Said(me, all.clone())),
            Op::Crash(other) => {
                let node = nodes.lock().unwrap().get(other).cloned();
                if let Some(node) = node {
                    node.crash().await;
                    node.restart().await;
                }
            }
            Op::ReceiveInTime => {
                let got = time::timeout(Duration::from_secs(1), endpoint.recv()).await;
                seen.push(format!("{:?}", got.ok().map(|envelope| envelope.message)));
            }
            Op::Poll => seen.push(format!("{:?}", endpoint.try_recv().map(|envelope| envelope.message))),
            Op::Yield => task::yield_now().await,
            Op::Lock => {
                let mut guard = number.lock().await;
                task::yield_now().await;
                seen.push(format!("lock {}", *guard));
                *guard = guard.wrapping_mul(3).wrapping_add(me as u32 + 1);
            }
            Op::Write => cell.write(value).await,
            Op::Sync => {
                cell.sync().await;
                log.sync().await;
            }
            Op::Read => seen.push(format!("{:?} {:?}", cell.read().await, log.read().await.records)),
            Op::Append => log.append(value).await,
        }
    }
    all.note(&(me, seen));
    // Its endpoint stays.
    std::future::pending::<()>().await;
}

/// With `somebody_looks`, what becomes of messages is decided when they are sent.
fn outcomes(program: &Program, checker: Checker, somebody_looks: bool) -> Option<BTreeSet<String>> {
    let all = Outcomes::default();
    let checker = checker.faults(program.faults).time(program.time).budget(Duration::from_secs(20)).max_steps(400);
    let report = checker.check(|| {
        let all = all.clone();
        async move {
            let net = Network::builder(program.delivery).payload(Payload::visible().cloned()).build();
            monitor::register(Announced::default());
            if somebody_looks {
                assert!(net.endpoint("onlooker").try_recv().is_none());
            }
            let number = Arc::new(Mutex::new(0));
            let shared = Shared { net, number, nodes: Arc::default(), start: time::Instant::now(), all };
            for (me, ops) in program.tasks.iter().enumerate() {
                let start = {
                    let (ops, shared) = (ops.clone(), shared.clone());
                    move || run(me, ops.clone(), shared.clone())
                };
                if !program.on_nodes {
                    task::spawn_named(format!("t{me}"), start());
                    continue;
                }
                let node = Node::builder(format!("t{me}")).mail(program.mail).start(start);
                if program.tasks.iter().flatten().any(|op| matches!(op, Op::Crash(_))) {
                    shared.nodes.lock().unwrap().push(node);
                }
            }
        }
    });
    assert!(!report.is_failure(), "{program:?}: {:?}", report.stop);
    assert!(!matches!(report.stop, delay::Stop::Nondeterministic(_)), "{program:?} {checker:?}: {:?}", report.stop);
    report.is_complete().then(|| all.set())
}

/// How many programs are drawn.
const NUMBER: u32 = 400;

#[test]
fn what_can_happen_does_not_depend_on_how_it_is_searched() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut compared, mut looked_at) = (0, 0);
    for number in 0..NUMBER {
        let program = program(&mut random);
        // The measure must fit, and the faults have something to happen to: mostly so.
        let measure = Checker::new().granularity(Granularity::Op).cache(Cache::Off);
        let Some(expected) = outcomes(&program, measure, false) else { continue };
        compared += 1;
        let coarsest = if program.delivery == Delivery::Fifo { Granularity::Send } else { Granularity::Macro };
        for granularity in [Granularity::Send, Granularity::Op, coarsest] {
            for explorer in ["rtc", "rr"] {
                let checker = Checker::new().granularity(granularity).explorer(explorer);
                let found = outcomes(&program, checker, false);
                let found = found.expect("a cached search is no longer than an uncached one");
                assert_eq!(found, expected, "program {number} with {granularity:?} and {explorer}: {program:?}");
            }
        }
        if let Some(found) = outcomes(&program, Checker::new(), true) {
            looked_at += 1;
            assert_eq!(found, expected, "program {number} when somebody looks: {program:?}");
        }
    }
    println!("{compared} programs compared, of which {looked_at} when somebody looks");
    assert!(looked_at * 2 >= NUMBER, "{looked_at} programs were small enough when somebody looks");
    assert!(compared * 4 >= NUMBER * 3, "{compared} programs were small enough and had something to happen to");
}

//! Small random programs: what they can come to is the same with and without a state cache, in any granularity, under any
//! explorer. The uncached search knows nothing of fingerprints, so it is the measure.

use crate::outcomes::Outcomes;
use delay::{
    Cache, Checker, Faults, Granularity, Payload,
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
    Poll,
    Yield,
    Lock,
    Write,
    Sync,
    Read,
    Append,
}

#[derive(Clone, Debug)]
struct Program {
    /// The ops of each task. All but the first run on nodes.
    tasks: Vec<Vec<Op>>,
    delivery: Delivery,
    mail: Mail,
    faults: Faults,
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
    let ops = [Op::Receive, Op::Receive, Op::Poll, Op::Yield, Op::Lock, Op::Write, Op::Sync, Op::Read, Op::Append];
    let op = |random: &mut Random| match random.below(4) {
        0 => Op::Send(random.below(2) as u32),
        _ => ops[random.below(ops.len() as u64) as usize],
    };
    let tasks = (0..2).map(|_| (0..2 + random.below(2)).map(|_| op(random)).collect()).collect();
    let none = Faults::NONE;
    let faults = match random.below(8) {
        0 | 1 => none,
        2 => none.drop(1),
        3 => none.duplicate(1),
        4 => none.delay(1),
        5 => none.crash(1),
        6 => none.crash(1).restart(1),
        _ => none.partition(1),
    };
    let delivery = [Delivery::Fifo, Delivery::PerSender, Delivery::Unordered][random.below(3) as usize];
    let mail = [Mail::Lost, Mail::Kept][random.below(2) as usize];
    Program { tasks, delivery, mail, faults }
}

async fn run(me: usize, ops: Vec<Op>, net: Network<u32>, shared: Arc<Mutex<u32>>, all: Outcomes) {
    let mut endpoint = net.endpoint(format!("t{me}"));
    let (cell, log) = (Cell::<u32>::open("cell"), Log::<u32>::open("log"));
    let mut seen: Vec<String> = Vec::new();
    for (at, op) in ops.into_iter().enumerate() {
        let value = (10 * me + at) as u32;
        match op {
            Op::Send(to) => endpoint.send(net.address(format!("t{to}")), value).await.expect("endpoints stay"),
            Op::Receive => {
                let got = time::timeout(Duration::from_secs(1), endpoint.recv()).await;
                seen.push(format!("{:?}", got.ok().map(|envelope| envelope.message)));
            }
            Op::Poll => seen.push(format!("{:?}", endpoint.try_recv().map(|envelope| envelope.message))),
            Op::Yield => task::yield_now().await,
            Op::Lock => {
                let mut guard = shared.lock().await;
                task::yield_now().await;
                seen.push(format!("lock {}", *guard));
                *guard = *guard * 3 + me as u32 + 1;
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

fn outcomes(program: &Program, checker: Checker) -> Option<BTreeSet<String>> {
    let all = Outcomes::default();
    let report = checker.faults(program.faults).budget(Duration::from_secs(20)).check(|| {
        let all = all.clone();
        async move {
            let net = Network::builder(program.delivery).payload(Payload::visible().cloned()).build();
            let shared = Arc::new(Mutex::new(0));
            for (me, ops) in program.tasks.iter().enumerate() {
                let start = {
                    let (ops, net, shared, all) = (ops.clone(), net.clone(), shared.clone(), all.clone());
                    move || run(me, ops.clone(), net.clone(), shared.clone(), all.clone())
                };
                Node::builder(format!("t{me}")).mail(program.mail).start(start);
            }
        }
    });
    assert!(!report.is_failure(), "{program:?}: {:?}", report.stop);
    assert!(!matches!(report.stop, delay::Stop::Nondeterministic(_)), "{program:?}: {:?}", report.stop);
    report.is_complete().then(|| all.set())
}

#[test]
fn what_can_happen_does_not_depend_on_how_it_is_searched() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut compared = 0;
    for number in 0..150 {
        let program = program(&mut random);
        // The measure must fit: most programs do.
        let Some(expected) = outcomes(&program, Checker::new().cache(Cache::Off)) else { continue };
        compared += 1;
        for granularity in [Granularity::Send, Granularity::Op] {
            for explorer in ["rtc", "rr"] {
                let checker = Checker::new().granularity(granularity).explorer(explorer);
                let found = outcomes(&program, checker).expect("a cached search is no longer than an uncached one");
                assert_eq!(found, expected, "program {number} with {granularity:?} and {explorer}: {program:?}");
            }
        }
    }
    println!("{compared} programs compared");
    assert!(compared >= 140, "{compared} programs were small enough");
}

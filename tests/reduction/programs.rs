//! Random programs: as many executions as there are classes, and every outcome.

use crate::model::{Op, Order, Outcome, Program, Random, Seen, draw, executions};
use delay::{
    Checker, Execution, Granularity, Payload, Reduction, Report, Stop, choose,
    net::{Address, Delivery, Endpoint, Network},
    sync::{mpsc, watch},
    task,
};
use std::{
    collections::{BTreeSet, VecDeque},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

type Name = (usize, usize);

enum Inbox {
    Channel(mpsc::UnboundedReceiver<Name>),
    Endpoint(Endpoint<Name>),
}

#[derive(Clone)]
struct Shared {
    senders: Vec<mpsc::UnboundedSender<Name>>,
    addresses: Vec<Address>,
    boxes: Vec<mpsc::Sender<Name>>,
    number: watch::Sender<usize>,
    log: Log,
}

/// What an execution has come to so far, and all that the others came to.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<(Outcome, BTreeSet<Outcome>)>>);

impl Log {
    fn begin(&self, count: usize) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = std::mem::replace(&mut log.0, vec![(0, Vec::new()); count]);
        log.1.insert(outcome);
    }

    fn note(&self, process: usize, at: usize, seen: Option<Seen>) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.0[process].0 = at;
        log.0[process].1.extend(seen);
    }
}

/// Ends that are never dropped, so that nothing closes, and processes to be spawned.
struct Ends {
    inbox: Inbox,
    taken: mpsc::Receiver<Name>,
    later: Arc<Mutex<VecDeque<(usize, Ends)>>>,
}

fn boxed(program: Arc<Program>, me: usize, world: Shared, ends: Ends) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(run(program, me, world, ends))
}

async fn run(program: Arc<Program>, me: usize, world: Shared, mut ends: Ends) {
    let ops = &program.processes[me];
    let (mut at, mut sent) = (0, 0);
    while let Some(op) = ops.get(at) {
        let mut length = 1;
        let seen = match op {
            Op::Send(to) => {
                ends.send(&world, *to, (me, sent)).await;
                sent += 1;
                None
            }
            Op::Put(to) => {
                world.boxes[*to].send((me, sent)).await.expect("nothing is ever closed");
                sent += 1;
                None
            }
            Op::Recv => Some(ends.receive().await),
            Op::TryRecv => {
                task::yield_now().await;
                let Inbox::Channel(inbox) = &mut ends.inbox else { unreachable!("drawn for channels only") };
                Some(inbox.try_recv().map_or(Seen::Nothing, Seen::Message))
            }
            Op::RecvOrTurn => tokio::select! {
                seen = ends.receive() => Some(seen),
                () = task::yield_now() => Some(Seen::Nothing),
            },
            Op::Take => ends.taken.recv().await.map(Seen::Message),
            Op::Choose => {
                let chosen = choose(2).await;
                length += chosen;
                Some(Seen::Chose(chosen))
            }
            Op::ChooseSend(to) => {
                let chosen = choose(2).await;
                if chosen == 1 {
                    world.senders[*to].send((me, sent)).expect("nothing is ever closed");
                    sent += 1;
                }
                Some(Seen::Chose(chosen))
            }
            Op::Spawn => {
                task::yield_now().await;
                let next = ends.later.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                if let Some((child, theirs)) = next {
                    task::spawn(boxed(Arc::clone(&program), child, world.clone(), theirs));
                }
                None
            }
            Op::Count => {
                task::yield_now().await;
                let mut number = 0;
                world.number.send_modify(|shared| {
                    number = *shared;
                    *shared += 1;
                });
                Some(Seen::Number(number))
            }
            Op::Look => {
                task::yield_now().await;
                Some(Seen::Number(*world.number.borrow()))
            }
        };
        at = (at + length).min(ops.len());
        world.log.note(me, at, seen);
    }
    std::mem::forget((world, ends));
}

impl Ends {
    async fn send(&self, world: &Shared, to: usize, name: Name) {
        match &self.inbox {
            Inbox::Channel(_) => {
                task::yield_now().await;
                world.senders[to].send(name).expect("nothing is ever closed");
            }
            Inbox::Endpoint(endpoint) => {
                endpoint.send(world.addresses[to], name).await.expect("nothing is ever closed");
            }
        }
    }

    async fn receive(&mut self) -> Seen {
        Seen::Message(match &mut self.inbox {
            Inbox::Channel(inbox) => inbox.recv().await.expect("nothing is ever closed"),
            Inbox::Endpoint(endpoint) => endpoint.recv().await.message,
        })
    }
}

fn body(program: &Arc<Program>, log: Log) {
    let count = program.processes.len();
    log.begin(count);
    let delivery = match program.order {
        Order::Fifo => None,
        Order::PerSender => Some(Delivery::PerSender),
        Order::Bag => Some(Delivery::Unordered),
    };
    let (mut senders, mut addresses, mut boxes, mut ends) = (Vec::new(), Vec::new(), Vec::new(), VecDeque::new());
    let network = Network::with_payload(Delivery::PerSender, Payload::visible());
    let network = delivery.map_or(network, |delivery| Network::with_payload(delivery, Payload::visible()));
    let later = Arc::new(Mutex::new(VecDeque::new()));
    for process in 0..count {
        let inbox = if delivery.is_some() {
            let endpoint = network.endpoint(format!("P{process}"));
            addresses.push(endpoint.address());
            Inbox::Endpoint(endpoint)
        } else {
            let (sender, receiver) = mpsc::unbounded_channel();
            senders.push(sender);
            Inbox::Channel(receiver)
        };
        let (sender, taken) = mpsc::channel(1);
        boxes.push(sender);
        ends.push_back((process, Ends { inbox, taken, later: Arc::clone(&later) }));
    }
    let world = Shared { senders, addresses, boxes, number: watch::Sender::new(0), log };
    let rest = ends.split_off(program.started);
    *later.lock().unwrap_or_else(PoisonError::into_inner) = rest;
    for (process, ends) in ends {
        task::spawn(run(Arc::clone(program), process, world.clone(), ends));
    }
    std::mem::forget(world);
}

pub(crate) fn check(checker: Checker, program: &Program) -> (Report, BTreeSet<Outcome>) {
    let log = Log::default();
    let program = Arc::new(program.clone());
    let report = checker.check(|| async { body(&program, log.clone()) });
    log.begin(0);
    let outcomes = std::mem::take(&mut log.0.lock().unwrap_or_else(PoisonError::into_inner).1);
    (report, outcomes)
}

/// Programs with more schedules than this are not enumerated.
const SCHEDULES_MAX: usize = 2_000;

#[test]
fn random_programs_are_executed_once_a_class() {
    random_programs(25, 1);
}

#[test]
#[ignore = "takes minutes: cargo test --release --test reduction -- --ignored random"]
fn many_random_programs_are_executed_once_a_class() {
    for seed in 2..12 {
        random_programs(1_000, seed);
    }
}

fn random_programs(count: usize, seed: u64) {
    let mut random = Random(seed);
    let (mut compared, mut reduced) = (0, 0);
    'programs: while compared < count {
        let program = draw(&mut random);
        let Some(expected) = executions(&program, SCHEDULES_MAX).filter(|all| all.schedules > 3) else { continue };
        reduced += usize::from(expected.classes * 2 < expected.schedules);
        for explorer in ["rtc", "rr"] {
            let granularity = [Granularity::Op, Granularity::Send][random.below(2)];
            let checker = Checker::new().explorer(explorer).granularity(granularity).reduction(Reduction::Dpor);
            let (live, outcomes) = check(checker.execution(Execution::Live), &program);
            let what = format!("{program:?} {explorer} {granularity:?}: {:?}", live.stop);
            if let Stop::Irreducible(why) = &live.stop {
                let is_such = |op: &Op| match op {
                    Op::Choose | Op::ChooseSend(_) => why.contains("choose"),
                    Op::Put(_) => why.contains("room"),
                    _ => false,
                };
                assert!(program.processes.iter().flatten().any(is_such), "{what}: {why}");
                continue 'programs;
            }
            assert!(live.is_complete(), "{what}");
            let missing: Vec<_> = expected.outcomes.difference(&outcomes).collect();
            assert!(missing.is_empty(), "{what}: never came to {missing:?}");
            assert_eq!(live.coverage.executions, expected.classes as u64, "{what}");
            let (learned, _) = check(checker, &program);
            assert_eq!(learned.coverage.executions, live.coverage.executions, "{what}");
            assert_eq!(learned.coverage.transitions, live.coverage.transitions, "{what}");
        }
        compared += 1;
    }
    assert!(reduced * 2 > count, "{reduced} programs had something to leave out");
}

/// Classes of these were lost: nothing is promised where a program chooses, or a send may wait for room for ever.
#[test]
fn where_classes_may_be_left_out_nothing_is_promised() {
    let choice = vec![
        vec![Op::Spawn, Op::TryRecv],
        vec![Op::TryRecv, Op::Put(0), Op::ChooseSend(0)],
        vec![Op::Send(1), Op::Send(2), Op::Put(1), Op::Put(0)],
    ];
    let crowd = vec![
        vec![Op::Put(1), Op::Look],
        vec![Op::Send(2), Op::Take, Op::Put(2), Op::Send(1)],
        vec![Op::Send(2), Op::RecvOrTurn, Op::Put(2), Op::Count],
    ];
    for (processes, started) in [(choice, 2), (crowd, 3)] {
        let program = Program { processes, started, order: Order::Fifo };
        for explorer in ["rtc", "rr"] {
            let (report, _) = check(Checker::new().explorer(explorer).reduction(Reduction::Dpor), &program);
            assert!(matches!(report.stop, Stop::Irreducible(_)) && !report.is_complete(), "{:?}", report.stop);
        }
    }
}

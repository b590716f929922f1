//! The programs of the tables, as op lists: each process is a pure function from what it has seen to what it does next.
//!
//! Invariants: nothing here knows the engine; a process that branches on received values decides from its own history
//! only, so equal histories mean equal behaviour. Processes stand in the order of their declaration (the explorers' order).

use std::collections::VecDeque;

/// What a message carries: a word and a number. Two messages with equal values are equal in content.
pub(crate) type Value = (&'static str, usize);

/// What a process does next. Processes (and their mailboxes) are named by their index in [`Program::processes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Send {
        to: usize,
        value: Value,
    },
    Receive,
    TryReceive,
    Choose(usize),
    Spawn(usize),
    /// "My future depends only on this": free, not a step.
    Checkpoint(usize),
    Stop,
}

/// One finished op as its process saw it. `from` and `index` (the k-th send of `from`) are the message's identity,
/// which no process may look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Seen {
    Sent,
    Received { value: Value, from: usize, index: usize },
    Empty,
    Chose(usize),
    Spawned,
    Checkpointed(usize),
}

/// From what a process has seen to what it does next.
type Next = Box<dyn Fn(&[Seen]) -> Op>;

/// One process: its history so far gives its next op.
pub(crate) struct Process {
    pub(crate) next: Next,
    /// Alive at the start; otherwise born by an [`Op::Spawn`].
    pub(crate) declared: bool,
}

/// What a complete execution is judged by.
pub(crate) enum Outcome {
    /// What these processes received, in order.
    Received(Vec<usize>),
    /// The sum of what this process received.
    Sum(usize),
    /// Which of these processes finished.
    Finished(Vec<usize>),
}

impl Outcome {
    /// In words, from what a process received and whether it finished.
    pub(crate) fn text(&self, received: impl Fn(usize) -> Vec<Value>, finished: impl Fn(usize) -> bool) -> String {
        match self {
            Self::Received(processes) => {
                let list = |process: &usize| {
                    let words = received(*process).into_iter().map(|(word, number)| format!("{word}{number}"));
                    words.collect::<Vec<_>>().join(" ")
                };
                processes.iter().map(list).collect::<Vec<_>>().join(", ")
            }
            Self::Sum(process) => received(*process).into_iter().map(|(_, number)| number).sum::<usize>().to_string(),
            Self::Finished(processes) => {
                let finished = processes.iter().filter(|process| finished(**process));
                format!("finished: {:?}", finished.collect::<Vec<_>>())
            }
        }
    }
}

pub(crate) struct Program {
    pub(crate) processes: Vec<Process>,
    pub(crate) outcome: Outcome,
}

/// The program of this table name, such as `2PC(3)`.
pub(crate) fn program(name: &str) -> Program {
    let (word, arguments) = name.split_once('(').unwrap_or((name, ""));
    let numbers: Vec<usize> = arguments
        .trim_end_matches(')')
        .split(['x', ','])
        .filter(|number| !number.is_empty())
        .map(|number| number.parse().expect("program arguments are numbers"))
        .collect();
    match (word, numbers.as_slice()) {
        ("FANIN", &[n]) => fan_in(n, 1),
        ("FANIN", &[n, k]) => fan_in(n, k),
        ("FANINSAME", &[n]) => fan_in_same(n),
        ("COUNTER", &[n]) => counter(n),
        ("PINGPONG", &[rounds]) => ping_pong(rounds),
        ("TRIANGLE", &[]) => triangle(),
        ("2PC", &[n]) => two_phase(n),
        ("2PCVOTE", &[n]) => two_phase_vote(n),
        ("REGISTER", &[]) => register(),
        ("LOCKS", &[]) => locks(),
        ("RING", ids) => ring(ids),
        ("SPAWN", &[n]) => spawning(n),
        ("ALLTOALL", &[n]) => all_to_all(n),
        ("ORDER", &[k]) => order(k),
        ("RELAY", &[]) => relay(),
        ("TRYRECV", &[]) => try_receive(),
        ("INDEP", &[n]) => independent(n),
        ("NORECV", &[n]) => no_receive(n),
        ("LATE-1", &[]) => late(),
        ("PRUNE-1", &[]) => prune(),
        _ => panic!("no program is called {name}"),
    }
}

fn machine(next: impl Fn(&[Seen]) -> Op + 'static) -> Process {
    Process { next: Box::new(next), declared: true }
}

/// A process without branches: op k follows after k finished ops.
fn script(ops: Vec<Op>) -> Process {
    machine(move |seen| ops.get(seen.len()).cloned().unwrap_or(Op::Stop))
}

fn send(to: usize, word: &'static str, number: usize) -> Op {
    Op::Send { to, value: (word, number) }
}

fn receives(count: usize) -> Vec<Op> {
    vec![Op::Receive; count]
}

/// The values a process received, in order.
pub(crate) fn received(seen: &[Seen]) -> impl Iterator<Item = Value> {
    seen.iter().filter_map(|seen| match seen {
        Seen::Received { value, .. } => Some(*value),
        Seen::Sent | Seen::Empty | Seen::Chose(_) | Seen::Spawned | Seen::Checkpointed(_) => None,
    })
}

/// R: N×K receives. Si: K sends, the k-th (from 0) of 10×k + i.
fn fan_in(n: usize, k: usize) -> Program {
    let mut processes = vec![script(receives(n * k))];
    let sender = |me| script((0..k).map(|round| send(0, "m", 10 * round + me)).collect());
    processes.extend((1..=n).map(sender));
    Program { processes, outcome: Outcome::Received(vec![0]) }
}

fn fan_in_same(n: usize) -> Program {
    let mut processes = vec![script(receives(n))];
    processes.extend((0..n).map(|_| script(vec![send(0, "m", 0)])));
    Program { processes, outcome: Outcome::Received(vec![0]) }
}

/// A fan-in of 2^i whose receiver checkpoints its sum after every receive.
fn counter(n: usize) -> Program {
    let mut processes = vec![machine(move |seen| match seen.last() {
        Some(Seen::Received { .. }) => Op::Checkpoint(received(seen).map(|(_, number)| number).sum()),
        _ if received(seen).count() < n => Op::Receive,
        _ => Op::Stop,
    })];
    processes.extend((0..n).map(|sender| script(vec![send(0, "m", 1 << sender)])));
    Program { processes, outcome: Outcome::Sum(0) }
}

fn ping_pong(rounds: usize) -> Program {
    let first = (0..rounds).flat_map(|round| [send(1, "ping", round), Op::Receive]).collect();
    let second = (0..rounds).flat_map(|round| [Op::Receive, send(0, "pong", round)]).collect();
    Program { processes: vec![script(first), script(second)], outcome: Outcome::Received(vec![0, 1]) }
}

/// A: !B !C. B: ? !C. C: ? ?.
fn triangle() -> Program {
    let a = script(vec![send(1, "a", 0), send(2, "a", 0)]);
    let b = script(vec![Op::Receive, send(2, "b", 0)]);
    Program { processes: vec![a, b, script(receives(2))], outcome: Outcome::Received(vec![2]) }
}

/// C: N×!prepare, N×?, N×!commit. Pi: ? !yes ?.
fn two_phase(n: usize) -> Program {
    let mut coordinator: Vec<Op> = (1..=n).map(|to| send(to, "prepare", 0)).collect();
    coordinator.extend(receives(n));
    coordinator.extend((1..=n).map(|to| send(to, "commit", 0)));
    let mut processes = vec![script(coordinator)];
    processes.extend((1..=n).map(|me| script(vec![Op::Receive, send(0, "yes", me), Op::Receive])));
    Program { processes, outcome: Outcome::Received((0..=n).collect()) }
}

/// Two-phase commit whose participants choose their vote (1 is yes); the coordinator commits if all said yes.
/// A vote does not say whose it is.
fn two_phase_vote(n: usize) -> Program {
    let coordinator = machine(move |seen| match seen.len() {
        done if done < n => send(done + 1, "prepare", 0),
        done if done < 2 * n => Op::Receive,
        done if done < 3 * n => {
            let commit = received(seen).all(|(_, vote)| vote == 1);
            send(done - 2 * n + 1, "decision", usize::from(commit))
        }
        _ => Op::Stop,
    });
    let mut processes = vec![coordinator];
    processes.extend((0..n).map(|_| {
        machine(|seen| match seen {
            [] | [_, _, _] => Op::Receive,
            [_] => Op::Choose(2),
            [_, Seen::Chose(vote)] => send(0, "vote", *vote),
            _ => Op::Stop,
        })
    }));
    Program { processes, outcome: Outcome::Received((0..=n).collect()) }
}

/// S: 4×(? and an answer to each read). Ci: !write(i) !read ?.
fn register() -> Program {
    let server = machine(|seen| match seen.last() {
        Some(Seen::Received { value: ("read", client), .. }) => {
            let written = received(seen).filter(|(word, _)| *word == "write").last();
            send(*client, "value", written.map_or(0, |(_, number)| number))
        }
        _ if received(seen).count() < 4 => Op::Receive,
        _ => Op::Stop,
    });
    let client = |me| script(vec![send(0, "write", me), send(0, "read", me), Op::Receive]);
    Program { processes: vec![server, client(1), client(2)], outcome: Outcome::Received(vec![1, 2]) }
}

/// L1, L2: first-come lock servers that never stop. C1 takes L1 then L2, C2 the other way round.
fn locks() -> Program {
    let server = || {
        machine(|seen| {
            let mut queue = VecDeque::new(); // the front holds the lock
            let mut grant = None;
            for seen in seen {
                match seen {
                    Seen::Received { value: ("acquire", client), .. } => {
                        queue.push_back(*client);
                        if queue.len() == 1 {
                            grant = Some(*client);
                        }
                    }
                    Seen::Received { .. } => {
                        queue.pop_front();
                        grant = queue.front().copied();
                    }
                    _ => grant = None,
                }
            }
            grant.map_or(Op::Receive, |client| send(client, "granted", 0))
        })
    };
    let client = |me, first, second| {
        let acquire = |lock| [send(lock, "acquire", me), Op::Receive];
        let release = [send(first, "release", me), send(second, "release", me)];
        script(acquire(first).into_iter().chain(acquire(second)).chain(release).collect())
    };
    let processes = vec![server(), server(), client(2, 0, 1), client(3, 1, 0)];
    Program { processes, outcome: Outcome::Finished(vec![2, 3]) }
}

/// Pi: !id to the next, then forward what is larger and stop at its own id.
fn ring(ids: &[usize]) -> Program {
    let size = ids.len();
    let process = |(me, &id): (usize, &usize)| {
        machine(move |seen| match seen.last() {
            None => send((me + 1) % size, "id", id),
            Some(Seen::Received { value: (_, other), .. }) if *other > id => send((me + 1) % size, "id", *other),
            Some(Seen::Received { value: (_, other), .. }) if *other == id => Op::Stop,
            Some(_) => Op::Receive,
        })
    };
    let processes = ids.iter().enumerate().map(process).collect();
    Program { processes, outcome: Outcome::Received((0..size).collect()) }
}

/// M spawns W1..WN, then N×?. Wi: !M.
fn spawning(n: usize) -> Program {
    let mut parent: Vec<Op> = (1..=n).map(Op::Spawn).collect();
    parent.extend(receives(n));
    let mut processes = vec![script(parent)];
    processes.extend((1..=n).map(|me| Process { declared: false, ..script(vec![send(0, "m", me)]) }));
    Program { processes, outcome: Outcome::Received(vec![0]) }
}

/// Each sends to all others in index order, then receives from all.
fn all_to_all(n: usize) -> Program {
    let process = |me| {
        let mut ops: Vec<Op> = (0..n).filter(|to| *to != me).map(|to| send(to, "m", me)).collect();
        ops.extend(receives(n - 1));
        script(ops)
    };
    Program { processes: (0..n).map(process).collect(), outcome: Outcome::Received((0..n).collect()) }
}

/// R: (k+1)×?. A: !a. B: k×!b, numbered.
fn order(k: usize) -> Program {
    let b = (0..k).map(|number| send(0, "b", number)).collect();
    let processes = vec![script(receives(k + 1)), script(vec![send(0, "a", 0)]), script(b)];
    Program { processes, outcome: Outcome::Received(vec![0]) }
}

/// S: 3×?. A: !S(init) !C(go). B: !S(use). C: ? !S(quit).
fn relay() -> Program {
    let a = script(vec![send(0, "init", 0), send(3, "go", 0)]);
    let c = script(vec![Op::Receive, send(0, "quit", 0)]);
    let processes = vec![script(receives(3)), a, script(vec![send(0, "use", 0)]), c];
    Program { processes, outcome: Outcome::Received(vec![0]) }
}

fn try_receive() -> Program {
    let sender = |me| script(vec![send(0, "m", me)]);
    let processes = vec![script(vec![Op::TryReceive, Op::TryReceive]), sender(1), sender(2)];
    Program { processes, outcome: Outcome::Received(vec![0]) }
}

/// Pi: !Qi. Qi: ?. Declared P1 P2 .. Q1 Q2 ..
fn independent(n: usize) -> Program {
    let mut processes: Vec<Process> = (0..n).map(|me| script(vec![send(n + me, "m", me)])).collect();
    processes.extend((0..n).map(|_| script(receives(1))));
    Program { processes, outcome: Outcome::Received((n..2 * n).collect()) }
}

/// N one-step processes: each sends to R, which never receives.
fn no_receive(n: usize) -> Program {
    let mut processes = vec![script(Vec::new())];
    processes.extend((1..=n).map(|me| script(vec![send(0, "m", me)])));
    Program { processes, outcome: Outcome::Received(vec![0]) }
}

/// The smallest program whose outcome P2 = (m2, m1) needs one delay, though a cache without explorer states finds it
/// only at bound 2. P0: !P1(m0) !P2(m1). P1: !P2(m2) ? !P2(m3). P2: ? ?.
fn late() -> Program {
    let p0 = script(vec![send(1, "m", 0), send(2, "m", 1)]);
    let p1 = script(vec![send(2, "m", 2), Op::Receive, send(2, "m", 3)]);
    Program { processes: vec![p0, p1, script(receives(2))], outcome: Outcome::Received(vec![2]) }
}

/// P0: !P1(m0) !P2(m1). P1: !P2(m2). P2: !P1(m3) !P0(m4). Nobody receives; 4 traces, 3 of them within one delay.
fn prune() -> Program {
    let p0 = script(vec![send(1, "m", 0), send(2, "m", 1)]);
    let p2 = script(vec![send(1, "m", 3), send(0, "m", 4)]);
    Program { processes: vec![p0, script(vec![send(2, "m", 2)]), p2], outcome: Outcome::Finished(vec![0, 1, 2]) }
}

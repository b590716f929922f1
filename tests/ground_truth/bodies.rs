//! The programs of the tables once more, as `async fn`s over the library: what a user would write.
//!
//! Invariant: the same processes in the same order, with the same ops, as in `programs.rs`; the tests hold one against
//! the other.

use crate::wire::{Ledger, Node, Task, Wiring, nodes, start};
use std::collections::VecDeque;

/// In which order the declared processes are spawned, which is the order an explorer hears of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// As declared: the first is the head of a queue.
    Declared,
    /// The last first, so that the first is on top of a stack.
    Reversed,
}

/// A test body that spawns the declared processes of this table program and returns.
pub(crate) async fn body(name: &str, wiring: Wiring, order: Order, ledger: &Ledger) {
    let (word, arguments) = name.split_once('(').unwrap_or((name, ""));
    let numbers = arguments.trim_end_matches(')').split(['x', ',']).filter(|number| !number.is_empty());
    let numbers: Vec<usize> = numbers.map(|number| number.parse().expect("program arguments are numbers")).collect();
    let make = |count| nodes(wiring, count, ledger);
    let tasks = match (word, numbers.as_slice()) {
        ("FANIN", &[n]) => fan_in(make(n + 1), 1),
        ("FANIN", &[n, k]) => fan_in(make(n + 1), k),
        ("FANINSAME", &[n]) => fan_in_same(make(n + 1)),
        ("COUNTER", &[n]) => counter(make(n + 1)),
        ("PINGPONG", &[rounds]) => ping_pong(make(2), rounds),
        ("TRIANGLE", &[]) => triangle(make(3)),
        ("2PC", &[n]) => two_phase(make(n + 1)),
        ("2PCVOTE", &[n]) => two_phase_vote(make(n + 1)),
        ("REGISTER", &[]) => register(make(3)),
        ("LOCKS", &[]) => locks(make(4)),
        ("RING", ids) => ring(make(ids.len()), ids),
        ("SPAWN", &[n]) => spawning(make(n + 1)),
        ("ALLTOALL", &[n]) => all_to_all(make(n)),
        ("ORDER", &[k]) => order_of(make(3), k),
        ("RELAY", &[]) => relay(make(4)),
        ("TRYRECV", &[]) => try_receive(make(3)),
        ("INDEP", &[n]) => independent(make(2 * n)),
        ("NORECV", &[n]) => no_receive(make(n + 1)),
        ("LATE-1", &[]) => late(make(3)),
        ("PRUNE-1", &[]) => prune(make(3)),
        _ => panic!("no program is called {name}"),
    };
    let mut tasks: Vec<(usize, Task)> = tasks.into_iter().enumerate().collect();
    if order == Order::Reversed {
        tasks.reverse();
    }
    for (process, task) in tasks {
        start(process, ledger, task);
    }
}

fn boxed(future: impl Future<Output = ()> + Send + 'static) -> Task {
    Box::pin(future)
}

fn split(nodes: Vec<Node>) -> (Node, impl Iterator<Item = Node>) {
    let mut nodes = nodes.into_iter();
    (nodes.next().expect("there is a first process"), nodes)
}

fn three(nodes: Vec<Node>) -> [Node; 3] {
    let nodes: Result<[Node; 3], _> = nodes.try_into();
    nodes.unwrap_or_else(|_| panic!("there are three processes"))
}

async fn receive(mut node: Node, count: usize) {
    for _ in 0..count {
        node.recv().await;
    }
}

async fn send_one(node: Node, to: usize, number: usize) {
    node.send(to, "m", number).await;
}

fn fan_in(nodes: Vec<Node>, k: usize) -> Vec<Task> {
    let (receiver, senders) = split(nodes);
    let senders: Vec<Node> = senders.collect();
    let mut tasks = vec![boxed(receive(receiver, senders.len() * k))];
    tasks.extend(senders.into_iter().map(|sender| {
        boxed(async move {
            for round in 0..k {
                sender.send(0, "m", 10 * round + sender.me).await;
            }
        })
    }));
    tasks
}

fn fan_in_same(nodes: Vec<Node>) -> Vec<Task> {
    let (receiver, senders) = split(nodes);
    let senders: Vec<Node> = senders.collect();
    let mut tasks = vec![boxed(receive(receiver, senders.len()))];
    tasks.extend(senders.into_iter().map(|sender| boxed(send_one(sender, 0, 0))));
    tasks
}

fn counter(nodes: Vec<Node>) -> Vec<Task> {
    let (mut receiver, senders) = split(nodes);
    let senders: Vec<Node> = senders.collect();
    let count = senders.len();
    let mut tasks = vec![boxed(async move {
        let mut sum = 0;
        for _ in 0..count {
            sum += receiver.recv().await.1;
            delay::checkpoint(&sum);
        }
    })];
    tasks.extend(senders.into_iter().enumerate().map(|(power, sender)| boxed(send_one(sender, 0, 1 << power))));
    tasks
}

fn ping_pong(nodes: Vec<Node>, rounds: usize) -> Vec<Task> {
    let (mut first, mut others) = split(nodes);
    let mut second = others.next().expect("there are two processes");
    let ping = async move {
        for round in 0..rounds {
            first.send(1, "ping", round).await;
            first.recv().await;
        }
    };
    let pong = async move {
        for round in 0..rounds {
            second.recv().await;
            second.send(0, "pong", round).await;
        }
    };
    vec![boxed(ping), boxed(pong)]
}

fn triangle(nodes: Vec<Node>) -> Vec<Task> {
    let [a, mut b, c] = three(nodes);
    let first = async move {
        a.send(1, "a", 0).await;
        a.send(2, "a", 0).await;
    };
    let second = async move {
        b.recv().await;
        b.send(2, "b", 0).await;
    };
    vec![boxed(first), boxed(second), boxed(receive(c, 2))]
}

fn two_phase(nodes: Vec<Node>) -> Vec<Task> {
    let n = nodes.len() - 1;
    let (mut coordinator, participants) = split(nodes);
    let mut tasks = vec![boxed(async move {
        for participant in 1..=n {
            coordinator.send(participant, "prepare", 0).await;
        }
        for _ in 0..n {
            coordinator.recv().await;
        }
        for participant in 1..=n {
            coordinator.send(participant, "commit", 0).await;
        }
    })];
    tasks.extend(participants.map(|mut participant| {
        boxed(async move {
            participant.recv().await;
            participant.send(0, "yes", participant.me).await;
            participant.recv().await;
        })
    }));
    tasks
}

fn two_phase_vote(nodes: Vec<Node>) -> Vec<Task> {
    let n = nodes.len() - 1;
    let (mut coordinator, participants) = split(nodes);
    let mut tasks = vec![boxed(async move {
        for participant in 1..=n {
            coordinator.send(participant, "prepare", 0).await;
        }
        let mut commit = true;
        for _ in 0..n {
            commit &= coordinator.recv().await.1 == 1;
        }
        for participant in 1..=n {
            coordinator.send(participant, "decision", usize::from(commit)).await;
        }
    })];
    tasks.extend(participants.map(|mut participant| {
        boxed(async move {
            participant.recv().await;
            let vote = participant.choose(2).await;
            participant.send(0, "vote", vote).await;
            participant.recv().await;
        })
    }));
    tasks
}

fn register(nodes: Vec<Node>) -> Vec<Task> {
    let (mut server, clients) = split(nodes);
    let mut tasks = vec![boxed(async move {
        let mut register = 0;
        for _ in 0..4 {
            match server.recv().await {
                ("write", value) => register = value,
                (_, client) => server.send(client, "value", register).await,
            }
        }
    })];
    tasks.extend(clients.map(|mut client| {
        boxed(async move {
            client.send(0, "write", client.me).await;
            client.send(0, "read", client.me).await;
            client.recv().await;
        })
    }));
    tasks
}

async fn lock_server(mut node: Node) {
    let mut queue = VecDeque::new(); // the front holds the lock
    loop {
        let granted = if let ("acquire", client) = node.recv().await {
            queue.push_back(client);
            (queue.len() == 1).then_some(client)
        } else {
            queue.pop_front();
            queue.front().copied()
        };
        if let Some(client) = granted {
            node.send(client, "granted", 0).await;
        }
    }
}

async fn lock_client(mut node: Node, first: usize, second: usize) {
    for lock in [first, second] {
        node.send(lock, "acquire", node.me).await;
        node.recv().await;
    }
    for lock in [first, second] {
        node.send(lock, "release", node.me).await;
    }
}

fn locks(nodes: Vec<Node>) -> Vec<Task> {
    let nodes: Result<[Node; 4], _> = nodes.try_into();
    let Ok([l1, l2, c1, c2]) = nodes else { panic!("there are four processes") };
    vec![boxed(lock_server(l1)), boxed(lock_server(l2)), boxed(lock_client(c1, 0, 1)), boxed(lock_client(c2, 1, 0))]
}

fn ring(nodes: Vec<Node>, ids: &[usize]) -> Vec<Task> {
    let size = nodes.len();
    let processes = nodes.into_iter().zip(ids.to_vec()).map(|(mut node, id)| {
        boxed(async move {
            let next = (node.me + 1) % size;
            node.send(next, "id", id).await;
            loop {
                let (_, other) = node.recv().await;
                if other == id {
                    return;
                }
                if other > id {
                    node.send(next, "id", other).await;
                }
            }
        })
    });
    processes.collect()
}

fn spawning(nodes: Vec<Node>) -> Vec<Task> {
    let (parent, workers) = split(nodes);
    let workers: Vec<Node> = workers.collect();
    let parent = async move {
        let count = workers.len();
        for worker in workers {
            parent.spawn(worker.me, boxed(send_one_of_its_own(worker))).await;
        }
        receive(parent, count).await;
    };
    vec![boxed(parent)]
}

async fn send_one_of_its_own(node: Node) {
    node.send(0, "m", node.me).await;
}

fn all_to_all(nodes: Vec<Node>) -> Vec<Task> {
    let n = nodes.len();
    let processes = nodes.into_iter().map(|node| {
        boxed(async move {
            for to in (0..n).filter(|to| *to != node.me) {
                node.send(to, "m", node.me).await;
            }
            receive(node, n - 1).await;
        })
    });
    processes.collect()
}

fn order_of(nodes: Vec<Node>, k: usize) -> Vec<Task> {
    let [receiver, a, b] = three(nodes);
    let second = async move {
        for number in 0..k {
            b.send(0, "b", number).await;
        }
    };
    vec![boxed(receive(receiver, k + 1)), boxed(async move { a.send(0, "a", 0).await }), boxed(second)]
}

fn relay(nodes: Vec<Node>) -> Vec<Task> {
    let nodes: Result<[Node; 4], _> = nodes.try_into();
    let Ok([server, a, b, mut c]) = nodes else { panic!("there are four processes") };
    let first = async move {
        a.send(0, "init", 0).await;
        a.send(3, "go", 0).await;
    };
    let last = async move {
        c.recv().await;
        c.send(0, "quit", 0).await;
    };
    vec![boxed(receive(server, 3)), boxed(first), boxed(async move { b.send(0, "use", 0).await }), boxed(last)]
}

fn try_receive(nodes: Vec<Node>) -> Vec<Task> {
    let (mut receiver, senders) = split(nodes);
    let mut tasks = vec![boxed(async move {
        receiver.try_recv().await;
        receiver.try_recv().await;
    })];
    tasks.extend(senders.map(|sender| boxed(send_one_of_its_own(sender))));
    tasks
}

fn independent(nodes: Vec<Node>) -> Vec<Task> {
    let n = nodes.len() / 2;
    let processes = nodes.into_iter().map(|node| match node.me {
        me if me < n => boxed(send_one(node, n + me, me)),
        _ => boxed(receive(node, 1)),
    });
    processes.collect()
}

fn no_receive(nodes: Vec<Node>) -> Vec<Task> {
    let (nobody, senders) = split(nodes);
    let mut tasks = vec![boxed(receive(nobody, 0))];
    tasks.extend(senders.map(|sender| boxed(send_one_of_its_own(sender))));
    tasks
}

fn late(nodes: Vec<Node>) -> Vec<Task> {
    let [p0, mut p1, p2] = three(nodes);
    let first = async move {
        p0.send(1, "m", 0).await;
        p0.send(2, "m", 1).await;
    };
    let second = async move {
        p1.send(2, "m", 2).await;
        p1.recv().await;
        p1.send(2, "m", 3).await;
    };
    vec![boxed(first), boxed(second), boxed(receive(p2, 2))]
}

fn prune(nodes: Vec<Node>) -> Vec<Task> {
    let [p0, p1, p2] = three(nodes);
    let first = async move {
        p0.send(1, "m", 0).await;
        p0.send(2, "m", 1).await;
    };
    let third = async move {
        p2.send(1, "m", 3).await;
        p2.send(0, "m", 4).await;
    };
    vec![boxed(first), boxed(async move { p1.send(2, "m", 2).await }), boxed(third)]
}

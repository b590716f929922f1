//! Nodes on tokio and in a controlled execution: the same program, the same results.

use crate::driver::{every_schedule, first_schedule, on_tokio};
use delay::{
    Payload,
    net::{Delivery, Network},
    node::{Mail, Node},
    storage::Cell,
    sync::mpsc::{self, UnboundedSender},
    task::{self, JoinSet},
};
use std::{
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Counts the tasks that were dropped.
struct Ending(Arc<AtomicUsize>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A task that tells that it has started and never ends.
async fn linger(tell: UnboundedSender<()>, ending: Ending) {
    let _ending = ending;
    let _ = tell.send(());
    pending::<()>().await;
}

/// What a crash ends: what the node spawned, what that spawned, and nothing else.
async fn a_crash_ends_all_of_the_node() -> (usize, bool, usize, bool) {
    let (tell, mut told) = mpsc::unbounded_channel();
    let ended = Arc::new(AtomicUsize::new(0));
    let (inside, count) = (tell.clone(), Arc::clone(&ended));
    let node = Node::start("node", move || {
        let tell = inside.clone();
        let ending = [(); 5].map(|()| Ending(Arc::clone(&count)));
        async move {
            let [first, second, third, fourth, own] = ending;
            let mut set = JoinSet::new();
            set.spawn(linger(tell.clone(), first));
            set.spawn_named("second", linger(tell.clone(), second));
            set.detach_all();
            let inner = tell.clone();
            task::spawn(async move {
                task::spawn_named("fourth", linger(inner.clone(), fourth));
                linger(inner, third).await;
            });
            linger(tell, own).await;
        }
    });
    let outside = task::spawn(linger(tell, Ending(Arc::default())));
    for _ in 0..6 {
        told.recv().await.expect("all of them tell");
    }
    let before = (ended.load(Ordering::Relaxed), node.is_up());
    node.crash().await;
    node.down().await;
    let after = (ended.load(Ordering::Relaxed), node.is_up());
    assert!(!outside.is_finished());
    (before.0, before.1, after.0, after.1)
}

#[test]
fn a_crash_aborts_what_the_node_spawned() {
    assert_eq!(on_tokio(a_crash_ends_all_of_the_node()), (0, true, 5, false));
    assert_eq!(first_schedule(a_crash_ends_all_of_the_node), (0, true, 5, false));
}

/// It is down when it has crashed, and not because it has nothing to do; it starts again as often as it is told to.
async fn comings_and_goings() -> Vec<String> {
    let (tell, mut told) = mpsc::unbounded_channel();
    let node = Node::start("node", move || {
        let tell = tell.clone();
        async move { tell.send(task::spawn(async {}).await.is_ok()).expect("it waits") }
    });
    let mut seen = Vec::new();
    for _ in 0..2 {
        seen.push(format!("{:?}", told.recv().await));
        task::yield_now().await;
        seen.push(format!("up {}", node.is_up()));
        // It is up already.
        node.restart().await;
        node.crash().await;
        // It is down already.
        node.crash().await;
        node.down().await;
        seen.push(format!("up {}", node.is_up()));
        node.restart().await;
    }
    seen.push(format!("{:?} up {}", told.recv().await, node.is_up()));
    seen
}

#[test]
fn a_node_is_up_until_it_crashes() {
    let once = ["Some(true)", "up true", "up false"];
    let expected: Vec<String> =
        once.iter().chain(&once).chain(&["Some(true) up true"]).map(ToString::to_string).collect();
    assert_eq!(on_tokio(comings_and_goings()), expected);
    assert_eq!(first_schedule(comings_and_goings), expected);
}

/// One that waits is told by another's crash.
async fn waits_for_a_crash() -> bool {
    let node = Node::start("node", pending::<()>);
    let watched = node.clone();
    let watcher = task::spawn(async move {
        watched.down().await;
        watched.is_up()
    });
    task::yield_now().await;
    node.crash().await;
    watcher.await.expect("it is not of the node")
}

#[test]
fn a_crash_is_seen_by_who_waits_for_it() {
    assert!(!on_tokio(waits_for_a_crash()));
    assert_eq!(every_schedule(waits_for_a_crash).into_keys().collect::<Vec<_>>(), [false]);
}

/// A node that brings itself down does not wait for itself.
async fn crashes_itself() -> bool {
    let (give, given) = mpsc::unbounded_channel::<Node>();
    let given = Arc::new(Mutex::new(Some(given)));
    let node = Node::start("node", move || {
        let given = given.lock().expect("nobody panics").take();
        async move {
            let node = given.expect("it starts once").recv().await.expect("it is given");
            node.crash().await;
        }
    });
    give.send(node.clone()).expect("it waits");
    node.down().await;
    node.is_up()
}

#[test]
fn a_node_can_crash_itself() {
    assert!(!on_tokio(crashes_itself()));
    assert!(!first_schedule(crashes_itself));
}

/// Stores are of a node by its name, and of the test; endpoints can be bound again.
async fn what_outlives_a_crash(prefix: &'static str) -> Vec<(u32, Option<u32>)> {
    let net = Network::<u32>::with_payload(Delivery::Fifo, Payload::visible());
    let mut client = net.endpoint("client");
    let mut seen = Vec::new();
    for (name, mail) in [("a", Mail::Lost), ("b", Mail::Kept)] {
        let there = net.clone();
        let node = Node::builder(format!("{prefix} {name}")).mail(mail).start(move || {
            let net = there.clone();
            async move {
                let mut inbox = net.endpoint(name);
                let cell = Cell::<u32>::with_payload("sum", Payload::visible());
                loop {
                    let request = inbox.recv().await;
                    let sum = cell.read().await.unwrap_or(0) + request.message;
                    cell.write(sum).await;
                    cell.sync().await;
                    inbox.send(request.from, sum).await.expect("the client is there");
                }
            }
        });
        let to = net.address(name);
        client.send(to, 1).await.expect("it waits there");
        seen.push((client.recv().await.message, Cell::<u32>::open(prefix).read().await));
        node.crash().await;
        client.send(to, 10).await.expect("a node that is down does not refuse");
        node.restart().await;
        // The mail of one that keeps it is answered first.
        if mail == Mail::Kept {
            seen.push((client.recv().await.message, None));
        } else {
            // It is lost for certain once the name is bound again.
            task::yield_now().await;
        }
        client.send(to, 100).await.expect("it is up");
        seen.push((client.recv().await.message, None));
        node.crash().await;
    }
    seen
}

#[test]
fn stores_and_names_outlive_a_crash() {
    let expected = [(1, None), (101, None), (1, None), (11, None), (111, None)];
    assert_eq!(on_tokio(what_outlives_a_crash("on tokio")), expected);
    assert_eq!(first_schedule(|| what_outlives_a_crash("controlled")), expected);
}

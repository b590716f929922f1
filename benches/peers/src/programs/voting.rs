//! Two-phase commit in which each participant votes as it likes, for exhaustive search; `voting.pml` is the same in Promela.
//!
//! A send and a receive are a step each. A task that knows nothing any more but how far it is says so by a `checkpoint`, as
//! variables say it in Promela.

use delay::{Payload, checkpoint, flip, sync::mpsc, task};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Order {
    Prepare,
    Commit,
    Abort,
}

fn channel<T: std::hash::Hash + std::fmt::Debug + Send + 'static>(room: usize) -> (mpsc::Sender<T>, mpsc::Receiver<T>) {
    mpsc::channel_with(room, Payload::visible())
}

pub(crate) async fn voting(participants: usize) {
    let (vote, votes) = channel(participants);
    let (done, all_done) = channel(participants);
    let (outcome, mut outcomes) = channel(1);
    let (orders, inboxes): (Vec<_>, Vec<_>) = (0..participants).map(|_| channel(1)).unzip();
    task::spawn(coordinate(orders, votes, all_done, outcome));
    for inbox in inboxes {
        task::spawn(participate(inbox, vote.clone(), done.clone()));
    }
    outcomes.recv().await.expect("the coordinator is there");
}

async fn participate(mut inbox: mpsc::Receiver<Order>, vote: mpsc::Sender<bool>, done: mpsc::Sender<()>) {
    assert_eq!(inbox.recv().await, Some(Order::Prepare));
    let yes = flip().await;
    vote.send(yes).await.expect("the coordinator is there");
    let order = inbox.recv().await;
    assert!(order != Some(Order::Commit) || yes);
    done.send(()).await.expect("the coordinator is there");
    checkpoint(&());
}

async fn coordinate(
    orders: Vec<mpsc::Sender<Order>>,
    mut votes: mpsc::Receiver<bool>,
    mut done: mpsc::Receiver<()>,
    outcome: mpsc::Sender<bool>,
) {
    for (at, order) in orders.iter().enumerate() {
        checkpoint(&(0, at));
        order.send(Order::Prepare).await.expect("the participant is there");
    }
    let mut all = true;
    for at in 0..orders.len() {
        checkpoint(&(1, at, all));
        all &= votes.recv().await.expect("a participant is there");
    }
    for (at, order) in orders.iter().enumerate() {
        checkpoint(&(2, at, all));
        order.send(if all { Order::Commit } else { Order::Abort }).await.expect("the participant is there");
    }
    for at in 0..orders.len() {
        checkpoint(&(3, at, all));
        done.recv().await.expect("a participant is there");
    }
    checkpoint(&(4, all));
    outcome.send(all).await.expect("the client is there");
}

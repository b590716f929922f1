//! Two-phase commit in which each vote says whose it is, so that there are many states: every order in which votes can wait is another.

use delay::{Payload, checkpoint, flip, sync::mpsc, task};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Message {
    Prepare,
    Vote(usize, bool),
    Decide(bool),
}

type Inbox = mpsc::UnboundedReceiver<Message>;
type Outbox = mpsc::UnboundedSender<Message>;

fn channel() -> (Outbox, Inbox) {
    mpsc::unbounded_channel_with(Payload::visible())
}

pub(crate) async fn named_votes(participants: usize) {
    let (vote, votes) = channel();
    let (outcome, mut outcomes) = channel();
    let mut orders = Vec::new();
    for me in 0..participants {
        let (order, inbox) = channel();
        orders.push(order);
        task::spawn(participate(me, inbox, vote.clone()));
    }
    task::spawn(coordinate(orders, votes, outcome));
    outcomes.recv().await.expect("the coordinator is there");
}

async fn participate(me: usize, mut inbox: Inbox, vote: Outbox) {
    assert_eq!(inbox.recv().await, Some(Message::Prepare));
    let yes = flip().await;
    task::yield_now().await;
    vote.send(Message::Vote(me, yes)).expect("the coordinator is there");
    let order = inbox.recv().await;
    assert!(order != Some(Message::Decide(true)) || yes);
}

async fn coordinate(orders: Vec<Outbox>, mut votes: Inbox, outcome: Outbox) {
    for order in &orders {
        task::yield_now().await;
        order.send(Message::Prepare).expect("the participant is there");
    }
    let mut all = true;
    for at in 0..orders.len() {
        checkpoint(&(at, all));
        all &= matches!(votes.recv().await, Some(Message::Vote(_, true)));
    }
    checkpoint(&all);
    for order in &orders {
        task::yield_now().await;
        order.send(Message::Decide(all)).expect("the participant is there");
    }
    task::yield_now().await;
    outcome.send(Message::Decide(all)).expect("the client is there");
}

//! One transaction: a client asks a coordinator, who asks all participants and tells them what was decided.

use crate::peer::Peer;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    Prepare,
    Decide(bool),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Begin,
    Vote(bool),
}

pub async fn two_phase_commit<P: Peer>(participants: usize) {
    let (to_coordinator, mut answers) = P::channel::<Answer>();
    let (to_client, mut decisions) = P::channel::<bool>();
    let mut orders = Vec::new();
    for _ in 0..participants {
        let (order, mut ordered) = P::channel::<Order>();
        orders.push(order);
        let to_coordinator = to_coordinator.clone();
        P::spawn(async move {
            assert_eq!(P::recv(&mut ordered).await, Order::Prepare);
            P::send(&to_coordinator, Answer::Vote(true)).await;
            assert_eq!(P::recv(&mut ordered).await, Order::Decide(true));
        });
    }
    P::spawn(async move {
        assert_eq!(P::recv(&mut answers).await, Answer::Begin);
        for order in &orders {
            P::send(order, Order::Prepare).await;
        }
        let mut commits = true;
        for _ in &orders {
            commits &= P::recv(&mut answers).await == Answer::Vote(true);
        }
        for order in &orders {
            P::send(order, Order::Decide(commits)).await;
        }
        P::send(&to_client, commits).await;
    });
    P::send(&to_coordinator, Answer::Begin).await;
    assert!(P::recv(&mut decisions).await);
}

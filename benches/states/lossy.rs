//! Two-phase commit over a network that may lose a message: the coordinator waits for a vote until a time has passed, and participants for a
//! decision.

use delay::{
    Payload, checkpoint,
    net::{Address, Delivery, Endpoint, Network},
    task,
    time::timeout,
};
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Message {
    Prepare,
    Yes,
    Decide(bool),
}

const PATIENCE: Duration = Duration::from_millis(10);

pub(crate) async fn lossy(participants: usize) {
    let net = Network::with_payload(Delivery::Fifo, Payload::visible());
    let coordinator = net.endpoint("coordinator");
    let endpoints: Vec<Endpoint<Message>> = (0..participants).map(|me| net.endpoint(format!("{me}"))).collect();
    let addresses: Vec<Address> = endpoints.iter().map(Endpoint::address).collect();
    for endpoint in endpoints {
        task::spawn(participate(endpoint, coordinator.address()));
    }
    coordinate(coordinator, addresses).await;
}

async fn coordinate(mut endpoint: Endpoint<Message>, participants: Vec<Address>) {
    for participant in &participants {
        let _ = endpoint.send(*participant, Message::Prepare).await;
    }
    let mut all = true;
    for at in 0..participants.len() {
        checkpoint(&(at, all));
        all &= timeout(PATIENCE, endpoint.recv()).await.is_ok();
    }
    for participant in participants {
        // Whoever has waited too long is gone.
        let _ = endpoint.send(participant, Message::Decide(all)).await;
    }
    checkpoint(&());
}

async fn participate(mut endpoint: Endpoint<Message>, coordinator: Address) {
    endpoint.recv().await;
    let _ = endpoint.send(coordinator, Message::Yes).await;
    let decided = timeout(10 * PATIENCE, endpoint.recv()).await;
    assert_ne!(decided.map(|envelope| envelope.message), Ok(Message::Prepare));
    drop(endpoint);
    checkpoint(&());
}

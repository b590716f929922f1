//! Two-phase commit as one writes it for deployment: endpoints of a network, and a monitor that hears what is voted and done.

use delay::{
    Payload, announce, checkpoint, flip,
    monitor::{self, Monitor},
    net::{Address, Delivery, Endpoint, Network},
    task,
};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Message {
    Prepare,
    Vote(bool),
    Decide(bool),
    Done,
}

/// Nobody does what somebody voted against.
#[derive(Default, Hash)]
struct Atomicity {
    refused: bool,
    done: bool,
}

impl Monitor for Atomicity {
    type Event = Message;

    fn on(&mut self, event: &Message) -> Result<(), String> {
        self.refused |= *event == Message::Vote(false);
        self.done |= *event == Message::Decide(true);
        if self.refused && self.done { Err("it was done, and somebody had voted against".to_owned()) } else { Ok(()) }
    }
}

pub(crate) async fn networked(participants: usize) {
    monitor::register(Atomicity::default());
    let net = Network::with_payload(Delivery::PerSender, Payload::visible());
    let mut coordinator = net.endpoint("coordinator");
    let endpoints: Vec<Endpoint<Message>> = (0..participants).map(|me| net.endpoint(format!("{me}"))).collect();
    let addresses: Vec<Address> = endpoints.iter().map(Endpoint::address).collect();
    for endpoint in endpoints {
        task::spawn(participate(endpoint, coordinator.address()));
    }
    for (at, address) in addresses.iter().enumerate() {
        checkpoint(&(0, at));
        coordinator.send(*address, Message::Prepare).await.expect("the participant is there");
    }
    let mut all = true;
    for at in 0..participants {
        checkpoint(&(1, at, all));
        all &= coordinator.recv().await.message == Message::Vote(true);
    }
    for (at, address) in addresses.iter().enumerate() {
        checkpoint(&(2, at, all));
        coordinator.send(*address, Message::Decide(all)).await.expect("the participant is there");
    }
    for at in 0..participants {
        checkpoint(&(3, at, all));
        coordinator.recv().await;
    }
    checkpoint(&());
}

async fn participate(mut endpoint: Endpoint<Message>, coordinator: Address) {
    endpoint.recv().await;
    let vote = Message::Vote(flip().await);
    announce(vote);
    endpoint.send(coordinator, vote).await.expect("the coordinator is there");
    let decided = endpoint.recv().await.message;
    announce(decided);
    endpoint.send(coordinator, Message::Done).await.expect("the coordinator is there");
    drop(endpoint);
    checkpoint(&());
}

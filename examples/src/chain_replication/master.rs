//! Who mends the chain, and who uses it.

use super::{
    Progress, Value,
    protocol::{Message, Request},
};
use delay::{
    announce, checkpoint,
    net::{Address, Endpoint},
};
use std::collections::VecDeque;

/// Takes failed servers out of the chain, one after the other, and tells the clients.
///
/// Assumption: it does not fail itself, and neither do the two neighbours of a failed server before they are joined.
#[derive(Debug)]
pub struct Master {
    endpoint: Endpoint<Message>,
    state: State,
}

/// All that what the master does next depends on.
#[derive(PartialEq, Eq, Hash, Debug)]
struct State {
    /// From head to tail.
    chain: Vec<Address>,
    clients: Vec<Address>,
    /// Failed and still in the chain.
    failed: VecDeque<Address>,
}

impl Master {
    /// The master of a chain, from head to tail, and its clients.
    pub fn new(endpoint: Endpoint<Message>, chain: Vec<Address>, clients: Vec<Address>) -> Self {
        Self { endpoint, state: State { chain, clients, failed: VecDeque::new() } }
    }

    /// Mends the chain for as long as there is one.
    pub async fn serve(mut self) {
        loop {
            checkpoint(&self.state);
            match self.state.failed.pop_front() {
                Some(server) => self.mend(server).await,
                None => drop(self.hear().await),
            }
        }
    }

    async fn mend(&mut self, failed: Address) {
        let chain = &mut self.state.chain;
        let Some(place) = chain.iter().position(|server| *server == failed) else { return };
        chain.remove(place);
        let before = place.checked_sub(1).map(|before| chain[before]);
        let after = chain.get(place).copied();
        match (before, after) {
            (None, None) => return,
            (None, Some(head)) => self.order(head, Message::BecomeHead).await,
            (Some(tail), None) => self.order(tail, Message::BecomeTail).await,
            (Some(before), Some(after)) => self.join(before, after).await,
        }
        let (head, tail) = (self.state.chain[0], self.state.chain[self.state.chain.len() - 1]);
        for client in &self.state.clients {
            let _ = self.endpoint.send(*client, Message::Chain(head, tail)).await;
        }
    }

    /// Joins the two servers around a gap.
    async fn join(&mut self, before: Address, after: Address) {
        let _ = self.endpoint.send(after, Message::NewPredecessor(before)).await;
        if let Message::Reached(has, acknowledged) = self.answer().await {
            self.order(before, Message::NewSuccessor(after, has, acknowledged)).await;
        }
    }

    async fn order(&mut self, server: Address, order: Message) {
        let _ = self.endpoint.send(server, order).await;
        let _ = self.answer().await;
    }

    async fn answer(&mut self) -> Message {
        loop {
            if let Some(answer) = self.hear().await {
                return answer;
            }
        }
    }

    /// The next message, unless it is about a failure: that is put on the list.
    async fn hear(&mut self) -> Option<Message> {
        match self.endpoint.recv().await.message {
            Message::Failed(server) => {
                self.state.failed.push_back(server);
                None
            }
            answer => Some(answer),
        }
    }
}

/// Writes and reads the register.
#[derive(Debug)]
pub struct Client {
    endpoint: Endpoint<Message>,
    head: Address,
    tail: Address,
    request: Request,
}

impl Client {
    /// A client of the chain between these two.
    pub fn new(endpoint: Endpoint<Message>, head: Address, tail: Address) -> Self {
        Self { endpoint, head, tail, request: 0 }
    }

    /// Writes the register. Once this returns, the value is not lost as long as one server is left.
    pub async fn write(&mut self, value: Value) {
        self.request += 1;
        let request = self.request;
        loop {
            self.send(self.head, Message::Write(request, value)).await;
            if let Some(Message::Written(_)) = self.answer().await {
                announce(Progress::Wrote { value });
                return;
            }
        }
    }

    /// Reads the register.
    pub async fn read(&mut self) -> Option<Value> {
        self.request += 1;
        let request = self.request;
        loop {
            self.send(self.tail, Message::Read(request)).await;
            if let Some(Message::Holds(_, value)) = self.answer().await {
                announce(Progress::Read { value });
                return value;
            }
        }
    }

    /// The answer to the last request; none if the chain has changed and it must be asked again.
    async fn answer(&mut self) -> Option<Message> {
        loop {
            match self.endpoint.recv().await.message {
                Message::Chain(head, tail) => {
                    (self.head, self.tail) = (head, tail);
                    return None;
                }
                answer @ (Message::Written(request) | Message::Holds(request, _)) if request == self.request => {
                    return Some(answer);
                }
                _ => {} // The answer to an earlier request, given twice.
            }
        }
    }

    async fn send(&self, to: Address, message: Message) {
        // What is sent to a server that has stopped is lost, and the master will say so.
        let _ = self.endpoint.send(to, message).await;
    }
}

//! What a server of the chain does.
//!
//! An update goes down the chain from the head; at the tail it is done, and an acknowledgement goes back up. What a
//! server has passed on and not seen acknowledged it keeps, to send it again should its successor fail.

use super::{Bug, Progress};
use delay::{
    announce, checkpoint,
    net::{Address, Endpoint},
};
use std::{collections::VecDeque, fmt};

/// What the register holds.
pub type Value = u32;

/// Numbers the updates in the order of the head, from 1.
pub type Sequence = usize;

/// Numbers the requests of a client.
pub type Request = u32;

/// An update on its way down the chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Update {
    /// Its place among the updates.
    pub sequence: Sequence,
    /// Who wants it.
    pub client: Address,
    /// As which request.
    pub request: Request,
    /// What it writes.
    pub value: Value,
}

impl fmt::Debug for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sequence, client, request, value } = self;
        write!(f, "#{sequence}: {value} for {client}'s request {request}")
    }
}

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Message {
    /// Client to head.
    Write(Request, Value),
    /// To the client: it is written.
    Written(Request),
    /// Client to tail.
    Read(Request),
    /// Tail to client; nothing if nothing was written yet.
    Holds(Request, Option<Value>),

    /// Down the chain.
    Forward(Update),
    /// Up the chain: all updates up to this one have reached the tail.
    Acknowledge(Sequence),

    /// Failure detector to master: this server has stopped.
    Failed(Address),
    /// Master to server: there is nobody before you any more.
    BecomeHead,
    /// Master to server: there is nobody after you any more.
    BecomeTail,
    /// Master to server: this is before you now.
    NewPredecessor(Address),
    /// Server to master, in answer to that: its last update, and the last of them it knows to have reached the tail.
    Reached(Sequence, Sequence),
    /// Master to server: this is after you now, and what it has reached.
    NewSuccessor(Address, Sequence, Sequence),
    /// Server to master, in answer to the other orders.
    Ready,
    /// Master to client: head and tail.
    Chain(Address, Address),
}

/// One server.
#[derive(Debug)]
pub struct Server {
    endpoint: Endpoint<Message>,
    state: State,
}

/// All that what a server does next depends on.
#[derive(PartialEq, Eq, Hash, Debug)]
struct State {
    predecessor: Option<Address>,
    successor: Option<Address>,
    register: Option<Value>,
    /// Every update so far; its number is its place.
    history: Vec<Update>,
    /// Those of them that are not known to have reached the tail. Invariant: the end of `history`; empty at the tail.
    sent: VecDeque<Update>,
    bug: Bug,
}

impl Server {
    /// A server between these two; the head has nobody before it, the tail nobody after.
    pub fn new(
        endpoint: Endpoint<Message>,
        predecessor: Option<Address>,
        successor: Option<Address>,
        bug: Bug,
    ) -> Self {
        let (register, history, sent) = (None, Vec::new(), VecDeque::new());
        Self { endpoint, state: State { predecessor, successor, register, history, sent, bug } }
    }

    /// Serves clients, neighbours and the master.
    pub async fn serve(mut self) {
        loop {
            checkpoint(&self.state);
            let request = self.endpoint.recv().await;
            let (from, state) = (request.from, &mut self.state);
            match request.message {
                Message::Write(number, value) => self.write(from, number, value).await,
                Message::Read(number) => {
                    let holds = Message::Holds(number, state.register);
                    self.send(from, holds).await;
                }
                Message::Forward(update) => {
                    if state.predecessor == Some(from) || state.bug == Bug::TakesFromAnybody {
                        self.apply(update).await;
                    }
                }
                Message::Acknowledge(sequence) => self.acknowledge(sequence).await,
                Message::BecomeHead => {
                    state.predecessor = None;
                    self.send(from, Message::Ready).await;
                }
                Message::BecomeTail => {
                    self.become_tail().await;
                    self.send(from, Message::Ready).await;
                }
                Message::NewPredecessor(predecessor) => self.follow(from, predecessor).await,
                Message::NewSuccessor(successor, has, acknowledged) => {
                    self.lead(successor, has, acknowledged).await;
                    self.send(from, Message::Ready).await;
                }
                // Not for a server.
                Message::Written(_)
                | Message::Holds(..)
                | Message::Failed(_)
                | Message::Reached(..)
                | Message::Ready
                | Message::Chain(..) => {}
            }
        }
    }

    /// At the head: a client's update. One that asks again is not carried out again.
    async fn write(&mut self, client: Address, request: Request, value: Value) {
        let State { history, sent, .. } = &self.state;
        let sequence = history.len() + 1;
        let is_same = |update: &&Update| update.client == client && update.request == request;
        match history.iter().find(is_same) {
            None => self.apply(Update { sequence, client, request, value }).await,
            Some(update) if sent.contains(update) => {} // On its way: the tail will answer.
            Some(_) => self.send(client, Message::Written(request)).await,
        }
    }

    /// Carries out an update, and passes it on.
    async fn apply(&mut self, update: Update) {
        let State { predecessor, successor, register, history, sent, bug } = &mut self.state;
        history.push(update);
        if *bug != Bug::HeadForgets || predecessor.is_some() {
            *register = Some(update.value);
        }
        let (successor, server) = (*successor, self.endpoint.address());
        announce(Progress::Applied { server, sequence: update.sequence, value: update.value });
        if let Some(successor) = successor {
            sent.push_back(update);
            self.send(successor, Message::Forward(update)).await;
        } else {
            self.finish(update).await;
        }
    }

    /// At the tail: an update is done.
    async fn finish(&self, update: Update) {
        self.send(update.client, Message::Written(update.request)).await;
        self.send_up(Message::Acknowledge(update.sequence)).await;
    }

    async fn acknowledge(&mut self, sequence: Sequence) {
        self.state.sent.retain(|update| update.sequence > sequence);
        self.send_up(Message::Acknowledge(sequence)).await;
    }

    /// What was only passed on so far is done now.
    async fn become_tail(&mut self) {
        self.state.successor = None;
        if self.state.bug == Bug::KeepsSent {
            return;
        }
        while let Some(update) = self.state.sent.pop_front() {
            self.finish(update).await;
        }
    }

    async fn follow(&mut self, master: Address, predecessor: Address) {
        self.state.predecessor = Some(predecessor);
        let State { history, sent, bug, .. } = &self.state;
        if *bug == Bug::SilentIfEmpty && history.is_empty() {
            return;
        }
        let reached = Message::Reached(history.len(), history.len() - sent.len());
        self.send(master, reached).await;
    }

    /// Sends a new successor what it does not have.
    async fn lead(&mut self, successor: Address, has: Sequence, acknowledged: Sequence) {
        self.state.successor = Some(successor);
        if acknowledged > 0 {
            self.acknowledge(acknowledged).await;
        }
        let sent = &self.state.sent;
        let missing: Vec<Update> = if self.state.bug == Bug::IndexesEmptySent {
            let first = sent[0].sequence;
            sent.iter().skip((has + 1).saturating_sub(first)).copied().collect()
        } else {
            sent.iter().filter(|update| update.sequence > has).copied().collect()
        };
        for update in missing {
            self.send(successor, Message::Forward(update)).await;
        }
    }

    async fn send_up(&self, message: Message) {
        if let Some(predecessor) = self.state.predecessor {
            self.send(predecessor, message).await;
        }
    }

    async fn send(&self, to: Address, message: Message) {
        // What is sent to a server that has stopped is lost, and the master will see to it.
        let _ = self.endpoint.send(to, message).await;
    }
}

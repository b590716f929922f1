//! Runs a replica: a protocol's state machine, over a network, a log and a clock.
//!
//! A protocol changes in memory what it likes; what must outlast a crash it puts down as records, and what others may only be told
//! when those are durable it says after that. All that has queued up is dealt with at once: one sync does for many requests.

use super::{
    Answer, BATCH_BYTES_MAX, Message, MessageOf, Request, Ticket,
    clock::{Clock, Event, Ticks},
    machine::{Data, Machine},
};
use delay::{
    Payload, checkpoint,
    net::{Address, Endpoint, Envelope},
    storage::Log,
};
use serde::{Deserialize, Serialize};
use std::hash::Hash;

/// A replica's place in the list that all have. Never another replica's, as long as anything is stored.
pub type Id = u16;

/// Most ops that are sent, or stored, together.
pub const BATCH_OPS_MAX: usize = 1 << 10;

/// Who is who in a group: the same lists everywhere.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Group {
    /// By their ids.
    pub replicas: Vec<Address>,
    /// By the `via` of requests.
    pub dispatchers: Vec<Address>,
}

impl Group {
    /// The replica at this address.
    pub fn id_of(&self, address: Address) -> Option<Id> {
        self.replicas.iter().position(|replica| *replica == address).map(|place| place as Id)
    }
}

/// How a replica is run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Settings {
    /// When it is woken.
    pub ticks: Ticks,
    /// How many messages it deals with at once, at most.
    pub messages_max: usize,
}

impl Settings {
    /// For a test: woken so many times, one message at a time.
    pub fn small(ticks: u32) -> Self {
        Self { ticks: Ticks::times(ticks), messages_max: 1 }
    }
}

/// What a protocol wants stored and sent.
#[derive(Debug)]
pub struct Out<M: Machine, R> {
    records: Vec<R>,
    needs_sync: bool,
    messages: Vec<(Address, MessageOf<M>)>,
}

impl<M: Machine, R> Out<M, R> {
    fn new() -> Self {
        Self { records: Vec::new(), needs_sync: false, messages: Vec::new() }
    }

    /// To be durable before [`Protocol::settle`].
    pub fn store(&mut self, record: R) {
        self.records.push(record);
        self.needs_sync = true;
    }

    /// To be durable some time.
    pub fn store_lazily(&mut self, record: R) {
        self.records.push(record);
    }

    /// Sends a message: before anything is stored, if that is asked for in [`Protocol::flush`] or earlier.
    pub fn send(&mut self, to: Address, message: MessageOf<M>) {
        self.messages.push((to, message));
    }

    /// Sends what came of a request to the dispatcher that waits for it.
    pub fn answer(&mut self, group: &Group, via: u16, answer: Answer<M::Ret>) {
        if let Some(dispatcher) = group.dispatchers.get(usize::from(via)) {
            self.send(*dispatcher, Message::Answer(answer));
        }
    }
}

/// How far a replica is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Status {
    /// The number of its view, or the round of the ballot it has promised.
    pub epoch: u64,
    /// Whether it takes part: it is full, in its view; it leads, or has heard of a leader.
    pub is_in: bool,
    /// How many requests, or batches of them, it has carried out.
    pub applied: u64,
    /// Stands for what these have led to: the same for the same.
    pub digest: u64,
}

/// What replicas of one kind do. The value is what one of them knows.
pub trait Protocol<M: Machine>: Hash + Send + 'static {
    /// What it stores.
    type Record: Data;

    /// Begins with what it had stored: nothing, at the first start.
    fn restore(&mut self, records: Vec<Self::Record>);

    /// How far it is.
    fn status(&self) -> Status;

    /// Takes note of a message.
    fn receive(&mut self, from: Address, message: MessageOf<M>, out: &mut Out<M, Self::Record>);

    /// Takes note that time has passed.
    fn tick(&mut self, out: &mut Out<M, Self::Record>);

    /// Says what is to be stored, and what can be sent before that is done.
    fn flush(&mut self, out: &mut Out<M, Self::Record>);

    /// Says what can be sent now that all of it is stored. Stores nothing.
    fn settle(&mut self, out: &mut Out<M, Self::Record>);
}

/// Runs a replica on the node of the running task, from what that has stored.
pub async fn run<M: Machine, P: Protocol<M>>(
    mut endpoint: Endpoint<MessageOf<M>>,
    mut protocol: P,
    settings: Settings,
) {
    let log = Log::<P::Record>::with_payload("log", Payload::visible());
    protocol.restore(log.read().await.records);
    let mut clock = Clock::start(settings.ticks);
    loop {
        checkpoint(&(&protocol, clock.left()));
        let mut out = Out::new();
        let mut event = clock.next(&mut endpoint).await;
        let mut messages_left = settings.messages_max;
        loop {
            match event {
                Event::Tick => protocol.tick(&mut out),
                Event::Message(Envelope { from, message: Message::Ask }) => {
                    out.send(from, Message::Status(protocol.status()));
                }
                Event::Message(Envelope { from, message }) => protocol.receive(from, message, &mut out),
            }
            messages_left -= 1;
            if messages_left == 0 {
                break;
            }
            let Some(next) = endpoint.try_recv() else { break };
            event = Event::Message(next);
        }
        protocol.flush(&mut out);
        send(&endpoint, &mut out).await;
        for record in out.records.drain(..) {
            log.append(record).await;
        }
        if out.needs_sync {
            log.sync().await;
        }
        protocol.settle(&mut out);
        send(&endpoint, &mut out).await;
    }
}

async fn send<M: Machine, R>(endpoint: &Endpoint<MessageOf<M>>, out: &mut Out<M, R>) {
    for (to, message) in out.messages.drain(..) {
        // Whoever is gone is as one who does not answer.
        let _ = endpoint.send(to, message).await;
    }
}

/// How many of these requests can be sent together: at least one, if there is one.
pub fn batch<'a, M: Machine>(requests: impl IntoIterator<Item = &'a Request<M::Op>>) -> usize {
    let mut room = BATCH_BYTES_MAX;
    let mut count = 0;
    for request in requests {
        // What is around an op: names, numbers.
        let bytes = M::bytes(&request.op) + request.ticket.client.len() + 64;
        if count == BATCH_OPS_MAX || (count > 0 && bytes > room) {
            break;
        }
        room = room.saturating_sub(bytes);
        count += 1;
    }
    count
}

/// Whether the request with this ticket is among these.
pub fn has_ticket<'a, Op: 'a>(requests: impl IntoIterator<Item = &'a Request<Op>>, ticket: &Ticket) -> bool {
    requests.into_iter().any(|request| request.ticket == *ticket)
}

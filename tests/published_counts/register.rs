//! A register that clients write and read: their messages, what they keep in mind, and the history of their calls.
//!
//! Each client writes once, then reads once, from the next server. The history is what decides linearizability: for
//! each client its calls that returned and the one that did not, and with each call how many calls of every other client
//! had returned when it began.

use crate::actors::Out;
use std::collections::BTreeMap;

pub(crate) type Request = u64;
pub(crate) type Value = char;

/// A message of a protocol that keeps a register; `M` is what its servers say to each other.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Message<M> {
    Internal(M),
    Put(Request, Value),
    Get(Request),
    PutOk(Request),
    GetOk(Request, Value),
}

/// An actor of such a protocol.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Actor<S> {
    Server(S),
    Client(Client),
}

/// What a client keeps in mind.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Client {
    awaiting: Option<Request>,
    calls: u64,
}

/// The initial state of a client that is the n-th actor, and what it sends.
pub(crate) fn start<S, M>(me: usize, servers: usize) -> (Actor<S>, Out<Message<M>>) {
    let request = me as Request;
    let value = ('A'..='Z').nth(me - servers).expect("few clients");
    (Actor::Client(Client { awaiting: Some(request), calls: 1 }), vec![(me % servers, Message::Put(request, value))])
}

impl Client {
    pub(crate) fn react<M>(&mut self, me: usize, servers: usize, message: &Message<M>) -> Option<Out<Message<M>>> {
        let out = match message {
            Message::PutOk(request) if self.awaiting == Some(*request) => {
                let next = (self.calls + 1) * me as Request;
                self.awaiting = Some(next);
                vec![((me + 1) % servers, Message::Get(next))]
            }
            Message::GetOk(request, _) if self.awaiting == Some(*request) => {
                self.awaiting = None;
                Vec::new()
            }
            _ => return None,
        };
        self.calls += 1;
        Some(out)
    }
}

/// What a client called, or was returned.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Event {
    Write(usize, Value),
    Read(usize),
    WriteOk(usize),
    ReadOk(usize, Value),
}

impl Event {
    fn client(self) -> usize {
        let (Self::Write(client, _) | Self::Read(client) | Self::WriteOk(client) | Self::ReadOk(client, _)) = self;
        client
    }
}

/// What a sent message is to the history.
pub(crate) fn sent<M>(from: usize, message: &Message<M>) -> Option<Event> {
    match message {
        Message::Put(_, value) => Some(Event::Write(from, *value)),
        Message::Get(_) => Some(Event::Read(from)),
        Message::Internal(_) | Message::PutOk(_) | Message::GetOk(..) => None,
    }
}

/// What a received message is to the history.
pub(crate) fn received<M>(by: usize, message: &Message<M>) -> Option<Event> {
    match message {
        Message::PutOk(_) => Some(Event::WriteOk(by)),
        Message::GetOk(_, value) => Some(Event::ReadOk(by, *value)),
        Message::Internal(_) | Message::Put(..) | Message::Get(_) => None,
    }
}

/// A call, with how many calls of each other client had returned when it began.
type Call = (BTreeMap<usize, usize>, Event);

/// The history of all calls.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub(crate) struct History {
    returned: BTreeMap<usize, Vec<(Call, Event)>>,
    under_way: BTreeMap<usize, Call>,
}

impl History {
    pub(crate) fn add(&mut self, event: Event) {
        let client = event.client();
        match event {
            Event::Write(..) | Event::Read(_) => {
                let others = self.returned.iter().filter(|(other, calls)| **other != client && !calls.is_empty());
                let before = others.map(|(other, calls)| (*other, calls.len())).collect();
                self.returned.entry(client).or_default();
                let other = self.under_way.insert(client, (before, event));
                assert_eq!(other, None, "a client makes one call at a time");
            }
            Event::WriteOk(_) | Event::ReadOk(..) => {
                let call = self.under_way.remove(&client).expect("it was called");
                self.returned.entry(client).or_default().push((call, event));
            }
        }
    }
}

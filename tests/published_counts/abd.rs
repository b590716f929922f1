//! The replicated register of Attiya, Bar-Noy and Dolev, "Sharing Memory Robustly in Message-Passing Systems".
//!
//! A server that is asked first queries a majority for the newest value, then has a majority record what is written, or
//! read. It serves one client at a time.

use crate::{
    actors::{Out, Protocol},
    register::{self, Actor, Event, Message, Request, Value},
};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy)]
pub(crate) struct Abd {
    pub(crate) clients: usize,
    pub(crate) servers: usize,
}

/// How new a value is: a count, then who wrote it.
type Seq = (u64, usize);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Internal {
    Query(Request),
    AckQuery(Request, Seq, Value),
    Record(Request, Seq, Value),
    AckRecord(Request),
}
use Internal::{AckQuery, AckRecord, Query, Record};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Server {
    seq: Seq,
    value: Value,
    serving: Option<(Request, usize, Phase)>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Phase {
    /// What is to be written, if anything, and the answers so far.
    Query(Option<Value>, BTreeMap<usize, (Seq, Value)>),
    /// What was read, if anything, and who has it recorded.
    Record(Option<Value>, BTreeSet<usize>),
}

impl Abd {
    fn majority(self) -> usize {
        self.servers / 2 + 1
    }

    fn to_peers(self, me: usize, message: &Internal) -> Out<Message<Internal>> {
        let peers = (0..self.servers).filter(|peer| *peer != me);
        peers.map(|peer| (peer, Message::Internal(message.clone()))).collect()
    }

    fn serve(
        self,
        me: usize,
        server: &mut Server,
        from: usize,
        message: &Message<Internal>,
    ) -> Option<Out<Message<Internal>>> {
        match message {
            Message::Put(request, _) | Message::Get(request) if server.serving.is_none() => {
                let written = if let Message::Put(_, value) = message { Some(*value) } else { None };
                let answers = BTreeMap::from([(me, (server.seq, server.value))]);
                server.serving = Some((*request, from, Phase::Query(written, answers)));
                Some(self.to_peers(me, &Query(*request)))
            }
            Message::Internal(internal) => self.serve_peer(me, server, from, internal),
            Message::Put(..) | Message::Get(_) | Message::PutOk(_) | Message::GetOk(..) => None,
        }
    }

    fn serve_peer(
        self,
        me: usize,
        server: &mut Server,
        from: usize,
        message: &Internal,
    ) -> Option<Out<Message<Internal>>> {
        let majority = self.majority();
        match message {
            Query(request) => Some(vec![(from, Message::Internal(AckQuery(*request, server.seq, server.value)))]),
            Record(request, seq, value) => {
                server.record(*seq, *value);
                Some(vec![(from, Message::Internal(AckRecord(*request)))])
            }
            AckQuery(of, seq, value) => {
                let Some((request, _, phase)) = &mut server.serving else { return None };
                let Phase::Query(written, answers) = phase else { return None };
                if of != request {
                    return None;
                }
                answers.insert(from, (*seq, *value));
                if answers.len() != majority {
                    return Some(Vec::new());
                }
                let (newest, value) = *answers.values().max().expect("its own is there");
                let (seq, value, read) = match written {
                    Some(written) => ((newest.0 + 1, me), *written, None),
                    None => (newest, value, Some(value)),
                };
                let out = self.to_peers(me, &Record(*request, seq, value));
                *phase = Phase::Record(read, BTreeSet::from([me]));
                server.record(seq, value);
                Some(out)
            }
            AckRecord(of) => {
                let Some((request, client, Phase::Record(read, recorded))) = &mut server.serving else { return None };
                if of != request || !recorded.insert(from) {
                    return None;
                }
                if recorded.len() != majority {
                    return Some(Vec::new());
                }
                let answer = read.map_or(Message::PutOk(*request), |value| Message::GetOk(*request, value));
                let out = vec![(*client, answer)];
                server.serving = None;
                Some(out)
            }
        }
    }
}

impl Server {
    fn record(&mut self, seq: Seq, value: Value) {
        if seq > self.seq {
            (self.seq, self.value) = (seq, value);
        }
    }
}

impl Protocol for Abd {
    type State = Actor<Server>;
    type Message = Message<Internal>;

    fn start(self) -> Vec<(Self::State, Out<Self::Message>)> {
        let server = |me| (Actor::Server(Server { seq: (0, me), value: '\0', serving: None }), Vec::new());
        let clients = (self.servers..self.servers + self.clients).map(|me| register::start(me, self.servers));
        (0..self.servers).map(server).chain(clients).collect()
    }

    fn react(
        self,
        me: usize,
        state: &mut Self::State,
        from: usize,
        message: &Self::Message,
    ) -> Option<Out<Self::Message>> {
        match state {
            Actor::Server(server) => self.serve(me, server, from, message),
            Actor::Client(client) => client.react(me, self.servers, message),
        }
    }

    fn sent(from: usize, message: &Self::Message) -> Option<Event> {
        register::sent(from, message)
    }

    fn received(by: usize, message: &Self::Message) -> Option<Event> {
        register::received(by, message)
    }
}

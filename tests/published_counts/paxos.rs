//! Single-decree Paxos: a server that is asked to write a value proposes it, once; what was decided can be read.
//!
//! A server is proposer and acceptor in one, and what it would send to itself it does at once.

use crate::{
    actors::{Out, Protocol},
    register::{self, Actor, Event, Message, Request, Value},
};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy)]
pub(crate) struct Paxos {
    pub(crate) clients: usize,
    pub(crate) servers: usize,
}

/// A round, then who leads it.
type Ballot = (u32, usize);
/// The request, the client who made it, and its value.
type Proposal = (Request, usize, Value);
type Accepted = Option<(Ballot, Proposal)>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Internal {
    Prepare(Ballot),
    Prepared(Ballot, Accepted),
    Accept(Ballot, Proposal),
    Accepted(Ballot),
    Decided(Ballot, Proposal),
}

#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Server {
    ballot: Ballot,
    /// As the leader of its ballot.
    proposal: Option<Proposal>,
    promises: BTreeMap<usize, Accepted>,
    accepts: BTreeSet<usize>,
    /// As an acceptor.
    accepted: Accepted,
    is_decided: bool,
}

impl Paxos {
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
            Message::Get(request) => {
                let (_, (_, _, value)) = server.accepted.filter(|_| server.is_decided)?;
                Some(vec![(from, Message::GetOk(*request, value))])
            }
            // Who has decided only answers reads.
            _ if server.is_decided => None,
            Message::Put(request, value) if server.proposal.is_none() => {
                server.proposal = Some((*request, from, *value));
                server.ballot = (server.ballot.0 + 1, me);
                server.promises = BTreeMap::from([(me, server.accepted)]);
                server.accepts.clear();
                Some(self.to_peers(me, &Internal::Prepare(server.ballot)))
            }
            Message::Internal(internal) => self.serve_peer(me, server, from, internal),
            Message::Put(..) | Message::PutOk(_) | Message::GetOk(..) => None,
        }
    }

    fn serve_peer(
        self,
        me: usize,
        server: &mut Server,
        from: usize,
        message: &Internal,
    ) -> Option<Out<Message<Internal>>> {
        match message {
            Internal::Prepare(ballot) if server.ballot < *ballot => {
                server.ballot = *ballot;
                Some(vec![(from, Message::Internal(Internal::Prepared(*ballot, server.accepted)))])
            }
            Internal::Prepared(ballot, accepted) if server.ballot == *ballot => {
                server.promises.insert(from, *accepted);
                if server.promises.len() != self.majority() {
                    return Some(Vec::new());
                }
                // What was accepted last binds the leader.
                let bound = server.promises.values().max().copied().flatten().map(|(_, proposal)| proposal);
                let proposal = bound.or(server.proposal).expect("it leads the ballot");
                server.proposal = Some(proposal);
                server.accepted = Some((*ballot, proposal));
                server.accepts.insert(me);
                Some(self.to_peers(me, &Internal::Accept(*ballot, proposal)))
            }
            Internal::Accept(ballot, proposal) if server.ballot <= *ballot => {
                server.ballot = *ballot;
                server.accepted = Some((*ballot, *proposal));
                Some(vec![(from, Message::Internal(Internal::Accepted(*ballot)))])
            }
            Internal::Accepted(ballot) if server.ballot == *ballot => {
                server.accepts.insert(from);
                if server.accepts.len() != self.majority() {
                    return Some(Vec::new());
                }
                server.is_decided = true;
                let proposal = server.proposal.expect("it leads the ballot");
                let mut out = self.to_peers(me, &Internal::Decided(*ballot, proposal));
                out.push((proposal.1, Message::PutOk(proposal.0)));
                Some(out)
            }
            Internal::Decided(ballot, proposal) => {
                server.ballot = *ballot;
                server.accepted = Some((*ballot, *proposal));
                server.is_decided = true;
                Some(Vec::new())
            }
            Internal::Prepare(_) | Internal::Prepared(..) | Internal::Accept(..) | Internal::Accepted(_) => None,
        }
    }
}

impl Protocol for Paxos {
    type State = Actor<Server>;
    type Message = Message<Internal>;

    fn start(self) -> Vec<(Self::State, Out<Self::Message>)> {
        let servers = (0..self.servers).map(|_| (Actor::Server(Server::default()), Vec::new()));
        let clients = (self.servers..self.servers + self.clients).map(|me| register::start(me, self.servers));
        servers.chain(clients).collect()
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

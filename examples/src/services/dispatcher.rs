//! The dispatcher: knows whom to ask, and asks on behalf of its clients.
//!
//! Source: the front ends of section 7.3 of the P report: a versioned copy of the membership. In a chain the head is to be asked, and the
//! master says who that is; of Multi-Paxos any replica, which passes it on. Nothing here has to be right: a request that
//! arrives twice is carried out once, and one that is lost is asked for again.

use super::{
    MessageOf, Request,
    chain::{self, View},
    clock::{Clock, Event, Ticks},
    machine::Machine,
};
use delay::{
    checkpoint,
    net::{Address, Endpoint},
};
use std::collections::BTreeMap;

/// Whom to ask.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Membership {
    /// The newest is the highest.
    pub version: u64,
    /// Any of these: one of them, until it does not answer.
    pub contacts: Vec<Address>,
}

/// Asks on behalf of its clients.
#[derive(Debug)]
pub struct Dispatcher<M: Machine> {
    endpoint: Endpoint<MessageOf<M>>,
    replicas: Vec<Address>,
    known: Known<M::Op>,
}

/// All that what a dispatcher does next depends on.
#[derive(PartialEq, Eq, Hash, Debug)]
struct Known<Op> {
    membership: Membership,
    /// Which of the contacts is asked.
    turn: usize,
    /// What each client waits for, and whether it was waiting at the last tick already.
    open: BTreeMap<Address, (Request<Op>, bool)>,
}

impl<M: Machine> Dispatcher<M> {
    /// A dispatcher for these replicas, by their ids. Any of them is asked, until a master says which.
    pub fn new(endpoint: Endpoint<MessageOf<M>>, replicas: Vec<Address>) -> Self {
        let membership = Membership { version: 0, contacts: replicas.clone() };
        Self { endpoint, replicas, known: Known { membership, turn: 0, open: BTreeMap::new() } }
    }

    /// Serves its clients.
    pub async fn serve(mut self, ticks: Ticks) {
        let mut clock = Clock::start(ticks);
        loop {
            checkpoint(&(&self.known, clock.left()));
            match clock.next(&mut self.endpoint).await {
                Event::Tick => self.ask_again().await,
                Event::Message(envelope) => match envelope.message {
                    MessageOf::<M>::Request(request) => self.ask(envelope.from, request).await,
                    MessageOf::<M>::Answer(answer) => {
                        let waiting = self.known.open.iter().find(|(_, (open, _))| open.ticket == answer.ticket);
                        if let Some(client) = waiting.map(|(client, _)| *client) {
                            self.known.open.remove(&client);
                            // A client that is gone does not wait.
                            let _ = self.endpoint.send(client, MessageOf::<M>::Answer(answer)).await;
                        }
                    }
                    MessageOf::<M>::Chain(chain::Message::Ping(view)) => self.learn(view).await,
                    // Not for a dispatcher.
                    MessageOf::<M>::Ask
                    | MessageOf::<M>::Status(_)
                    | MessageOf::<M>::Chain(_)
                    | MessageOf::<M>::Paxos(_) => {}
                },
            }
        }
    }

    async fn ask(&mut self, client: Address, request: Request<M::Op>) {
        self.known.open.insert(client, (request.clone(), false));
        self.send(request).await;
    }

    /// What nobody has answered for a while, somebody else may.
    async fn ask_again(&mut self) {
        let mut late = Vec::new();
        for (request, was_waiting) in self.known.open.values_mut() {
            if *was_waiting {
                late.push(request.clone());
            }
            *was_waiting = true;
        }
        if !late.is_empty() {
            self.known.turn += 1;
            self.known.turn %= self.known.membership.contacts.len().max(1);
        }
        for request in late {
            self.send(request).await;
        }
    }

    /// A newer membership: those who were asked before may not have answered.
    async fn learn(&mut self, view: View) {
        let is_newer = view.number > self.known.membership.version;
        let head = view.head().and_then(|head| self.replicas.get(usize::from(head)));
        let Some(head) = head.filter(|_| is_newer) else { return };
        let membership = Membership { version: view.number, contacts: vec![*head] };
        let had = std::mem::replace(&mut self.known.membership, membership);
        self.known.turn = 0;
        if had.contacts != self.known.membership.contacts {
            let open: Vec<_> = self.known.open.values().map(|(request, _)| request.clone()).collect();
            for request in open {
                self.send(request).await;
            }
        }
    }

    async fn send(&self, request: Request<M::Op>) {
        let Membership { contacts, .. } = &self.known.membership;
        if let Some(contact) = contacts.get(self.known.turn) {
            // One that is gone does not answer.
            let _ = self.endpoint.send(*contact, MessageOf::<M>::Request(request)).await;
        }
    }
}

//! What the dispatcher, the replicas and a client do.
//!
//! Messages may be reordered and are not lost. Somebody, who is not part of this, sends every new membership to the
//! dispatcher and to all replicas.

use super::{Bug, Executed, Service};
use delay::{
    announce, checkpoint,
    inbox::Inbox,
    net::{Address, Endpoint, Envelope},
    receive,
};
use std::collections::BTreeSet;

/// Who serves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Membership {
    /// The newest is the highest.
    pub version: u32,
    /// The replica that serves.
    pub head: Address,
}

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Message {
    /// To the dispatcher.
    Request(u32),
    /// To a replica: a request, in a version of the membership.
    Forward(u32, u32),
    /// To the dispatcher: the request is carried out.
    Done(u32),
    /// To the dispatcher: the request is not carried out, since this version is out of date.
    Refused(u32, u32),
    /// To the client: the request is carried out.
    Answer(u32),
    /// To the dispatcher and all replicas.
    Configure(Membership),
}

/// Finds the replica for each request of its client.
#[derive(Debug)]
pub struct Dispatcher {
    inbox: Inbox<Endpoint<Message>>,
    client: Address,
    known: Known,
}

/// With the deferred messages and its client, all that what a dispatcher does next depends on.
#[derive(Hash, Debug)]
struct Known {
    membership: Membership,
    /// Requests that are forwarded and not done.
    open: BTreeSet<u32>,
    bug: Bug,
}

impl Dispatcher {
    /// A dispatcher for a client.
    pub fn new(endpoint: Endpoint<Message>, client: Address, membership: Membership, bug: Bug) -> Self {
        Self { inbox: Inbox::new(endpoint), client, known: Known { membership, open: BTreeSet::new(), bug } }
    }

    /// Serves the client.
    pub async fn serve(mut self) {
        loop {
            checkpoint(&(&self.known, &self.inbox, self.client));
            let Membership { version, .. } = self.known.membership;
            let bug = self.known.bug;
            receive!(self.inbox, "dispatching", {
                Envelope { message: Message::Request(number), .. } => self.forward(number).await,
                Envelope { message: Message::Done(number), .. } => self.answer(number).await,
                ignore Envelope { message: Message::Refused(..), .. } if bug == Bug::ForgetsRefused,
                // Until there is a newer membership.
                defer Envelope { message: Message::Refused(of, _), .. } if of >= version,
                Envelope { message: Message::Refused(_, number), .. } => self.forward(number).await,
                ignore Envelope { message: Message::Configure(new), .. }
                    if new.version <= version && bug != Bug::TakesOlderMembership,
                Envelope { message: Message::Configure(new), .. } => self.configure(new).await,
            });
        }
    }

    async fn forward(&mut self, number: u32) {
        let Membership { version, head } = self.known.membership;
        self.known.open.insert(number);
        self.send(head, Message::Forward(version, number)).await;
    }

    async fn answer(&mut self, number: u32) {
        if self.known.open.remove(&number) {
            self.send(self.client, Message::Answer(number)).await;
        }
    }

    async fn configure(&mut self, new: Membership) {
        self.known.membership = new;
        if self.known.bug == Bug::SendsAllAgain {
            for number in self.known.open.clone() {
                self.forward(number).await;
            }
        }
    }

    async fn send(&self, to: Address, message: Message) {
        self.inbox.source().send(to, message).await.expect("replicas and clients do not fail");
    }
}

/// A replica, which serves while it is the head.
pub async fn replica(endpoint: Endpoint<Message>, mut membership: Membership) {
    let mut inbox = Inbox::new(endpoint);
    loop {
        checkpoint(&(membership, &inbox));
        let Membership { version, head } = membership;
        receive!(inbox, "serving", {
            // Until it knows that membership, too.
            defer Envelope { message: Message::Forward(of, _), .. } if of > version,
            Envelope { from, message: Message::Forward(of, number) } => {
                let is_in_charge = of == version && head == inbox.source().address();
                let answer = if is_in_charge {
                    announce(Executed(number));
                    Message::Done(number)
                } else {
                    Message::Refused(of, number)
                };
                inbox.source().send(from, answer).await.expect("the dispatcher does not fail");
            }
            Envelope { message: Message::Configure(new), .. } => membership = membership.max(new),
        });
    }
}

/// A client, which makes so many requests at once and waits for the answers.
pub async fn ask(mut endpoint: Endpoint<Message>, dispatcher: Address, requests: u32) {
    for number in 1..=requests {
        announce(Service::Asked(number));
        endpoint.send(dispatcher, Message::Request(number)).await.expect("the dispatcher does not fail");
    }
    for _ in 1..=requests {
        if let Message::Answer(number) = endpoint.recv().await.message {
            announce(Service::Answered(number));
        }
    }
}

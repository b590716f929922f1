//! What the coordinator and the participants do.
//!
//! Messages may be reordered and are not lost. Both sides must take repeated messages: the coordinator asks again when
//! it grows impatient, which it may do at any time.

use super::{Bug, Progress};
use delay::{
    announce,
    net::{Address, Endpoint, Network},
    task,
    time::{Duration, timeout},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, future::Future};

/// Tells transactions apart.
pub type Transaction = u32;

/// How often a participant is asked before the coordinator gives up.
const ATTEMPTS: u32 = 2;

/// How long the coordinator waits for the votes it has asked for.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a participant says to a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Vote {
    /// It can carry it out, and promises to do so if asked.
    Yes,
    /// It cannot.
    No,
}

/// What becomes of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Decision {
    /// It is carried out everywhere.
    Commit,
    /// It is carried out nowhere.
    Abort,
}

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Message {
    /// To a participant: can you?
    Prepare(Transaction),
    /// To the coordinator.
    Vote(Transaction, Vote),
    /// To a participant: what was decided.
    Decide(Transaction, Decision),
}

/// Asks the participants, and decides.
#[derive(Debug)]
pub struct Coordinator {
    endpoint: Endpoint<Message>,
    participants: Vec<Address>,
    bug: Bug,
}

impl Coordinator {
    /// A coordinator of these participants.
    pub fn new(endpoint: Endpoint<Message>, participants: Vec<Address>, bug: Bug) -> Self {
        Self { endpoint, participants, bug }
    }

    /// Carries out a transaction, or not; what became of it.
    pub async fn decide(&mut self, transaction: Transaction) -> Decision {
        let decision = self.hold_vote(transaction).await;
        announce(Progress::Decided { transaction, decision });
        for participant in &self.participants {
            self.send(*participant, Message::Decide(transaction, decision)).await;
        }
        decision
    }

    async fn hold_vote(&mut self, transaction: Transaction) -> Decision {
        let mut yes = Vec::new();
        for _ in 0..ATTEMPTS {
            for participant in self.participants.iter().filter(|participant| !yes.contains(*participant)) {
                self.send(*participant, Message::Prepare(transaction)).await;
            }
            if let Ok(decision) = timeout(PATIENCE, self.collect(transaction, &mut yes)).await {
                return decision;
            }
        }
        if self.bug == Bug::CommitsEarly && yes.len() + 1 >= self.participants.len() {
            return Decision::Commit;
        }
        Decision::Abort
    }

    /// Waits until the votes suffice for a decision. `yes` are the participants that have agreed so far.
    async fn collect(&mut self, transaction: Transaction, yes: &mut Vec<Address>) -> Decision {
        while yes.len() < self.participants.len() {
            let answer = self.endpoint.recv().await;
            let Message::Vote(about, vote) = answer.message else { continue };
            if about != transaction && self.bug != Bug::CountsStaleVotes {
                continue;
            }
            match vote {
                Vote::No => return Decision::Abort,
                Vote::Yes if yes.contains(&answer.from) && self.bug != Bug::CountsVotesTwice => {}
                Vote::Yes => yes.push(answer.from),
            }
        }
        Decision::Commit
    }

    async fn send(&self, to: Address, message: Message) {
        self.endpoint.send(to, message).await.expect("participants do not fail");
    }
}

/// What a participant takes part with: a database, an account.
pub trait Resource: Send + 'static {
    /// Whether it can carry out a transaction. Asked once for each.
    fn prepare(&mut self, transaction: Transaction) -> impl Future<Output = Vote> + Send;
    /// What was decided on a transaction. Told once for each, and perhaps without having been asked.
    fn finish(&mut self, transaction: Transaction, decision: Decision);
}

/// Votes, and does what was decided.
#[derive(Debug)]
pub struct Participant<R> {
    endpoint: Endpoint<Message>,
    resource: R,
    log: Log,
}

/// What a participant remembers.
#[derive(Debug)]
struct Log {
    votes: BTreeMap<Transaction, Vote>,
    decisions: BTreeMap<Transaction, Decision>,
    /// The transaction it voted on last.
    open: Option<Transaction>,
    bug: Bug,
}

impl<R: Resource> Participant<R> {
    /// A participant with its resource.
    pub fn new(endpoint: Endpoint<Message>, resource: R, bug: Bug) -> Self {
        let log = Log { votes: BTreeMap::new(), decisions: BTreeMap::new(), open: None, bug };
        Self { endpoint, resource, log }
    }

    /// Serves the coordinator.
    pub async fn serve(mut self) {
        loop {
            let request = self.endpoint.recv().await;
            match request.message {
                Message::Prepare(transaction) => {
                    let vote = self.vote(transaction).await;
                    // A coordinator that is gone has decided.
                    let _ = self.endpoint.send(request.from, Message::Vote(transaction, vote)).await;
                }
                Message::Decide(transaction, decision) => self.obey(transaction, decision),
                Message::Vote(..) => {} // Not for a participant.
            }
        }
    }

    /// Its vote on a transaction; the same whenever it is asked.
    async fn vote(&mut self, transaction: Transaction) -> Vote {
        if let Some(vote) = self.log.votes.get(&transaction) {
            return *vote;
        }
        let vote = match self.log.decisions.get(&transaction) {
            // The decision came first: nobody waits for this vote any more.
            Some(_) => Vote::No,
            None => self.resource.prepare(transaction).await,
        };
        self.log.votes.insert(transaction, vote);
        self.log.open = Some(transaction);
        announce(Progress::Voted { transaction, participant: self.endpoint.address(), vote });
        vote
    }

    fn obey(&mut self, transaction: Transaction, decision: Decision) {
        if self.log.bug == Bug::KeepsOneTransaction {
            assert!(self.log.open.is_none_or(|open| open == transaction), "a decision on another transaction");
        }
        if self.log.decisions.insert(transaction, decision).is_none() {
            announce(Progress::Obeyed { transaction, participant: self.endpoint.address(), decision });
            self.resource.finish(transaction, decision);
        }
    }
}

/// Starts a participant for each resource; the coordinator of them all.
pub fn start<R: Resource>(
    net: &Network<Message>,
    resources: impl IntoIterator<Item = (&'static str, R)>,
    bug: Bug,
) -> Coordinator {
    let mut participants = Vec::new();
    for (name, resource) in resources {
        let participant = Participant::new(net.endpoint(name), resource, bug);
        participants.push(participant.endpoint.address());
        task::spawn_named(name, participant.serve());
    }
    Coordinator::new(net.endpoint("coordinator"), participants, bug)
}

//! What the proposers and the acceptors do.
//!
//! Messages may be reordered, repeated and lost: proposers that wait in vain are outrun by others.

use super::{Bug, Progress};
use delay::{
    announce, checkpoint,
    net::{Address, Endpoint},
};
use std::{collections::BTreeSet, fmt};

/// What is agreed on.
pub type Value = u32;

/// An attempt of a proposer; the later one is higher. No two attempts share a ballot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Ballot {
    /// Which attempt, from 1.
    pub round: u32,
    /// Whose.
    pub proposer: u32,
}

impl fmt::Debug for Ballot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.round, self.proposer)
    }
}

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Message {
    /// To an acceptor: promise to take nothing below this ballot.
    Prepare(Ballot),
    /// To a proposer: promised, and this is what was accepted so far.
    Promise(Ballot, Option<(Ballot, Value)>),
    /// To an acceptor: accept this value.
    Accept(Ballot, Value),
    /// To a proposer: accepted.
    Accepted(Ballot),
    /// To a proposer: this ballot is too low.
    Refused(Ballot),
}

/// Remembers promises and values.
#[derive(Debug)]
pub struct Acceptor {
    endpoint: Endpoint<Message>,
    memory: Memory,
}

/// All that what an acceptor does next depends on.
#[derive(PartialEq, Eq, Hash, Debug)]
struct Memory {
    /// Invariant: never falls.
    promised: Option<Ballot>,
    /// Invariant: never above `promised`.
    accepted: Option<(Ballot, Value)>,
    bug: Bug,
}

impl Acceptor {
    /// An acceptor that remembers nothing yet.
    pub fn new(endpoint: Endpoint<Message>, bug: Bug) -> Self {
        Self { endpoint, memory: Memory { promised: None, accepted: None, bug } }
    }

    /// Serves the proposers.
    pub async fn serve(mut self) {
        loop {
            checkpoint(&self.memory);
            let request = self.endpoint.recv().await;
            let answer = match request.message {
                Message::Prepare(ballot) => self.promise(ballot),
                Message::Accept(ballot, value) => self.accept(ballot, value),
                // Not for an acceptor.
                Message::Promise(..) | Message::Accepted(_) | Message::Refused(_) => continue,
            };
            // A proposer that is gone does not need the answer.
            let _ = self.endpoint.send(request.from, answer).await;
        }
    }

    fn promise(&mut self, ballot: Ballot) -> Message {
        let Memory { promised, accepted, bug } = &mut self.memory;
        let free = match bug {
            Bug::ForgetsPromise => accepted.is_none() || promised.is_none_or(|promised| promised < ballot),
            _ => promised.is_none_or(|promised| promised < ballot),
        };
        if !free {
            return Message::Refused(ballot);
        }
        *promised = Some(ballot);
        Message::Promise(ballot, *accepted)
    }

    fn accept(&mut self, ballot: Ballot, value: Value) -> Message {
        let Memory { promised, accepted, bug } = &mut self.memory;
        if promised.is_some_and(|promised| promised > ballot) && *bug != Bug::AcceptsLowerBallot {
            return Message::Refused(ballot);
        }
        *promised = Some(ballot);
        if *bug != Bug::ForgetsAccepted {
            *accepted = Some((ballot, value));
        }
        announce(Progress::Accepted { acceptor: self.endpoint.address(), ballot, value });
        Message::Accepted(ballot)
    }
}

/// Gets a value chosen.
#[derive(Debug)]
pub struct Proposer {
    endpoint: Endpoint<Message>,
    acceptors: Vec<Address>,
    attempt: Attempt,
}

/// With the acceptors it asks, all that what a proposer does next depends on.
#[derive(PartialEq, Eq, Hash, Debug)]
struct Attempt {
    ballot: Ballot,
    rounds: u32,
    /// Its own value.
    value: Value,
    /// What it has heard of being accepted, and has to stick to.
    bound: Option<(Ballot, Value)>,
    /// Who has given what it is asking for, a promise or an acceptance.
    given: BTreeSet<Address>,
    bug: Bug,
}

impl Proposer {
    /// A proposer for a value; `number` is its own. It tries in at most so many rounds.
    pub fn new(
        endpoint: Endpoint<Message>,
        acceptors: Vec<Address>,
        (number, value): (u32, Value),
        rounds: u32,
        bug: Bug,
    ) -> Self {
        let ballot = Ballot { round: 0, proposer: number };
        let attempt = Attempt { ballot, rounds, value, bound: None, given: BTreeSet::new(), bug };
        Self { endpoint, acceptors, attempt }
    }

    /// Gets its value chosen or, if it comes too late, another; which. None if others were faster in every round.
    ///
    /// To be run as a task of its own: its checkpoints know nothing of a caller.
    pub async fn run(mut self) -> Option<Value> {
        while self.attempt.ballot.round < self.attempt.rounds {
            self.attempt.ballot.round += 1;
            self.attempt.bound = None;
            if !self.prepare().await {
                continue;
            }
            let value = self.attempt.bound.map_or(self.attempt.value, |(_, value)| value);
            if self.accept(value).await {
                announce(Progress::Decided { proposer: self.endpoint.address(), value });
                return Some(value);
            }
        }
        None
    }

    /// Gets the promises of a majority, and learns what they bind it to. False if its ballot is too low.
    async fn prepare(&mut self) -> bool {
        let ballot = self.attempt.ballot;
        self.ask_all(Message::Prepare(ballot)).await;
        while !self.has_majority() {
            checkpoint(&(&self.acceptors, &self.attempt));
            let answer = self.endpoint.recv().await;
            match answer.message {
                Message::Promise(of, accepted) if of == ballot => {
                    let Attempt { bound, bug, .. } = &mut self.attempt;
                    *bound = if *bug == Bug::TakesFirstValue { bound.or(accepted) } else { accepted.max(*bound) };
                    self.attempt.given.insert(answer.from);
                }
                Message::Refused(of) if of == ballot => return false,
                _ => {} // An answer to an earlier ballot.
            }
        }
        true
    }

    /// Whether a majority accepts.
    async fn accept(&mut self, value: Value) -> bool {
        let ballot = self.attempt.ballot;
        self.ask_all(Message::Accept(ballot, value)).await;
        while !self.has_majority() {
            checkpoint(&(&self.acceptors, &self.attempt));
            let answer = self.endpoint.recv().await;
            match answer.message {
                Message::Accepted(of) if of == ballot => {
                    self.attempt.given.insert(answer.from);
                }
                Message::Refused(of) if of == ballot => return false,
                _ => {} // An answer to an earlier question.
            }
        }
        true
    }

    async fn ask_all(&mut self, message: Message) {
        self.attempt.given.clear();
        for acceptor in &self.acceptors {
            // Those that are gone count as silent.
            let _ = self.endpoint.send(*acceptor, message).await;
        }
    }

    fn has_majority(&self) -> bool {
        self.attempt.given.len() > self.acceptors.len() / 2
    }
}

//! What the detector, the nodes and the clients do.
//!
//! Messages may be lost and reordered, but for those to clients.

use super::{Bug, Membership, Progress};
use delay::{
    announce, checkpoint,
    net::{Address, Endpoint},
    time::{Duration, timeout},
};
use std::collections::BTreeSet;

/// How often a node is asked in a round before it is taken for dead.
const ATTEMPTS: u32 = 2;

/// How long the detector waits for the answers.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Message {
    /// To a node: are you alive, in this round?
    Ping(u32),
    /// To the detector: I was, in this round.
    Pong(u32),
    /// To a client: this node is taken for dead.
    Failed(Address),
}

/// Asks the nodes.
#[derive(Debug)]
pub struct Detector {
    endpoint: Endpoint<Message>,
    clients: Vec<Address>,
    /// Those that are not taken for dead.
    alive: BTreeSet<Address>,
    round: u32,
    bug: Bug,
}

impl Detector {
    /// A detector of these nodes, for these clients.
    pub fn new(
        endpoint: Endpoint<Message>,
        nodes: impl IntoIterator<Item = Address>,
        clients: Vec<Address>,
        bug: Bug,
    ) -> Self {
        Self { endpoint, clients, alive: nodes.into_iter().collect(), round: 0, bug }
    }

    /// Goes through so many rounds. To be run as a task of its own: its checkpoints know nothing of a caller.
    pub async fn run(mut self, rounds: u32) {
        while self.round < rounds {
            checkpoint(&(&self.clients, &self.alive, self.round, rounds, self.bug));
            self.round += 1;
            announce(Progress::RoundBegins);
            for silent in self.silent().await {
                self.alive.remove(&silent);
                announce(Progress::Suspects(silent));
                if self.bug == Bug::KeepsItToItself {
                    continue;
                }
                for client in &self.clients {
                    // A client that is gone does not need to know.
                    let _ = self.endpoint.send(*client, Message::Failed(silent)).await;
                }
            }
            announce(Progress::RoundEnds);
        }
    }

    /// Those that do not answer in this round.
    async fn silent(&mut self) -> BTreeSet<Address> {
        let mut silent = self.alive.clone();
        let attempts = if self.bug == Bug::AsksOnce { 1 } else { ATTEMPTS };
        for _ in 0..attempts {
            for node in &silent {
                // One that is gone counts as silent.
                let _ = self.endpoint.send(*node, Message::Ping(self.round)).await;
            }
            if timeout(PATIENCE, self.collect(&mut silent)).await.is_ok() {
                break;
            }
        }
        silent
    }

    async fn collect(&mut self, silent: &mut BTreeSet<Address>) {
        while !silent.is_empty() {
            let answer = self.endpoint.recv().await;
            match answer.message {
                Message::Pong(round) if round == self.round || self.bug == Bug::CountsStalePongs => {
                    silent.remove(&answer.from);
                }
                // Of an earlier round, or not for the detector.
                _ => {}
            }
        }
    }
}

/// What a node does while it is alive.
pub async fn answer(mut endpoint: Endpoint<Message>) {
    loop {
        checkpoint(&());
        let request = endpoint.recv().await;
        if let Message::Ping(round) = request.message {
            // A detector that is gone does not need to know.
            let _ = endpoint.send(request.from, Message::Pong(round)).await;
        }
    }
}

/// A client, which makes known what it is told.
pub async fn follow(mut endpoint: Endpoint<Message>) {
    loop {
        checkpoint(&());
        if let Message::Failed(node) = endpoint.recv().await.message {
            announce(Membership::Told(node));
        }
    }
}

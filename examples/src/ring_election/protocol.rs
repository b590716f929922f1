//! What a node of the ring does.
//!
//! A node sends to its successor only. A candidacy goes round until it meets a node with a higher number; the one that
//! comes home has beaten all others. Links may reorder messages and must not lose them.

use super::{Bug, Progress};
use delay::{
    announce, checkpoint,
    net::{Address, Endpoint, Network},
    sync::oneshot,
    task,
};

/// What tells nodes apart, and decides who leads.
pub type Number = u32;

/// What goes round.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Message {
    /// This node wants to lead, and has beaten all it has passed.
    Candidate(Number),
    /// This node leads.
    Leader(Number),
}

/// One node of the ring.
#[derive(Debug)]
pub struct Node {
    endpoint: Endpoint<Message>,
    state: State,
    /// Who waits to learn of the leader. Invariant: there until `state.leader` is known.
    application: Option<oneshot::Sender<Number>>,
}

/// All that what a node does next depends on.
#[derive(PartialEq, Eq, Hash, Debug)]
struct State {
    number: Number,
    successor: Address,
    /// Whether it runs itself, or has passed on somebody better: there is nothing left for it to start.
    takes_part: bool,
    leader: Option<Number>,
    bug: Bug,
}

impl Node {
    /// A node, and where its application learns who leads.
    pub fn new(
        number: Number,
        endpoint: Endpoint<Message>,
        successor: Address,
        bug: Bug,
    ) -> (Self, oneshot::Receiver<Number>) {
        let (application, elected) = oneshot::channel();
        let state = State { number, successor, takes_part: false, leader: None, bug };
        (Self { endpoint, state, application: Some(application) }, elected)
    }

    /// Runs for leader.
    pub async fn stand(&mut self) {
        self.state.takes_part = true;
        self.pass_on(Message::Candidate(self.state.number)).await;
    }

    /// Serves the ring.
    pub async fn serve(&mut self) {
        let me = self.state.number;
        loop {
            checkpoint(&self.state);
            match self.endpoint.recv().await.message {
                Message::Candidate(number) if number == me => self.win().await,
                Message::Candidate(number) => self.consider(number).await,
                Message::Leader(number) if number == me => {} // Everybody has heard.
                Message::Leader(number) => {
                    announce(Progress::Follows { node: me, leader: number });
                    self.learn(number);
                    self.pass_on(Message::Leader(number)).await;
                }
            }
        }
    }

    /// Somebody else's candidacy.
    async fn consider(&mut self, number: Number) {
        let State { takes_part, leader, bug, .. } = self.state;
        let passes = match bug {
            Bug::ForwardsSmaller => true,
            Bug::SwallowsLarger if takes_part => false,
            Bug::TrustsOrder if leader.is_some() => true,
            Bug::None | Bug::SwallowsLarger | Bug::TrustsOrder => number > self.state.number,
        };
        if passes {
            self.state.takes_part = true;
            self.pass_on(Message::Candidate(number)).await;
        } else if !takes_part {
            self.stand().await;
        }
    }

    /// The own candidacy has come home.
    async fn win(&mut self) {
        let me = self.state.number;
        announce(Progress::Leads { node: me });
        self.learn(me);
        self.pass_on(Message::Leader(me)).await;
    }

    fn learn(&mut self, leader: Number) {
        self.state.leader = Some(leader);
        if let Some(application) = self.application.take() {
            // It may have stopped waiting.
            let _ = application.send(leader);
        }
    }

    async fn pass_on(&self, message: Message) {
        self.endpoint.send(self.state.successor, message).await.expect("nodes do not fail");
    }
}

/// Starts a ring whose nodes have these numbers, in this order; each runs for leader. Returns what each application
/// learns.
pub fn elect(net: &Network<Message>, numbers: &[Number], bug: Bug) -> Vec<oneshot::Receiver<Number>> {
    let name = |number: &Number| format!("node {number}");
    let successors = numbers.iter().cycle().skip(1);
    let start = |(number, successor): (&Number, &Number)| {
        let (mut node, elected) = Node::new(*number, net.endpoint(name(number)), net.address(name(successor)), bug);
        task::spawn_named(name(number), async move {
            node.stand().await;
            node.serve().await;
        });
        elected
    };
    numbers.iter().zip(successors).map(start).collect()
}

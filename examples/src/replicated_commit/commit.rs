//! Two-phase commit over participants that do not fail.

use super::{Bug, Machine, Replicated};
use crate::two_phase_commit::{Decision, Progress, Transaction, Vote};
use delay::{announce, net::Address};

/// What is asked of a participant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// Can you?
    Prepare(Transaction),
    /// What was decided.
    Finish(Transaction, Decision),
}

/// Votes, and does what was decided. It takes part in one transaction at a time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Participant {
    address: Address,
    /// Whether it could carry out a transaction, if it had no other.
    is_able: bool,
    /// What it has promised to carry out.
    open: Option<Transaction>,
}

impl Participant {
    /// A participant with nothing to do, known under this address.
    pub fn new(address: Address, is_able: bool) -> Self {
        Self { address, is_able, open: None }
    }
}

impl Machine for Participant {
    type Op = Op;
    type Ret = Vote;

    /// Its vote; to a decision, as good as none.
    fn apply(&mut self, op: Op) -> Vote {
        let participant = self.address;
        match op {
            Op::Prepare(transaction) => {
                assert_ne!(self.open, Some(transaction), "transaction {transaction} is prepared twice");
                let vote = if self.is_able && self.open.is_none() { Vote::Yes } else { Vote::No };
                if vote == Vote::Yes {
                    self.open = Some(transaction);
                }
                announce(Progress::Voted { transaction, participant, vote });
                vote
            }
            Op::Finish(transaction, decision) => {
                if self.open == Some(transaction) {
                    self.open = None;
                }
                announce(Progress::Obeyed { transaction, participant, decision });
                Vote::Yes
            }
        }
    }
}

/// Carries out a transaction at all participants or at none; what became of it.
pub async fn decide(participants: &mut [impl Replicated<Participant>], transaction: Transaction, bug: Bug) -> Decision {
    let mut votes = Vec::new();
    let asked = participants.len() - usize::from(bug == Bug::SkipsLast);
    for participant in &mut participants[..asked] {
        votes.push(participant.submit(Op::Prepare(transaction)).await);
        if votes.ends_with(&[Vote::No]) {
            break;
        }
    }
    let decision = if votes.contains(&Vote::No) { Decision::Abort } else { Decision::Commit };
    announce(Progress::Decided { transaction, decision });
    for (participant, vote) in participants.iter_mut().zip(votes) {
        if vote == Vote::No || decision == Decision::Commit || bug != Bug::LeavesOthersWaiting {
            participant.submit(Op::Finish(transaction, decision)).await;
        }
    }
    decision
}

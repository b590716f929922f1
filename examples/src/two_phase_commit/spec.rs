//! What an atomic commitment must never do.

use super::{Decision, Message, Transaction, Vote};
use delay::{
    monitor::{Monitor, register},
    net::Address,
    record::{Observer, Vocabulary},
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What coordinator and participants announce.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Progress {
    /// A participant has made up its mind.
    Voted {
        /// On what.
        transaction: Transaction,
        /// Which participant.
        participant: Address,
        /// What it says.
        vote: Vote,
    },
    /// The coordinator has decided.
    Decided {
        /// On what.
        transaction: Transaction,
        /// What.
        decision: Decision,
    },
    /// A participant does what was decided.
    Obeyed {
        /// On what.
        transaction: Transaction,
        /// Which participant.
        participant: Address,
        /// What it does.
        decision: Decision,
    },
}

/// Safety: a transaction is committed only if every participant has agreed to it, and everybody does what was decided.
#[derive(Clone, Hash, Debug)]
pub struct Atomicity {
    participants: usize,
    agreed: BTreeMap<Transaction, BTreeSet<Address>>,
    decided: BTreeMap<Transaction, Decision>,
}

impl Atomicity {
    /// For so many participants.
    pub fn new(participants: usize) -> Self {
        Self { participants, agreed: BTreeMap::new(), decided: BTreeMap::new() }
    }
}

impl Monitor for Atomicity {
    type Event = Progress;

    fn on(&mut self, event: &Progress) -> Result<(), String> {
        match *event {
            Progress::Voted { vote: Vote::No, .. } => Ok(()),
            Progress::Voted { transaction, participant, vote: Vote::Yes } => {
                self.agreed.entry(transaction).or_default().insert(participant);
                Ok(())
            }
            Progress::Decided { transaction, decision } => {
                self.decided.insert(transaction, decision);
                let agreed = self.agreed.get(&transaction).map_or(0, BTreeSet::len);
                if decision == Decision::Commit && agreed < self.participants {
                    let all = self.participants;
                    return Err(format!(
                        "transaction {transaction} is committed, but only {agreed} of {all} have agreed"
                    ));
                }
                Ok(())
            }
            Progress::Obeyed { transaction, participant, decision } => match self.decided.get(&transaction) {
                Some(decided) if *decided == decision => Ok(()),
                decided => {
                    Err(format!("{participant} does {decision:?} of transaction {transaction}, decided: {decided:?}"))
                }
            },
        }
    }
}

/// Under which names a production run is recorded.
pub fn vocabulary() -> Vocabulary {
    Vocabulary::new().event::<Progress>("progress").messages::<Message>("commit")
}

/// Checks the recordings of a run with so many participants.
pub fn observer(participants: usize) -> Observer {
    Observer::new(vocabulary(), || {
        register(Atomicity::new(participants));
    })
}

//! What a consensus must never do.

use super::{Ballot, Value};
use delay::{monitor::Monitor, net::Address};
use std::collections::{BTreeMap, BTreeSet};

/// What proposers and acceptors announce.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Progress {
    /// An acceptor has accepted a value.
    Accepted {
        /// Which acceptor.
        acceptor: Address,
        /// In which ballot.
        ballot: Ballot,
        /// What.
        value: Value,
    },
    /// A proposer takes a value to be chosen.
    Decided {
        /// Which proposer.
        proposer: Address,
        /// What.
        value: Value,
    },
}

/// Safety: at most one value is chosen, that is accepted by a majority in one ballot, and proposers take no other for
/// chosen.
#[derive(Clone, Hash, Debug)]
pub struct Agreement {
    acceptors: usize,
    accepted: BTreeMap<(Ballot, Value), BTreeSet<Address>>,
    chosen: Option<Value>,
}

impl Agreement {
    /// Among so many acceptors.
    pub fn new(acceptors: usize) -> Self {
        Self { acceptors, accepted: BTreeMap::new(), chosen: None }
    }
}

impl Monitor for Agreement {
    type Event = Progress;

    fn on(&mut self, event: &Progress) -> Result<(), String> {
        match *event {
            Progress::Accepted { acceptor, ballot, value } => {
                let by = self.accepted.entry((ballot, value)).or_default();
                by.insert(acceptor);
                if by.len() <= self.acceptors / 2 {
                    return Ok(());
                }
                match self.chosen.replace(value) {
                    Some(before) if before != value => Err(format!("{value} is chosen although {before} was")),
                    _ => Ok(()),
                }
            }
            Progress::Decided { value, .. } if self.chosen == Some(value) => Ok(()),
            Progress::Decided { proposer, value } => {
                let chosen = self.chosen.map_or("nothing".to_owned(), |chosen| chosen.to_string());
                Err(format!("{proposer} takes {value} for chosen, but {chosen} is"))
            }
        }
    }
}

//! What a commitment must do.

use crate::two_phase_commit::{Progress, Transaction, Vote};
use delay::{monitor::Monitor, net::Address};
use std::collections::BTreeSet;

/// Liveness: a participant that has agreed to a transaction is told some time what was decided.
#[derive(Clone, Hash, Debug, Default)]
pub struct Released {
    waiting: BTreeSet<(Transaction, Address)>,
}

impl Monitor for Released {
    type Event = Progress;

    fn on(&mut self, event: &Progress) -> Result<(), String> {
        match *event {
            Progress::Voted { transaction, participant, vote: Vote::Yes } => {
                self.waiting.insert((transaction, participant));
            }
            Progress::Obeyed { transaction, participant, .. } => {
                self.waiting.remove(&(transaction, participant));
            }
            Progress::Voted { vote: Vote::No, .. } | Progress::Decided { .. } => {}
        }
        Ok(())
    }

    fn is_hot(&self) -> bool {
        !self.waiting.is_empty()
    }
}

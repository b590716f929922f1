//! What must never happen in whatever replicates: that two replicas carry out different things, or one leaves something out.

use super::{Ticket, replica::Id};
use delay::monitor::Monitor;
use std::collections::BTreeMap;

/// What replicas announce: one of them carries out what is in this place of the log. Places are counted from 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Applied {
    /// Which replica.
    pub replica: Id,
    /// Which place.
    pub place: u64,
    /// The requests that are there.
    pub tickets: Vec<Ticket>,
}

/// Safety: what one replica carries out in some place, no other ever carries out something else in; and each goes from place to place.
/// It may begin again: it does when it starts again.
#[derive(Clone, Hash, Debug, Default)]
pub struct Agreement {
    applied: BTreeMap<u64, Vec<Ticket>>,
    /// The place that each replica has got to.
    next: BTreeMap<Id, u64>,
}

impl Monitor for Agreement {
    type Event = Applied;

    fn on(&mut self, event: &Applied) -> Result<(), String> {
        let Applied { replica, place, tickets } = event;
        let next = self.next.entry(*replica).or_default();
        if place > next {
            return Err(format!(
                "replica {replica} carries out {tickets:?} in place {place}, and has got to place {next}"
            ));
        }
        *next = place + 1;
        let first = self.applied.entry(*place).or_insert_with(|| tickets.clone());
        if first == tickets {
            return Ok(());
        }
        Err(format!(
            "replica {replica} carries out {tickets:?} in place {place}, where another has carried out {first:?}"
        ))
    }
}

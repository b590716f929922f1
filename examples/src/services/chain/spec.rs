//! What must never happen in a chain.

use super::super::{Ticket, replica::Id};
use delay::monitor::Monitor;
use std::collections::BTreeMap;

/// What replicas announce.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Progress {
    /// A replica takes the request in this place, counted from 0, for committed.
    Committed {
        /// Which replica.
        replica: Id,
        /// Which place.
        place: usize,
        /// Which request.
        ticket: Ticket,
    },
}

/// Safety: what one replica takes for committed in some place, no other ever takes another request for.
#[derive(Clone, Hash, Debug, Default)]
pub struct Agreement {
    committed: BTreeMap<usize, Ticket>,
}

impl Monitor for Agreement {
    type Event = Progress;

    fn on(&mut self, event: &Progress) -> Result<(), String> {
        let Progress::Committed { replica, place, ticket } = event;
        let first = self.committed.entry(*place).or_insert_with(|| ticket.clone());
        if first == ticket {
            return Ok(());
        }
        Err(format!("replica {replica} commits {ticket:?} in place {place}, where {first:?} was committed"))
    }
}

//! What a replicated register must never do.

use super::{Value, protocol::Sequence};
use delay::{monitor::Monitor, net::Address};
use std::collections::BTreeMap;

/// What servers and the client announce.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Progress {
    /// A server carries out an update.
    Applied {
        /// Which server.
        server: Address,
        /// Which update.
        sequence: Sequence,
        /// What it writes.
        value: Value,
    },
    /// The client was told that its value is written.
    Wrote {
        /// Which value.
        value: Value,
    },
    /// The client was told what the register holds.
    Read {
        /// What; nothing if nothing was written.
        value: Option<Value>,
    },
}

/// Safety: the servers carry out the same updates in the same order, each once; and a read sees what was written
/// before it, or something newer.
///
/// For one client that does one thing after another and writes no value twice.
#[derive(Clone, Hash, Debug, Default)]
pub struct Register {
    /// The updates in their order.
    updates: Vec<Value>,
    /// How many of them each server has carried out.
    applied: BTreeMap<Address, Sequence>,
    /// The last of them that the client was told of.
    written: Sequence,
}

impl Register {
    /// Which update wrote this value; 0 stands for the empty register.
    fn place_of(&self, value: Option<Value>) -> Option<Sequence> {
        let Some(value) = value else { return Some(0) };
        self.updates.iter().position(|update| *update == value).map(|place| place + 1)
    }
}

impl Monitor for Register {
    type Event = Progress;

    fn on(&mut self, event: &Progress) -> Result<(), String> {
        match *event {
            Progress::Applied { server, sequence, value } => {
                let applied = self.applied.entry(server).or_default();
                if sequence != *applied + 1 {
                    return Err(format!("{server} carries out update {sequence} after update {applied}"));
                }
                *applied = sequence;
                if self.updates.len() < sequence {
                    self.updates.push(value);
                }
                let other = self.updates[sequence - 1];
                if other == value { Ok(()) } else { Err(format!("update {sequence} is both {value} and {other}")) }
            }
            Progress::Wrote { value } => {
                let place = self.place_of(Some(value)).ok_or("what was never carried out is said to be written")?;
                self.written = self.written.max(place);
                Ok(())
            }
            Progress::Read { value } => match self.place_of(value) {
                Some(place) if place >= self.written => Ok(()),
                _ => {
                    let written = self.updates[self.written - 1];
                    Err(format!("the register holds {value:?} after {written} was written"))
                }
            },
        }
    }
}

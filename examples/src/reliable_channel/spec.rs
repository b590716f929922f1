//! What a reliable channel must never do, and what it must do.

use super::Value;
use delay::monitor::Monitor;
use std::collections::VecDeque;

/// What sender and receiver announce.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Progress {
    /// A client has asked the sender to send this.
    Sent(Value),
    /// The receiver has given this to its host.
    Delivered(Value),
    /// The sender has told its client that the channel is broken.
    GaveUp,
}

/// Safety: what is delivered was sent, once and in this order. Liveness: what is sent is delivered, or the sender says
/// that it gives up.
#[derive(Clone, Hash, Debug, Default)]
pub struct ExactlyOnce {
    /// Sent and not delivered, oldest first.
    under_way: VecDeque<Value>,
    gave_up: bool,
}

impl Monitor for ExactlyOnce {
    type Event = Progress;

    fn on(&mut self, event: &Progress) -> Result<(), String> {
        match *event {
            Progress::Sent(value) => self.under_way.push_back(value),
            Progress::GaveUp => self.gave_up = true,
            Progress::Delivered(value) => match self.under_way.pop_front() {
                Some(oldest) if oldest == value => {}
                Some(oldest) => return Err(format!("{value} is delivered, but {oldest} was sent before")),
                None => return Err(format!("{value} is delivered, but nothing was under way")),
            },
        }
        Ok(())
    }

    fn is_hot(&self) -> bool {
        !self.under_way.is_empty() && !self.gave_up
    }
}

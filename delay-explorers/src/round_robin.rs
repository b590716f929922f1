//! Round robin: `rr`.
//!
//! A queue of enabled processes; the head runs until it blocks. A newly enabled process goes to the tail; a delay moves
//! the head to the tail.
//!
//! Source: the paper, section 2 and 6.2, as its tool implemented it (the queue holds enabled processes only).

use delay_core::{
    explorer::{Event, Explorer},
    ids::Process,
};
use std::collections::VecDeque;

/// `rr`: round robin without preemption.
#[derive(Hash, Debug, Default)]
pub struct RoundRobin(VecDeque<Process>);

// A search copies explorers at every step: into what is there already, which a derived `clone_from` does not do.
impl Clone for RoundRobin {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }
}

impl Explorer for RoundRobin {
    const HEARS_SENT: bool = false;

    fn step(&mut self, event: Event) {
        match event {
            Event::Enabled { process, .. } => self.0.push_back(process),
            Event::Blocked(process) => {
                if self.0.front() == Some(&process) {
                    self.0.pop_front();
                } else {
                    self.0.retain(|other| *other != process);
                }
            }
            Event::Start(_) | Event::Finish(_) | Event::Sent { .. } | Event::Call { .. } => {}
        }
    }

    #[inline]
    fn next(&self) -> Process {
        self.0.front().copied().unwrap_or(Process::BODY)
    }

    fn delay(&mut self) {
        if !self.0.is_empty() {
            self.0.rotate_left(1);
        }
    }
}

//! Probabilistic round robin: `prr`.
//!
//! As `rr`, but a newly enabled process is inserted at a random place of the queue. The generator is part of the
//! explorer's state: cloning the explorer clones it, so that a re-executed prefix makes the same draws.
//!
//! Source: the paper, section 6.3. The bound of stratified sampling holds given the seed.

use delay_core::{
    explorer::{Event, Explorer},
    ids::Process,
    random::SplitMix64,
};
use std::collections::VecDeque;

/// `prr`: round robin with seeded random insertion.
#[derive(Clone, Hash, Debug)]
pub struct ProbabilisticRoundRobin {
    queue: VecDeque<Process>,
    /// Pitfall B.15: cloned with the queue.
    generator: SplitMix64,
}

impl ProbabilisticRoundRobin {
    /// With this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { queue: VecDeque::new(), generator: SplitMix64::new(seed) }
    }
}

impl Explorer for ProbabilisticRoundRobin {
    const HEARS_SENT: bool = false;

    fn step(&mut self, event: Event) {
        match event {
            Event::Enabled { process, .. } => {
                let at = self.generator.below(self.queue.len() + 1);
                self.queue.insert(at, process);
            }
            Event::Blocked(process) => self.queue.retain(|other| *other != process),
            Event::Start(_) | Event::Finish(_) | Event::Sent { .. } | Event::Call { .. } => {}
        }
    }

    #[inline]
    fn next(&self) -> Process {
        self.queue.front().copied().unwrap_or(Process::BODY)
    }

    fn delay(&mut self) {
        if !self.queue.is_empty() {
            self.queue.rotate_left(1);
        }
    }
}

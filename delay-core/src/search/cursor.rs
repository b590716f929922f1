//! Choices(s) in the explorer's order: where the flat list of `world/choice.rs` meets the explorer.
//!
//! A delay moves one place along the list; the explorer is told (`Explorer::delay`) only when that leaves a process.

use crate::{
    explorer::Explorer,
    ids::Process,
    world::{Choice, World},
};

/// A place in Choices(s), with the explorer state it belongs to.
#[derive(Clone, Debug)]
pub struct Cursor<E> {
    explorer: E,
    process: Process,
    alternative: u32,
    /// Alternatives of the present process.
    of_process: u32,
    /// Processes from the present one on that the explorer still has to name.
    processes_left: u32,
    /// Sum of the marks of the processes named so far.
    named: u64,
    spent: u32,
}

/// The explorer named a process that cannot run, or one twice at a state instead of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unsound(pub Process);

impl<E: Explorer> Cursor<E> {
    /// The first choice of a state. The state must have one.
    #[inline]
    pub fn at(world: &World, explorer: E) -> Result<Self, Unsound> {
        let (process, of_process, processes_left) = if let Some((process, outcomes)) = world.choosing() {
            (process, outcomes, 1)
        } else if world.enabled() == 0 {
            (Process::CLOCK, world.alternatives(Process::CLOCK), 0)
        } else {
            let process = explorer.next();
            (process, alternatives(world, process), world.enabled())
        };
        if of_process == 0 {
            return Err(Unsound(process));
        }
        Ok(Self { explorer, process, alternative: 0, of_process, processes_left, named: mark(process), spent: 0 })
    }

    /// The choice here.
    #[inline]
    pub fn choice(&self) -> Choice {
        Choice { process: self.process, alternative: self.alternative }
    }

    /// Delays spent at this state so far.
    #[inline]
    pub fn spent(&self) -> u32 {
        self.spent
    }

    /// The explorer as of the delays spent.
    #[inline]
    pub fn explorer(&self) -> &E {
        &self.explorer
    }

    /// Gives the explorer back.
    #[inline]
    pub fn into_explorer(self) -> E {
        self.explorer
    }

    /// Spends one delay: turns to the next choice. Returns false at the end of the list.
    pub fn delay(&mut self, world: &World) -> Result<bool, Unsound> {
        if self.alternative + 1 < self.of_process {
            self.alternative += 1;
            self.spent += 1;
            return Ok(true);
        }
        if self.process == Process::CLOCK || world.choosing().is_some() {
            return Ok(false);
        }
        self.processes_left -= 1;
        self.alternative = 0;
        if self.processes_left == 0 {
            self.process = Process::CLOCK;
            self.of_process = world.alternatives(Process::CLOCK);
            self.spent += u32::from(self.of_process > 0);
            return Ok(self.of_process > 0);
        }
        self.explorer.delay();
        self.process = self.explorer.next();
        self.of_process = alternatives(world, self.process);
        self.named = self.named.wrapping_add(mark(self.process));
        self.spent += 1;
        let is_last = self.processes_left == 1;
        if self.of_process == 0 || is_last && self.named != all_marks(world) {
            return Err(Unsound(self.process));
        }
        Ok(true)
    }
}

/// Sums of different sets of marks differ.
#[inline]
const fn mark(process: Process) -> u64 {
    let mixed = (process.number() as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// What the marks of the enabled processes sum up to.
fn all_marks(world: &World) -> u64 {
    let enabled = world.processes().iter().filter(|process| alternatives(world, **process) > 0);
    enabled.fold(0, |sum, process| sum.wrapping_add(mark(*process)))
}

/// Alternatives of the process an explorer named; 0 also if there is no such process.
#[inline]
fn alternatives(world: &World, process: Process) -> u32 {
    if world.is_live(process) { world.alternatives(process) } else { 0 }
}

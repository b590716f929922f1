//! Choices(s) in the explorer's order: where the flat list of `world/choice.rs` meets the explorer.
//!
//! A delay moves one place along the list; the explorer is told (`Explorer::delay`) only when that leaves a process.

use crate::{
    explorer::{self, Event, Explorer},
    ids::Process,
    world::{Choice, World},
};

/// What a cursor asks of the state it stands at.
pub trait Choices {
    /// Whose explicit choice is being resolved, and among how many outcomes.
    fn choosing(&self) -> Option<(Process, u32)>;
    /// How many processes can make a step.
    fn enabled(&self) -> u32;
    /// Alternatives of a process, or of an environment; 0 if there is no such process.
    fn alternatives_of(&self, process: Process) -> u32;
    /// The marks of all processes that can make a step, summed up.
    fn sum_enabled(&self, mark: impl Fn(Process) -> u64) -> u64;
}

impl Choices for World {
    #[inline]
    fn choosing(&self) -> Option<(Process, u32)> {
        self.choosing()
    }

    #[inline]
    fn enabled(&self) -> u32 {
        self.enabled()
    }

    #[inline]
    fn alternatives_of(&self, process: Process) -> u32 {
        self.alternatives_of(process)
    }

    fn sum_enabled(&self, mark: impl Fn(Process) -> u64) -> u64 {
        let enabled = self.processes().iter().filter(|process| self.alternatives_of(**process) > 0);
        enabled.fold(0, |sum, process| sum.wrapping_add(mark(*process)))
    }
}

/// A place in Choices(s), with the explorer state it belongs to.
#[derive(Clone, Debug)]
pub struct Cursor<E> {
    explorer: E,
    process: Process,
    alternative: u32,
    /// Alternatives of the present process.
    of_process: u32,
    /// The environment that comes before the processes.
    first: Option<Process>,
    /// Processes from the present one on that the explorer still has to name.
    processes_left: u32,
    /// Sum of the marks of the processes named before the present one.
    named: u64,
    spent: u32,
}

/// The explorer named a process that cannot run, or one twice at a state instead of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unsound(pub Process);

impl<E: Explorer> Cursor<E> {
    /// The first choice of a state. The state must have one.
    #[inline]
    pub fn at(world: &impl Choices, explorer: E) -> Result<Self, Unsound> {
        let mut cursor = Self::before(explorer);
        cursor.come_to(world).map(|()| cursor)
    }

    /// Before the first state: [`Cursor::come_to`] it.
    pub fn before(explorer: E) -> Self {
        Self {
            explorer,
            process: Process::FAULTS,
            alternative: 0,
            of_process: 0,
            first: None,
            processes_left: 0,
            named: 0,
            spent: 0,
        }
    }

    /// Before the first state again, with another explorer.
    #[inline]
    pub fn begin(&mut self, explorer: &E) {
        self.explorer.clone_from(explorer);
    }

    /// Turns to the first choice of a state, which must have one: the next of an execution, once the explorer was told what happened.
    #[inline]
    pub fn come_to(&mut self, world: &impl Choices) -> Result<(), Unsound> {
        let is_choosing = world.choosing().is_some();
        self.first = if is_choosing { None } else { self.environment_first() };
        self.processes_left = if is_choosing { 0 } else { world.enabled() };
        (self.process, self.of_process) = self.first_of(world)?;
        (self.alternative, self.named, self.spent) = (0, 0, 0);
        Ok(())
    }

    /// The first choice of a state, which must have one. For those who go no further: the cursor stays where it is.
    #[inline]
    pub fn first(&self, world: &impl Choices) -> Result<Choice, Unsound> {
        self.first_of(world).map(|(process, _)| Choice { process, alternative: 0 })
    }

    /// The environment that comes before the processes.
    #[inline]
    fn environment_first(&self) -> Option<Process> {
        self.explorer.environment().filter(|first| first.is_environment())
    }

    /// Whose the first choice of a state is, and how many alternatives that process has.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once in every step of every execution")]
    fn first_of(&self, world: &impl Choices) -> Result<(Process, u32), Unsound> {
        if let Some(choosing) = world.choosing() {
            return Ok(choosing);
        }
        let first = self.environment_first();
        let moves = |process| Some((process, world.alternatives_of(process))).filter(|(_, moves)| *moves > 0);
        if let Some(moves) = first.and_then(moves) {
            return Ok(moves);
        }
        if world.enabled() > 0 {
            let process = self.explorer.next();
            return moves(process).ok_or(Unsound(process));
        }
        let last = [Process::CLOCK, Process::FAULTS].into_iter().filter(|last| first != Some(*last)).find_map(moves);
        last.ok_or(Unsound(Process::FAULTS))
    }

    /// Passes on what happened in a step.
    #[inline]
    pub fn tell(&mut self, events: &[Event]) {
        explorer::tell(&mut self.explorer, events);
    }

    /// Turns to the process the explorer names.
    #[inline]
    fn name(&mut self, world: &impl Choices) -> Result<(), Unsound> {
        let process = self.explorer.next();
        (self.process, self.alternative) = (process, 0);
        self.of_process = world.alternatives_of(process);
        let is_last_of_many = self.processes_left == 1 && world.enabled() > 1;
        let named = || self.named.wrapping_add(mark(process));
        if self.of_process == 0 || is_last_of_many && named() != world.sum_enabled(mark) {
            return Err(Unsound(process));
        }
        Ok(())
    }

    /// Turns to the environment, if it has a move.
    #[inline]
    fn turn_to(&mut self, environment: Process, world: &impl Choices) -> bool {
        let moves = world.alternatives_of(environment);
        if moves > 0 {
            (self.process, self.alternative, self.of_process) = (environment, 0, moves);
        }
        moves > 0
    }

    /// Turns to the environment after the processes, from where it stands on.
    #[inline]
    fn turn_to_environment(&mut self, world: &impl Choices, after: Option<Process>) -> bool {
        let clock = after.is_none() && self.first != Some(Process::CLOCK) && self.turn_to(Process::CLOCK, world);
        clock
            || after != Some(Process::FAULTS)
                && self.first != Some(Process::FAULTS)
                && self.turn_to(Process::FAULTS, world)
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
    pub fn delay(&mut self, world: &impl Choices) -> Result<bool, Unsound> {
        if self.alternative + 1 < self.of_process {
            self.alternative += 1;
            self.spent += 1;
            return Ok(true);
        }
        if world.choosing().is_some() {
            return Ok(false);
        }
        let leaves = self.process;
        if leaves.is_environment() && self.first != Some(leaves) {
            let turned = self.turn_to_environment(world, Some(leaves));
            self.spent += u32::from(turned);
            return Ok(turned);
        }
        if !leaves.is_environment() {
            self.processes_left -= 1;
            self.named = self.named.wrapping_add(mark(leaves));
        }
        if self.processes_left == 0 {
            let turned = self.turn_to_environment(world, None);
            self.spent += u32::from(turned);
            return Ok(turned);
        }
        if !leaves.is_environment() {
            self.explorer.delay();
        }
        self.spent += 1;
        self.name(world)?;
        Ok(true)
    }
}

/// Sums of different sets of marks differ.
#[inline]
const fn mark(process: Process) -> u64 {
    let mixed = (process.number() as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

//! The searches: which executions are visited, in what order, and when to stop.
//!
//! A search is generic over the explorer and monomorphised with it. It sees the World and what moves it, never futures,
//! traces or terminals. What it covered leaves as [`Coverage`]; what it found as a [`Finding`].
//!
//! Reading order: `cursor.rs` (Choices(s) in the explorer's order), `ses.rs` (strata), `worker.rs` (Figure 5), `trail.rs`, `walk.rs`, `ss.rs` (Figure 7),
//! `lasso/mod.rs` (what goes on for ever).

mod audit;
pub mod budget;
pub mod cache;
pub mod cursor;
mod divide;
mod dpor;
mod frontier;
mod hybrid;
mod lasso;
mod parallel;
mod paths;
mod random;
mod resume;
mod round;
mod run;
pub mod saved;
mod ses;
mod shard;
mod ss;
mod trail;
pub mod visited;
mod walk;
mod worker;

use crate::{
    coverage::Coverage,
    explorer::Explorer,
    live::{Body, Live, Options},
    verdict::{Divergence, Violation},
};
use budget::{Budget, Limits};
pub use lasso::Looked;
pub use run::{Deviation, Ran, run};
use saved::Keep;
pub use shard::Shard;

/// How the executions are visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Mode {
    /// Stratified exhaustive search, Figure 5.
    #[default]
    Ses,
    /// Stratified sampling, Figure 7 corrected.
    Ss,
    /// Exhaustive until its budget, then sampling from the frontier.
    SesSs,
    /// A uniform choice at each step, as a baseline.
    Random,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Ses, Self::Ss, Self::SesSs, Self::Random];

    /// Its name in attributes, flags and traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ses => "ses",
            Self::Ss => "ss",
            Self::SesSs => "ses+ss",
            Self::Random => "random",
        }
    }
}

/// What counts as visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Cache {
    /// The program state: the paper's.
    #[default]
    State,
    /// Program state and explorer state, with the fewest delays.
    StateExplorer,
    /// Nothing: every execution is visited.
    Off,
}

impl Cache {
    /// All that can count as visited.
    pub const ALL: [Self; 3] = [Self::State, Self::StateExplorer, Self::Off];

    /// Its name in attributes and flags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::StateExplorer => "state+explorer",
            Self::Off => "off",
        }
    }
}

/// How much of a fingerprint is kept of what was visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Fingerprints {
    /// 64 bits: 9 to 18 bytes a state, 1 GiB for a hundred million. Among a million states two share one with a probability of 3 in a hundred million.
    #[default]
    Bits64,
    /// 128 bits, and twice the memory.
    Bits128,
}

impl Fingerprints {
    /// All widths.
    pub const ALL: [Self; 2] = [Self::Bits64, Self::Bits128];

    /// How many bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bits64 => 64,
            Self::Bits128 => 128,
        }
    }
}

/// Which executions an exhaustive search leaves out because others stand for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Reduction {
    /// None for the order of their steps.
    #[default]
    None,
    /// Of those that differ only in the order of steps that commute, all but one: partial-order reduction.
    Dpor,
}

impl Reduction {
    /// All reductions.
    pub const ALL: [Self; 2] = [Self::None, Self::Dpor];

    /// Its name in attributes and flags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Dpor => "dpor",
        }
    }
}

/// How an exhaustive search knows what a process does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Execution {
    /// By what it was seen doing before; live where that is not known, or the program does not lend itself to it.
    #[default]
    Learned,
    /// By executing it, each time.
    Live,
}

/// By how much the delay bound rises from one stratum to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Delta {
    /// By one, and from 8 delays on by a quarter of the bound. A state with many choices waits in the frontier for each stratum in which it
    /// makes some of them, and is gone to again each time: so most of a search without a bound would be ways.
    #[default]
    Rising,
    /// By so many.
    By(u32),
}

impl Delta {
    /// How much more the bound after this one is.
    pub const fn after(self, bound: u32) -> u32 {
        match self {
            Self::Rising if bound < 8 => 1,
            Self::Rising => bound / 4,
            Self::By(delays) => delays,
        }
    }

    /// The bound after this one, if there is one within so many delays. The last is as many as may be spent.
    ///
    /// ```
    /// use delay_core::search::Delta;
    ///
    /// let bounds = |delta: Delta, max| {
    ///     std::iter::successors(Some(0), move |bound| delta.next(*bound, Some(max)))
    ///         .collect::<Vec<_>>()
    /// };
    /// assert_eq!(bounds(Delta::Rising, 20), [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 20]);
    /// assert_eq!(bounds(Delta::By(2), 5), [0, 2, 4, 5]);
    /// ```
    pub fn next(self, bound: u32, max_delays: Option<u32>) -> Option<u32> {
        let max = max_delays.unwrap_or(u32::MAX);
        (bound < max).then(|| bound.saturating_add(self.after(bound)).min(max))
    }
}

/// What a search is asked to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Which search.
    pub mode: Mode,
    /// Most delays of an execution; none for no bound.
    pub max_delays: Option<u32>,
    /// By how much the delay bound rises from one stratum to the next.
    pub delta: Delta,
    /// What counts as visited.
    pub cache: Cache,
    /// How much of a fingerprint is kept of it.
    pub fingerprints: Fingerprints,
    /// Which executions are left out; with a reduction there is no cache.
    pub reduction: Reduction,
    /// How it is known what a process does next.
    pub execution: Execution,
    /// Samples per stratum; none for the paper's 100 + 3^delays.
    pub samples: Option<u64>,
    /// Seed of the samplers.
    pub seed: u64,
    /// Threads that search.
    pub jobs: u32,
    /// What several threads find is what one would.
    pub deterministic: bool,
    /// Which part of it.
    pub shard: Shard,
    /// When to stop.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: Mode::Ses,
            max_delays: None,
            delta: Delta::default(),
            cache: Cache::State,
            fingerprints: Fingerprints::default(),
            reduction: Reduction::None,
            execution: Execution::default(),
            samples: None,
            seed: 0,
            jobs: 1,
            deterministic: false,
            shard: Shard::WHOLE,
            limits: Limits::default(),
        }
    }
}

/// A violation and the execution that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Where the execution deviates from the explorer.
    pub deviations: Vec<Deviation>,
    /// What it violates.
    pub violation: Violation,
    /// Faults that happen in it.
    pub faults: u32,
    /// Steps of the execution.
    pub steps: u64,
}

impl Finding {
    /// The violation an execution ended in.
    pub(crate) fn of(live: &Live<'_>, deviations: Vec<Deviation>) -> Self {
        let Some(violation) = live.violation().cloned() else { crate::bug!("violated without a violation") };
        Self { deviations, violation, faults: live.world().faults(), steps: live.path().len() as u64 }
    }

    /// Delays spent in all.
    pub fn delays(&self) -> u32 {
        Deviation::sum(&self.deviations)
    }
}

/// Why a search stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// Nothing was left to visit.
    Exhausted,
    /// The next stratum would exceed `max_delays`.
    Delays,
    /// The samples asked for were taken.
    Samples,
    /// The time was up.
    Time,
    /// The state budget was used up.
    States,
    /// The memory for what was visited was used up.
    Memory,
    /// Ctrl-C.
    Interrupted,
    /// A violation was found.
    Found(Finding),
    /// The program did something else when a path was re-executed.
    Nondeterministic(Divergence),
    /// The explorer named a process that cannot run.
    Unsound(String),
    /// The test asks for faults that nothing can happen to.
    Impossible(String),
    /// The program does what it is not known to commute with what.
    Irreducible(String),
}

impl Stop {
    /// Whether the search came to its end: nothing stopped it before.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Exhausted | Self::Delays | Self::Samples)
    }

    /// Whether it could go on with nothing missed on the way, or has come to its end.
    pub(crate) fn is_open(&self) -> bool {
        self.is_end() || matches!(self, Self::Time | Self::States | Self::Memory | Self::Interrupted)
    }
}

/// What came out of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// What was covered.
    pub coverage: Coverage,
    /// Why it stopped.
    pub stop: Stop,
}

/// The program and how to run it, from which each worker makes its own [`Live`].
#[derive(Clone, Copy)]
pub struct Program<'b> {
    /// Makes a fresh test body.
    pub body: &'b Body<'b>,
    /// How it is run.
    pub options: Options,
}

impl std::fmt::Debug for Program<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<'b> Program<'b> {
    /// A fresh live execution of the program.
    pub fn live(&self) -> Live<'b> {
        Live::new(self.body, self.options)
    }
}

/// Runs the search the settings ask for, or goes on with it.
pub fn search<E: Explorer>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
    keep: &Keep<'_>,
) -> Outcome {
    match settings.mode {
        Mode::Ses if settings.reduction == Reduction::Dpor => dpor::search(program, explorer, settings, budget),
        Mode::Ses => ses::search(program, explorer, settings, budget, keep),
        Mode::Ss => ss::search(program, explorer, settings, budget, keep),
        Mode::SesSs => hybrid::search(program, explorer, settings, budget, keep),
        Mode::Random => random::search(program, explorer, settings, budget, keep),
    }
}

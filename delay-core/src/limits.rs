//! The bounds of an execution with their reasons, and what happens past them.

/// Most processes in one search. Past it the spawn panics, which is a violation that says so.
pub const PROCESSES_MAX: u32 = 1 << 24;
/// Most controlled objects in one search. Past it the creation panics, which is a violation that says so.
pub const OBJECTS_MAX: u32 = 1 << 26;
/// Most monitors of one execution. Past it the registration panics, which is a violation that says so.
pub const MONITORS_MAX: usize = 64;
/// How many objections of the monitors of a watch are kept for its end. All are told when they are made.
pub const OBJECTIONS_MAX: usize = 1_000;
/// Most bytes that wait for the disk while a recording is written. What finds no room is lost, counted, and the loss recorded.
pub const RECORDING_BYTES_MAX: usize = 8 << 20;
/// How many events before a violation are shown of a recording.
pub const EVENTS_BEFORE: usize = 20;
/// How far the clock of another node may be ahead of this one's, in microseconds: one hour. What is beyond is not believed.
pub const AHEAD_MAX_MICROS: u64 = 3_600_000_000;
/// Most alternatives of one process at one state: `choose(n)` refuses a larger n.
pub const ALTERNATIVES_MAX: u32 = 1 << 16;
/// How often a process may wake itself within one step before it counts as spinning (`FuturesUnordered` wakes itself
/// once per 32 futures; nothing legitimate does it a thousand times without an op).
pub const SELF_WAKES_MAX: u32 = 1_000;
/// Most acts of processes that learned execution keeps, about 100 bytes each. Past it nothing more is learnt: what is not known is
/// executed live each time.
pub const ACTS_MAX: usize = 1 << 24;
/// Most points in the trees of known steps, about 200 bytes each with what they lead to. Past it a search makes each step on the World again.
pub const POINTS_MAX: usize = 1 << 20;
/// Most bytes that the cache of a search takes unless the test says otherwise: some 400 million states. Past it the search stops and says
/// so, or goes over to sampling.
pub const CACHE_BYTES_DEFAULT: u64 = 4 << 30;
/// Most bytes of a line of a recording. Past it the file is refused: it is no recording, or damaged.
pub const RECORDED_LINE_BYTES_MAX: u64 = 1 << 28;
/// Steps of one execution, unless the test says otherwise.
pub const STEPS_DEFAULT: u32 = 100_000;
/// Most configurations of one part of an object whose linearizability is checked: 8 pending calls have at most 109,601.
/// Past it the monitor refuses the history and says so.
pub const CONFIGURATIONS_MAX: usize = 1 << 17;
/// Most bytes of a stored value's encoding. Past it the write panics and says so; a length beyond it in a file is damage.
pub const STORED_BYTES_MAX: usize = 1 << 30;
/// Steps of the execution that comes before all others, in which lazy initialisation is done: one that goes round for ever does nothing new.
pub const WARM_UP_STEPS_MAX: u32 = 1 << 14;
/// How long the engine waits for a wake by uncontrolled code before it gives the execution up, in milliseconds.
pub const FOREIGN_WAIT_MS: u64 = 1_000;
/// Steps between two looks at the clock.
pub const TICK_STEPS: u32 = 4_096;
/// Seconds a test explores by default under plain `cargo test`.
pub const BUDGET_DEFAULT_SECONDS: u64 = 10;
/// Seconds between two checkpoints of a search, unless the test says otherwise.
pub const CHECKPOINT_DEFAULT_SECONDS: u64 = 30;

const _: () = assert!(PROCESSES_MAX < u32::MAX - 1, "Process::FAULTS and Process::CLOCK must not be tasks");

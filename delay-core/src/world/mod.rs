//! The World: the paper's program state S as pure data.
//!
//! It holds ids only: no user value, no future, no clock, no I/O. Every controlled object's semantics stands here,
//! once; what most steps do a second time, for speed (`lane.rs`). Live execution asks it what a choice does ([`World::grant`]) and tells it what the process did next (the
//! methods of `act.rs`).
//!
//! Invariants:
//! - `Choices(s)`, the fingerprint and every name are functions of the path, never of the order in which ids or
//!   tables happened to be filled.
//! - The number of alternatives kept for a process is current between steps, and the explorer was told whenever it became
//!   or ceased to be 0.
//! - Every field is either in the fingerprint or named in `fingerprint.rs` with the reason why it is not.

pub mod access;
mod act;
#[cfg(feature = "test-hooks")]
pub mod as_set;
pub mod beyond;
mod choice;
mod clock;
mod copies;
mod ends;
pub mod environment;
mod fair;
pub mod fault;
mod fingerprint;
pub mod history;
pub mod journal;
mod key;
mod lane;
pub mod look;
mod looked;
pub mod mailbox;
#[cfg(feature = "test-hooks")]
pub mod masked;
mod monitor;
mod network;
mod node;
mod observed;
pub mod op;
pub mod parts;
pub mod premises;
pub mod process;
mod queue;
mod refresh;
mod refused;
pub mod shared;
mod step;
pub mod store;
mod tracked;
mod undo;
mod wait;
pub mod waiters;
pub mod words;

use crate::{
    explorer::Event,
    hash::Print,
    ids::{Object, Process, Slot},
    name::{Names, Point},
};
use access::Accesses;
pub use choice::Choice;
use copies::Looks;
use environment::{Environment, Happened};
pub use fair::{Demand, Lacking};
use history::History;
use journal::Journal;
pub use lane::{After, LANE};
use looked::Looked;
use mailbox::Mailbox;
use observed::Shown;
use op::Outcomes;
use parts::Part;
use premises::Premises;
use process::{ProcessState, Status};
use shared::Shared;
pub use step::{Further, Next};
use store::StoreState;
use tracked::Tracked;
use undo::Before;

/// Where scheduling points stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Granularity {
    /// Before each awaited op but a receive that finds a message in an unbounded FIFO mailbox (P's).
    #[default]
    Send,
    /// Before each awaited op.
    Op,
    /// At receives, joins, timers, choices and what tasks share only (jCUTE's macro-step). Refuses FIFO mailboxes.
    Macro,
}

/// The program state.
#[derive(Debug)]
pub struct World {
    pub(crate) names: Names,
    granularity: Granularity,
    processes: Tracked<ProcessState>,
    /// By the same ids.
    histories: Tracked<History>,
    /// Processes of this execution in order of creation.
    present: Vec<Process>,
    mailboxes: Tracked<Mailbox>,
    /// Mailboxes of this execution in order of creation.
    present_mailboxes: Vec<Object>,
    /// What processes share other than mailboxes, by the same ids; what stands in a mailbox's place has no meaning.
    shared: Tracked<Shared>,
    /// Those of this execution in order of creation.
    present_shared: Vec<Object>,
    /// Pending timers. Unordered; ordered when looked at.
    sleepers: Vec<(Process, Slot)>,
    /// In the order in which they were opened.
    stores: Vec<StoreState>,
    /// State of each monitor, in order of registration.
    monitors: Vec<Print>,
    /// What processes show to invariants.
    shown: Shown,
    environment: Environment,
    /// Per monitor that is hot, the choice in which it became so.
    hot_since: Vec<Option<u64>>,
    /// Explicit choices to be resolved before anything else happens, in order, with the number of outcomes.
    choosing: Vec<(Process, Slot, Outcomes)>,
    /// Virtual nanoseconds since the start.
    now: u64,
    /// Processes with an alternative.
    enabled: u32,
    /// Alternatives of all processes.
    alternatives: u32,
    /// Choices granted so far.
    choices: u64,
    /// Granted ops so far: a choice grants one, and the ops taken inside its step.
    steps: u64,
    messages: u32,
    /// Messages taken in this step.
    taken: Vec<(Object, Print)>,
    /// What happened in this step, for the explorer.
    events: Vec<Event>,
    /// What the environment did in this step, for people.
    happened: Vec<Happened>,
    actor: Process,
    /// The actor is in its first poll, right after its spawner's.
    first_poll: bool,
    /// The start, or the last op, that was taken inside the running step: what others can see must not follow it there.
    inside: Option<Point>,
    notes: Notes,
    /// Whether nobody watches what is done: see `lane.rs`.
    is_lane_open: bool,
    /// Whether the explorer is told of messages that are sent.
    tells_sent: bool,
    sum: Print,
    stale_processes: Vec<Process>,
    stale_mailboxes: Vec<Object>,
    stale_shared: Vec<Object>,
    /// Scratch for ordering a process's ready ops.
    scratch: Vec<Slot>,
    /// What the actor does while it is polled, for those who write it down.
    pub(crate) journal: Journal,
    /// What the step touches that others touch too, for those who ask.
    accesses: Accesses,
    /// What the state was before each step that can be taken back.
    before: Before,
    /// Which parts were looked at, while somebody wants to know.
    looked: Looked,
    /// How copies of a task see what they have seen, where they are exchanged.
    looks: Looks,
    /// What a test leaves out of the fingerprint.
    #[cfg(feature = "test-hooks")]
    masked: Option<masked::Part>,
    /// How a test has messages carried.
    #[cfg(feature = "test-hooks")]
    as_set: as_set::AsSet,
}

/// What the engine noticed while it ran, to be said in the coverage statement or acted upon.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that have nothing to do with each other")]
pub struct Notes {
    /// Ops on shared objects in the current step so far.
    ops_in_step: u32,
    /// Some step held more than one op on shared objects.
    pub merged_ops: bool,
    /// Something others can see happened in a first poll, or after an op inside the step: that start, or that op, must be a
    /// step of its own.
    pub early: Option<Point>,
    /// Something that could end the execution: one of those below, or a node was started.
    is_remarkable: bool,
    /// A process waits for two explicit choices at once, whose order is not the program's.
    pub two_choices: bool,
    /// What has to be taken for granted, by what this execution did.
    needs: Premises,
    /// A FIFO mailbox was created under `macro` granularity.
    pub fifo_in_macro: bool,
    /// Some process has forgotten in a step what it had seen.
    forgotten: bool,
}

impl World {
    /// The empty state; [`World::reset`] starts an execution.
    pub fn new(granularity: Granularity) -> Self {
        let looked = Looked::default();
        Self {
            names: Names::default(),
            granularity,
            processes: Tracked::new(Part::process, looked.clone()),
            histories: Tracked::new(Part::history, looked.clone()),
            present: Vec::new(),
            mailboxes: Tracked::new(Part::object, looked.clone()),
            present_mailboxes: Vec::new(),
            shared: Tracked::new(Part::object, looked.clone()),
            present_shared: Vec::new(),
            sleepers: Vec::new(),
            stores: Vec::new(),
            monitors: Vec::new(),
            shown: Shown::default(),
            hot_since: Vec::new(),
            choosing: Vec::new(),
            environment: Environment::default(),
            now: 0,
            enabled: 0,
            alternatives: 0,
            choices: 0,
            steps: 0,
            messages: 0,
            taken: Vec::new(),
            events: Vec::new(),
            happened: Vec::new(),
            actor: Process::BODY,
            first_poll: false,
            inside: None,
            notes: Notes::default(),
            is_lane_open: false,
            tells_sent: true,
            sum: Print::default(),
            stale_processes: Vec::new(),
            stale_mailboxes: Vec::new(),
            stale_shared: Vec::new(),
            scratch: Vec::new(),
            journal: Journal::default(),
            accesses: Accesses::default(),
            before: Before::default(),
            looked,
            looks: Looks::default(),
            #[cfg(feature = "test-hooks")]
            masked: None,
            #[cfg(feature = "test-hooks")]
            as_set: as_set::AsSet::default(),
        }
    }

    /// The initial state: the test body is about to be polled for the first time.
    pub fn reset(&mut self) {
        for process in self.present.drain(..) {
            self.processes[process.index()].status = Status::Absent;
        }
        self.present_mailboxes.clear();
        self.present_shared.clear();
        self.sleepers.clear();
        self.stores.clear();
        self.monitors.clear();
        self.shown.reset();
        self.hot_since.clear();
        self.choosing.clear();
        self.environment.reset();
        self.happened.clear();
        self.journal.is_over = false;
        (self.now, self.choices, self.steps, self.messages) = (0, 0, 0, 0);
        (self.enabled, self.alternatives) = (0, 0);
        self.taken.clear();
        self.events.clear();
        self.accesses.begin();
        (self.actor, self.first_poll, self.inside, self.notes) = (Process::BODY, false, None, Notes::default());
        self.looks.reset(self.names.exchanged());
        self.open_lane();
        self.sum = Print::default();
        self.stale_processes.clear();
        self.stale_mailboxes.clear();
        self.stale_shared.clear();
        self.begin(Process::BODY, Print::of(crate::hash::Domain::Process));
    }

    fn begin(&mut self, process: Process, local: Print) {
        while self.processes.len() <= process.index() {
            self.processes.push(ProcessState::new());
            self.histories.push(History::default());
        }
        self.processes[process.index()].begin();
        self.histories[process.index()] = History::begin(local);
        self.present.push(process);
        self.touch_print(process);
        self.events.push(Event::Start(process));
    }

    /// Whether steps run from one receive to the next.
    #[inline]
    fn is_macro(&self) -> bool {
        self.granularity == Granularity::Macro
    }

    /// How many processes can make a step now.
    #[inline]
    pub fn enabled(&self) -> u32 {
        self.enabled
    }

    /// Whether nothing can happen any more.
    #[inline]
    pub fn is_quiescent(&self) -> bool {
        self.enabled == 0 && self.clock_choices() == 0 && self.choosing().is_none() && self.fault_choices() == 0
    }

    /// Choices granted so far in this execution: the number of the present one, from 1; 0 is the set-up.
    #[inline]
    pub fn choices(&self) -> u64 {
        self.choices
    }

    /// Granted ops so far in this execution.
    #[inline]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How often this search learnt what it has to know from its beginning: that states must be told apart further, or
    /// that monitors can be hot. It never decides which choices there are. What was visited until then counts for nothing.
    #[inline]
    pub fn revision(&self) -> u32 {
        self.names.revision()
    }

    /// Virtual nanoseconds since the start of the execution.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// From here on the explorer is told of messages that are sent, or it is not.
    #[inline]
    pub fn tell_sent(&mut self, tells: bool) {
        self.tells_sent = tells;
    }

    /// What happened in the last step, for the explorer.
    #[inline]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// What the environment did in the last step and was not taken yet.
    pub fn happened(&self) -> &[Happened] {
        &self.happened
    }

    /// Takes what the environment did in this step so far.
    pub fn take_happened(&mut self) -> Vec<Happened> {
        std::mem::take(&mut self.happened)
    }

    /// What was noticed in this execution.
    #[inline]
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Whether nothing was noticed that could end the execution.
    #[inline]
    pub fn is_unremarkable(&self) -> bool {
        debug_assert_eq!(self.notes.is_remarkable, self.finds_something_remarkable(), "who notes something says so");
        !self.notes.is_remarkable
    }

    /// What [`Notes::is_remarkable`] says, found out anew.
    fn finds_something_remarkable(&self) -> bool {
        let Notes { two_choices, needs, fifo_in_macro, .. } = self.notes;
        two_choices || fifo_in_macro || needs != Premises::default() || !self.environment.nodes.is_empty()
    }

    /// The processes of this execution in order of creation.
    pub fn processes(&self) -> &[Process] {
        &self.present
    }

    /// One process.
    #[inline]
    pub fn process(&self, process: Process) -> &ProcessState {
        &self.processes[process.index()]
    }

    /// What a process has seen.
    #[inline]
    pub fn history(&self, process: Process) -> &History {
        &self.histories[process.index()]
    }

    /// One mailbox.
    pub fn mailbox(&self, object: Object) -> &Mailbox {
        &self.mailboxes[object.index()]
    }

    /// Whether a process exists in this execution and has not ended.
    #[inline]
    pub fn is_live(&self, process: Process) -> bool {
        self.processes.get(process.index()).is_some_and(ProcessState::is_live)
    }

    /// The process whose step or first poll is under way.
    #[inline]
    pub fn actor(&self) -> Process {
        self.actor
    }

    /// Whose explicit choice is being resolved, and among how many outcomes.
    #[inline]
    pub fn choosing(&self) -> Option<(Process, u32)> {
        if self.is_settled() { None } else { self.choosing_first() }
    }

    fn choosing_first(&self) -> Option<(Process, u32)> {
        if let Some(outcomes) = self.deciding() {
            return Some((Process::FAULTS, outcomes));
        }
        self.choosing.first().map(|(process, _, outcomes)| (*process, outcomes.count))
    }

    #[inline]
    fn touch_print(&mut self, process: Process) {
        note_stale(&mut self.histories[process.index()].stale, &mut self.stale_processes, process);
    }

    #[inline]
    fn touch_mailbox_print(&mut self, object: Object) {
        note_stale(&mut self.mailboxes[object.index()].stale, &mut self.stale_mailboxes, object);
    }
}

/// A fingerprint has to be made anew: notes whose, once. For those who have at hand whose it is, and need not look it up again.
#[inline]
fn note_stale<T>(is_stale: &mut bool, stale: &mut Vec<T>, whose: T) {
    if !*is_stale {
        *is_stale = true;
        stale.push(whose);
    }
}

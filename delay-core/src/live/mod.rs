//! Live execution: runs the real futures, on one thread, by the World's decisions.
//!
//! [`Live`] owns the futures; the World and the handles of `api/` meet in [`context`]. A position is reached by
//! re-executing its path from the start.
//!
//! Invariants:
//! - A step polls its process until everything it waits for is pending again; a spawned process is polled to its
//!   first op right after its spawner.
//! - Exactly one op is granted per poll, and its leaf's own waker is called before the poll, so that combinators with
//!   wakers of their own poll it.
//! - User code only ever runs with the context installed and not borrowed, and every call into it may panic.

pub mod context;
mod end;
mod labels;
mod lasso;
mod learning;
mod nodes;
pub(crate) mod observed;
pub(crate) mod panics;
mod poll;
mod reduction;
mod reexecute;
mod task;
mod totals;
pub(crate) mod traced;

use crate::{
    api::monitor,
    hash::Print,
    ids::Process,
    limits,
    trace::event::Event,
    verdict::{Divergence, Violation},
    world::{
        Choice, Granularity, World,
        fault::{Faults, Time},
        premises::Premises,
    },
};
use context::{Context, TaskFuture};
pub use lasso::Lasso;
use lasso::Watch;
pub use learning::GaveUp;
use learning::Learning;
use qcell::QCellOwner;
pub use reexecute::Footprint;
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use task::{Handle, Inbox};
pub use totals::{Alike, Totals};

/// The test body of one execution.
pub type BodyFuture<'b> = Pin<Box<dyn Future<Output = Result<(), String>> + 'b>>;
/// Makes a fresh test body for each execution.
pub type Body<'b> = dyn Make<'b> + 'b;

/// See [`Body`]. Closures that return a [`BodyFuture`] implement it.
pub trait Make<'b>: Send + Sync {
    /// A fresh test body, which says by itself what it has returned.
    fn make(&self) -> TaskFuture<'b>;
}

impl<'b, F: Fn() -> BodyFuture<'b> + Send + Sync> Make<'b> for F {
    fn make(&self) -> TaskFuture<'b> {
        let body = self();
        Box::pin(async move { context::returned(body.await) })
    }
}

/// What ends an execution whose body has returned while other processes can still run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum End {
    /// It goes on until nothing can happen any more.
    #[default]
    Quiescent,
    /// It ends with the body; the rest is dropped.
    Body,
}

/// Whether processes other than the body may be left waiting at the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Waiting {
    /// Servers may wait for ever.
    #[default]
    Allow,
    /// Any waiting process is a violation.
    Deny,
}

/// How an execution is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Where scheduling points stand.
    pub granularity: Granularity,
    /// What ends an execution.
    pub end: End,
    /// Whether processes may be left waiting.
    pub waiting: Waiting,
    /// Most steps of one execution.
    pub max_steps: u32,
    /// Seed of `delay::rng`.
    pub seed: u64,
    /// What may go wrong, and how often.
    pub faults: Faults,
    /// What is taken for granted of the program.
    pub premises: Premises,
    /// Right or wrong: a path is executed that was found under them.
    pub premises_are_given: bool,
    /// Which timers may fire when.
    pub time: Time,
    /// How far the clocks of two nodes may differ, in nanoseconds.
    pub skew: u64,
    /// For how many choices at most a monitor may be hot without a break; a heuristic.
    pub temperature: Option<u32>,
    /// What a test leaves out of the fingerprint.
    #[cfg(feature = "test-hooks")]
    pub masked: Option<crate::world::masked::Part>,
    /// How a test has messages carried.
    #[cfg(feature = "test-hooks")]
    pub wire: Option<crate::world::as_set::Wire>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            granularity: Granularity::Send,
            end: End::Quiescent,
            waiting: Waiting::Allow,
            max_steps: limits::STEPS_DEFAULT,
            seed: 0,
            faults: Faults::NONE,
            premises: Premises::default(),
            premises_are_given: false,
            time: Time::Any,
            skew: 0,
            temperature: None,
            #[cfg(feature = "test-hooks")]
            masked: None,
            #[cfg(feature = "test-hooks")]
            wire: None,
        }
    }
}

/// Where an execution stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// There is a choice to make.
    Running,
    /// It ended as it should.
    Finished,
    /// It was cut at `max_steps`.
    Truncated,
    /// It violated something: see [`Live::violation`].
    Violated,
    /// A choice of the path did not exist: the program did not do what it did before.
    Diverged,
}

/// Runs a program live.
pub struct Live<'b> {
    body: &'b Body<'b>,
    options: Options,
    /// None only while a step has it installed.
    context: Option<Box<Context>>,
    tasks: Vec<Option<TaskFuture<'b>>>,
    handles: Vec<Handle>,
    inbox: Arc<Inbox>,
    path: Vec<Choice>,
    status: Status,
    recording: bool,
    watch: Option<Watch>,
    /// What was learnt of what processes do, if it is.
    learning: Option<Box<Learning>>,
    gave_up: Option<GaveUp>,
    /// Steps of the present execution that are in the totals.
    absorbed: u64,
    /// Sums over all executions, for the coverage statement.
    totals: Totals,
}

impl std::fmt::Debug for Live<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("status", &self.status).field("path", &self.path).finish_non_exhaustive()
    }
}

fn next_execution() -> u64 {
    static EXECUTION: AtomicU64 = AtomicU64::new(1);
    EXECUTION.fetch_add(1, Ordering::Relaxed)
}

impl<'b> Live<'b> {
    /// A program that has not started. Call [`Live::restart`] first.
    pub fn new(body: &'b Body<'b>, options: Options) -> Self {
        panics::install_hook();
        monitor::listens(monitor::CONTROLLED);
        let mut world = World::new(options.granularity);
        #[cfg(feature = "test-hooks")]
        {
            world.mask(options.masked);
            world.carry(options.wire);
        }
        world.set_environment(options.faults, options.premises, options.time, options.skew);
        let context = Context {
            world,
            owner: QCellOwner::new(),
            nodes: Vec::new(),
            stores: Vec::new(),
            links: Vec::new(),
            execution: 0,
            labels: labels::Labels::default(),
            monitors: Vec::new(),
            observations: observed::Observations::default(),
            spawned: Vec::new(),
            wakers: Vec::new(),
            leaf_wakers: Vec::new(),
            violation: None,
            recorder: None,
            seed: options.seed,
            unheard: 0,
            unheard_first: None,
            unseen: 0,
            foreign_wakes: 0,
            woken_first: None,
        };
        Self {
            body,
            options,
            context: Some(Box::new(context)),
            tasks: Vec::new(),
            handles: Vec::new(),
            inbox: Arc::default(),
            path: Vec::new(),
            status: Status::Finished,
            recording: false,
            watch: None,
            learning: None,
            gave_up: None,
            absorbed: 0,
            totals: Totals::default(),
        }
    }

    /// The program state.
    #[inline]
    pub fn world(&self) -> &World {
        &self.outside().world
    }

    /// The fingerprint of the present state.
    #[inline]
    pub fn fingerprint(&mut self) -> Print {
        self.outside_mut().world.fingerprint()
    }

    /// How the program is run.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Whether nothing is left out of the fingerprint: only tests do that.
    #[inline]
    pub fn is_unmasked(&self) -> bool {
        #[cfg(feature = "test-hooks")]
        return self.options.masked.is_none();
        #[cfg(not(feature = "test-hooks"))]
        true
    }

    /// Whether a search may see that an execution violated something: a test masks that too.
    #[inline]
    pub fn shows_violations(&self) -> bool {
        #[cfg(feature = "test-hooks")]
        return !self.world().masks(crate::world::masked::Part::Violations);
        #[cfg(not(feature = "test-hooks"))]
        true
    }

    /// The choices made so far in this execution.
    pub fn path(&self) -> &[Choice] {
        &self.path
    }

    /// Where the execution stands.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The violation of this execution.
    pub fn violation(&self) -> Option<&Violation> {
        self.outside().violation.as_ref()
    }

    /// Sums over all executions.
    pub fn totals(&mut self) -> Totals {
        self.absorb();
        self.totals.clone()
    }

    /// From the next execution on, events are recorded in words and the program's panics and prints are let through.
    pub fn set_recording(&mut self, recording: bool) {
        self.recording = recording;
    }

    /// The events of this execution, if they were recorded.
    pub fn events(&self) -> &[Event] {
        self.outside().recorder.as_deref().unwrap_or_default()
    }

    /// What people call a process.
    pub fn label(&self, process: Process) -> String {
        let context = self.outside();
        context.labels.process(&context.world, process)
    }

    #[inline]
    fn outside(&self) -> &Context {
        self.context.as_deref().unwrap_or_else(|| crate::bug!("looked at an execution in the middle of a step"))
    }

    #[inline]
    fn outside_mut(&mut self) -> &mut Context {
        self.context.as_deref_mut().unwrap_or_else(|| crate::bug!("touched an execution in the middle of a step"))
    }

    /// Starts a new execution: the body is polled to its first op, and what it spawned is too.
    pub fn restart(&mut self) -> Status {
        loop {
            self.absorb();
            self.absorbed = 0;
            self.tear_down();
            self.path.clear();
            self.rewind_watch();
            self.totals.executions += 1;
            let recording = self.recording;
            let context = self.outside_mut();
            context.execution = next_execution();
            context.recorder = recording.then(Vec::new);
            (context.violation, context.unheard, context.unseen, context.foreign_wakes) = (None, 0, 0, 0);
            context.world.reset();
            context.labels.forget_messages();
            // Pitfall B.18: no execution continues a clone of another.
            let body = self.installed(Process::BODY, |live| live.body.make()).0;
            self.add_task(Process::BODY, body);
            self.first_poll(Process::BODY, Process::BODY);
            #[cfg(feature = "test-hooks")]
            if let Some(next) = self.outside_mut().world.set_up_goes_on() {
                self.run(next);
            }
            self.poll_spawned(Process::BODY);
            if !self.learn_apart() && !self.outside().world.is_to_exchange() {
                break;
            }
        }
        self.begin_learning();
        self.conclude()
    }

    /// Makes one choice.
    #[inline]
    pub fn step(&mut self, choice: Choice) -> Status {
        if self.learning.is_some() { self.step_learning(choice) } else { self.step_live(choice) }
    }

    /// Re-executes the present path after something was learnt about it.
    #[cold]
    fn again(&mut self) -> Status {
        let path = std::mem::take(&mut self.path);
        self.restart();
        for choice in path {
            if self.status != Status::Running {
                break;
            }
            self.step_live(choice);
        }
        self.status
    }

    /// Whether the execution showed an op that must be a step of its own, not known before.
    fn learn_apart(&mut self) -> bool {
        let world = &mut self.outside_mut().world;
        world.notes().early.is_some_and(|point| world.names.remember_apart(point))
    }

    /// Decides where the execution stands after a step.
    #[inline]
    fn conclude(&mut self) -> Status {
        if self.outside().observations.changed {
            self.check_invariants();
        }
        self.status = if self.goes_on() { Status::Running } else { self.decide() };
        self.status
    }

    /// Adds what the present execution counted to the totals, once.
    fn absorb(&mut self) {
        let Some(context) = self.context.as_deref_mut() else { return };
        // Steps that may be taken back are counted as they are made.
        let steps = if self.learning.is_some() {
            0
        } else {
            let steps = context.world.steps();
            steps - std::mem::replace(&mut self.absorbed, steps)
        };
        self.totals.add(&Totals {
            executions: 0,
            steps,
            merged_ops: context.world.notes().merged_ops,
            foreign_wakes: std::mem::take(&mut context.foreign_wakes),
            woken_first: context.woken_first.take(),
            unheard: std::mem::take(&mut context.unheard),
            unheard_first: context.unheard_first.take(),
            possible_faults: context.world.possible_faults(),
            met_faults: context.world.met_faults(),
            links: std::mem::take(&mut context.links),
            unbound: None,
            unseen: std::mem::take(&mut context.unseen),
            panics: 0,
            copies: Alike::of(context.world.names.copies()),
            beyond_learning: self.gave_up.map_or(0, |why| why.beyond(&context.world)),
        });
    }

    /// Runs user code of a process with the context installed. Says too whether the process woke itself.
    #[inline]
    fn installed<R>(&mut self, process: Process, f: impl FnOnce(&mut Self) -> R) -> (R, bool) {
        debug_assert!(self.context.is_some(), "steps do not nest");
        context::install(&mut self.context, process, !self.recording);
        let result = f(self);
        (result, context::uninstall(&mut self.context))
    }

    /// Drops what is left of the execution. Destructors may perform ops; the World they act on is about to be reset.
    fn tear_down(&mut self) {
        let context = self.outside();
        let nothing_to_see = context.monitors.is_empty() && context.observations.is_empty();
        let nothing_kept = context.nodes.is_empty() && context.stores.is_empty();
        if self.tasks.iter().all(Option::is_none) && nothing_to_see && nothing_kept {
            return;
        }
        if !self.is_attached() {
            // The World stands elsewhere: destructors have nothing to do with it.
            self.outside_mut().execution = 0;
        }
        self.outside_mut().world.tear_down();
        let panics = self.totals.panics;
        for index in 0..self.tasks.len() {
            if self.tasks[index].is_some() {
                self.drop_task(Process::new(index as u32));
            }
        }
        let context = self.outside_mut();
        context.leaf_wakers.clear();
        let (spawned, monitors) = (std::mem::take(&mut context.spawned), std::mem::take(&mut context.monitors));
        let (nodes, stores) = (std::mem::take(&mut context.nodes), std::mem::take(&mut context.stores));
        let observations = std::mem::take(&mut context.observations);
        // A destructor that panics after the end has nobody left to tell.
        let _ =
            self.installed(Process::BODY, |_| poll::guarded(|| drop((spawned, monitors, observations, nodes, stores))));
        self.totals.panics = panics;
        self.inbox.take();
        self.renew_wakers();
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        self.tear_down();
    }
}

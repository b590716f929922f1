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
mod labels;
mod monitors;
pub(crate) mod panics;
mod poll;
mod task;

use crate::{
    hash::{Domain, Print},
    ids::Process,
    limits,
    trace::event::Event,
    verdict::{Divergence, Violation, Wait, place},
    world::{Choice, Granularity, Next, World, op::Op, process::Status as ProcessStatus},
};
use context::{Context, TaskFuture};
pub(crate) use monitors::{Listener, short_type_name};
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use task::{Handle, Inbox};

/// The test body of one execution.
pub type BodyFuture<'b> = Pin<Box<dyn Future<Output = Result<(), String>> + 'b>>;
/// Makes a fresh test body for each execution.
pub type Body<'b> = dyn Make<'b> + 'b;

/// See [`Body`]. Closures that return a [`BodyFuture`] implement it.
pub trait Make<'b>: Send + Sync {
    /// A fresh test body.
    fn make(&self) -> BodyFuture<'b>;
}

impl<'b, F: Fn() -> BodyFuture<'b> + Send + Sync> Make<'b> for F {
    fn make(&self) -> BodyFuture<'b> {
        self()
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
}

impl Default for Options {
    fn default() -> Self {
        Self {
            granularity: Granularity::Send,
            end: End::Quiescent,
            waiting: Waiting::Allow,
            max_steps: limits::STEPS_DEFAULT,
            seed: 0,
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

/// What a process looked like after one of its steps: compared when a path is re-executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Footprint {
    print: u64,
    waits_for: Option<Op>,
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
    /// Steps of the present execution that are in the totals.
    absorbed: u64,
    /// Sums over all executions, for the coverage statement.
    totals: Totals,
}

/// Sums over all executions of one `Live`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Executions started, re-executions included.
    pub executions: u64,
    /// Steps made, re-executed ones included.
    pub steps: u64,
    /// Some step held several ops on shared objects.
    pub merged_ops: bool,
    /// Wakes by code the engine does not control.
    pub foreign_wakes: u64,
    /// Announced events no monitor listened to.
    pub unheard: u64,
    /// Panics that were caught.
    pub panics: u64,
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
        let context = Context {
            world: World::new(options.granularity),
            execution: 0,
            labels: labels::Labels::default(),
            monitors: Vec::new(),
            spawned: Vec::new(),
            wakers: Vec::new(),
            leaf_wakers: Vec::new(),
            violation: None,
            recorder: None,
            seed: options.seed,
            unheard: 0,
            foreign_wakes: 0,
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
            absorbed: 0,
            totals: Totals::default(),
        }
    }

    /// The program state.
    #[inline]
    pub fn world(&self) -> &World {
        &self.outside().world
    }

    /// The program state, to bring its fingerprint up to date.
    #[inline]
    pub fn fingerprint(&mut self) -> Print {
        self.outside_mut().world.fingerprint()
    }

    /// How the program is run.
    pub fn options(&self) -> &Options {
        &self.options
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
        self.totals
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
            self.totals.executions += 1;
            let recording = self.recording;
            let context = self.outside_mut();
            context.execution = next_execution();
            context.recorder = recording.then(Vec::new);
            (context.violation, context.unheard, context.foreign_wakes) = (None, 0, 0);
            context.world.reset();
            self.in_step(|live| {
                let made = live.body.make();
                let body: TaskFuture<'b> = Box::pin(async move {
                    if let Err(message) = made.await {
                        context::with(|context| context.violate(Violation::Error { message }));
                    }
                });
                live.add_task(Process::BODY, body);
                live.first_poll(Process::BODY, Process::BODY);
                live.poll_spawned(Process::BODY);
            });
            if !self.learn_start() {
                break;
            }
        }
        self.conclude()
    }

    /// Grants one choice.
    #[inline]
    pub fn step(&mut self, choice: Choice) -> Status {
        debug_assert_eq!(self.status, Status::Running, "a step needs a running execution");
        let Some(next) = self.outside_mut().world.grant(choice) else {
            self.status = Status::Diverged;
            return self.status;
        };
        self.path.push(choice);
        self.perform(next);
        if self.outside().world.notes().early.is_some() && self.learn_start() {
            return self.again();
        }
        self.conclude()
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
            self.step(choice);
        }
        self.status
    }

    /// Whether the execution showed a start that must be a step of its own, not known before.
    fn learn_start(&mut self) -> bool {
        let world = &mut self.outside_mut().world;
        world.notes().early.is_some_and(|initial| world.names.remember_start(initial))
    }

    /// Re-executes a path from the start. From step `from` on, each step is compared with what the process did the
    /// first time.
    ///
    /// # Errors
    /// The first step at which the program did something else.
    pub fn go_to(&mut self, path: &[Choice], from: usize, footprints: &[Footprint]) -> Result<Status, Divergence> {
        self.restart();
        for (index, choice) in path.iter().enumerate() {
            let expected = index.checked_sub(from).and_then(|at| footprints.get(at));
            if self.status != Status::Running {
                return Err(self.divergence(index, *choice, expected, "the end of the execution"));
            }
            if self.step(*choice) == Status::Diverged {
                return Err(self.divergence(index, *choice, expected, "that it cannot make this step"));
            }
            if let Some(expected) = expected
                && self.footprint(*choice) != *expected
            {
                let seen = self.words(self.footprint(*choice), Some(*expected));
                return Err(self.divergence(index, *choice, Some(expected), &seen));
            }
        }
        Ok(self.status)
    }

    /// A divergence at the end of the present path.
    #[cold]
    pub fn divergence_here(&self, expected: &str, seen: &str) -> Divergence {
        let step = self.path.len();
        let process = self.path.last().map_or("main".to_owned(), |choice| self.label(choice.process));
        Divergence { step, process, expected: expected.to_owned(), seen: seen.to_owned() }
    }

    #[cold]
    fn divergence(&self, index: usize, choice: Choice, expected: Option<&Footprint>, seen: &str) -> Divergence {
        Divergence {
            step: index + 1,
            process: self.label(choice.process),
            expected: expected.map_or("a step".to_owned(), |footprint| self.words(*footprint, None)),
            seen: seen.to_owned(),
        }
    }

    fn words(&self, footprint: Footprint, instead_of: Option<Footprint>) -> String {
        let context = self.outside();
        if instead_of.is_some_and(|other| other.waits_for == footprint.waits_for) {
            return "the same op after observing something else".to_owned();
        }
        footprint.waits_for.map_or("its end".to_owned(), |op| {
            format!("that it waits for {}", context.labels.op(&context.world, op))
        })
    }

    /// What the process of the last step looks like now.
    #[inline]
    pub fn footprint(&self, choice: Choice) -> Footprint {
        let world = self.world();
        let process = if choice.process == Process::CLOCK { world.actor() } else { choice.process };
        let state = world.process(process);
        let waits_for = state.waiting().next().map(|pending| pending.op);
        let pending = state.waiting().map(|pending| std::mem::discriminant(&pending.op));
        let shape = Print::of_value(Domain::Process, &pending.collect::<Vec<_>>());
        Footprint { print: state.local().and(shape).short(), waits_for }
    }

    /// Decides where the execution stands after a step.
    #[inline]
    fn conclude(&mut self) -> Status {
        self.status = self.decide();
        self.status
    }

    /// Adds what the present execution counted to the totals, once.
    fn absorb(&mut self) {
        let Some(context) = self.context.as_deref_mut() else { return };
        let totals = &mut self.totals;
        totals.unheard += std::mem::take(&mut context.unheard);
        totals.foreign_wakes += std::mem::take(&mut context.foreign_wakes);
        totals.merged_ops |= context.world.notes().merged_ops;
        totals.steps += context.world.steps() - std::mem::replace(&mut self.absorbed, context.world.steps());
    }

    #[inline]
    fn decide(&mut self) -> Status {
        let (end, max_steps) = (self.options.end, u64::from(self.options.max_steps));
        let context = self.outside();
        if context.violation.is_some() {
            return Status::Violated;
        }
        if context.world.notes().fifo_in_macro {
            let message = "granularity \"macro\" loses interleavings of FIFO mailboxes: use granularity \"send\", or endpoints with per-sender or unordered delivery".to_owned();
            self.outside_mut().violate(Violation::Refused { message });
            return Status::Violated;
        }
        let body_ended = !context.world.process(Process::BODY).is_live();
        if body_ended && end == End::Body {
            return Status::Finished;
        }
        if context.world.is_quiescent() {
            return self.quiescent(body_ended);
        }
        if context.world.steps() >= max_steps { Status::Truncated } else { Status::Running }
    }

    #[cold]
    fn quiescent(&mut self, body_ended: bool) -> Status {
        if let Some(waiter) = self.waits_uncontrolled()
            && (!body_ended || self.inbox.has_any())
        {
            if self.inbox.wait() {
                self.take_foreign_wakes();
                return self.decide();
            }
            let process = self.label(waiter);
            let violation = Violation::Uncontrolled { process, site: String::new() };
            self.outside_mut().violate(violation);
            return Status::Violated;
        }
        let waits = self.waits();
        if !body_ended {
            self.outside_mut().violate(Violation::Deadlock { waits });
            return Status::Violated;
        }
        if self.options.waiting == Waiting::Deny && !waits.is_empty() {
            self.outside_mut().violate(Violation::Waiting { waits });
            return Status::Violated;
        }
        Status::Finished
    }

    /// A live process that waits for nothing the engine knows.
    fn waits_uncontrolled(&self) -> Option<Process> {
        let world = self.world();
        let lost = |process: &&Process| {
            let state = world.process(**process);
            state.is_live() && state.waiting().next().is_none()
        };
        world.processes().iter().find(lost).copied()
    }

    /// Who waits for what.
    fn waits(&self) -> Vec<Wait> {
        let Context { world, labels, .. } = self.outside();
        let live = world.processes().iter().filter(|process| world.process(**process).is_live());
        live.map(|process| {
            let pending: Vec<_> = world.process(*process).waiting().collect();
            Wait {
                process: labels.process(world, *process),
                ops: pending.iter().map(|pending| labels.op(world, pending.op)).collect(),
                sites: pending.iter().map(|pending| place(pending.site)).collect(),
            }
        })
        .collect()
    }

    fn perform(&mut self, next: Next) {
        self.in_step(|live| live.run(next));
    }

    /// Runs `f` with the context installed.
    #[inline]
    fn in_step(&mut self, f: impl FnOnce(&mut Self)) {
        let context = self.context.take().unwrap_or_else(|| crate::bug!("steps do not nest"));
        context::install(context);
        let quiet = !self.recording;
        if quiet {
            context::set_quiet(true);
        }
        f(self);
        if quiet {
            context::set_quiet(false);
        }
        self.context = Some(context::uninstall());
    }

    /// Drops what is left of the execution. Destructors may perform ops; the World they act on is about to be reset.
    fn tear_down(&mut self) {
        if self.tasks.iter().all(Option::is_none) && self.outside().monitors.is_empty() {
            return;
        }
        self.in_step(|live| {
            for index in 0..live.tasks.len() {
                if live.tasks[index].is_some() {
                    live.drop_task(Process::new(index as u32));
                }
            }
            let (spawned, monitors) = context::with(|context| {
                context.leaf_wakers.clear();
                (std::mem::take(&mut context.spawned), std::mem::take(&mut context.monitors))
            })
            .unwrap_or_default();
            // A destructor that panics after the end has nobody left to tell.
            let _ = poll::guarded(|| drop((spawned, monitors)));
        });
        self.inbox.take();
        self.renew_wakers();
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        self.tear_down();
    }
}

/// Whether a process is over, however it ended.
pub(crate) fn is_over(status: ProcessStatus) -> bool {
    matches!(status, ProcessStatus::Finished | ProcessStatus::Cancelled)
}

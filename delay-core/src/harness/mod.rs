//! One test from start to end: settings, pins, search, confirmation, minimisation, saving, report.
//!
//! The outer ring: here things may be printed, allocated and fail. Nothing else of core knows that a command line tool
//! exists.
//!
//! Invariants: a test that is told as passed has replayed its pins and stands behind its coverage statement; a failure
//! is saved before it is minimised.

mod checker;
mod checkpoint;
mod config;
pub mod conformance;
mod emit;
pub mod failure;
mod observe;
mod outcome;
mod pins;
mod quiet;
pub mod registry;
mod session;
mod streams;
mod test;
mod words;

use crate::{
    coverage::Coverage,
    explorer::Explorer,
    live::{
        Body, Make,
        context::{self, TaskFuture},
        traced,
    },
    search::{
        Program, Stop,
        budget::{Budget, Progress},
    },
    trace::{TestName, Trace},
};
pub use checker::Checker;
use checkpoint::Checkpoint;
use config::Resolved;
pub use config::{ConfigError, Expect, parse_duration};
pub use observe::observe;
pub use outcome::Outcome;
use quiet::Prints;
use registry::{Job, Registry};
pub use session::Failure;
use session::{Done, Session, Shown, Work};
use std::{future::Future, sync::atomic::AtomicBool, time::Duration};
pub use test::{Pin, Test, run};

/// What a check covered and found.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was covered.
    pub coverage: Coverage,
    /// Why the search stopped.
    pub stop: Stop,
    /// The failing execution, minimised.
    pub failure: Option<Failure>,
}

impl Report {
    /// What was covered, in sentences with their numbers.
    pub fn sentences(&self) -> String {
        self.coverage.sentences(&self.stop)
    }

    /// Whether a violation was found.
    pub fn is_failure(&self) -> bool {
        self.failure.is_some()
    }

    /// Whether everything was visited: nothing found, nothing cut, nothing uncontrolled.
    pub fn is_complete(&self) -> bool {
        self.coverage.is_complete(&self.stop)
    }

    /// Panics with the failure's report if there is one, or if nothing could be said of the program.
    ///
    /// # Panics
    /// See above.
    #[track_caller]
    pub fn assert_passed(&self) {
        if let Some(failure) = &self.failure {
            panic!("{}", failure::report(failure, "found by a Checker", None));
        }
        if let Some(problem) = problem(&self.stop) {
            panic!("{problem}");
        }
    }
}

/// Why nothing can be said of the program, if so.
fn problem(stop: &Stop) -> Option<String> {
    match stop {
        Stop::Nondeterministic(divergence) => Some(format!(
            "uncontrolled nondeterminism: {divergence}\n  the same choices led to different behaviour; usual causes: iteration order of std HashMap or HashSet (use delay::collections), SystemTime or Instant (use delay::time), a random generator (use delay::rng), statics, Rc or Arc state shared between tasks, threads, a checkpoint that leaves part of the state out"
        )),
        Stop::Unsound(process) => Some(format!(
            "the explorer is not sound: it named {process}, which cannot run or had been named at the same state before; check it with delay::explorer::check_soundness"
        )),
        Stop::Impossible(what) => Some(what.clone()),
        Stop::Irreducible(what) => Some(format!("reduction \"dpor\" has no place for {what}: leave the reduction out")),
        Stop::Exhausted
        | Stop::Delays
        | Stop::Samples
        | Stop::Time
        | Stop::States
        | Stop::Memory
        | Stop::Interrupted
        | Stop::Found(_) => None,
    }
}

/// A user's body as the engine holds it: whatever it returns is success or an error in words.
#[derive(Debug)]
pub struct Erased<'b, F>(pub &'b F);

impl<'b, F, Fut> Make<'b> for Erased<'b, F>
where
    F: Fn() -> Fut + Send + Sync,
    Fut: Future + 'b,
    Fut::Output: Outcome,
{
    fn make(&self) -> TaskFuture<'b> {
        let future = (self.0)();
        Box::pin(async move { context::returned(future.await.outcome()) })
    }
}

/// Who runs the session's job.
pub(crate) type Runner<'r> = dyn Fn(&str, u64, Job<'_, '_, '_>) -> Option<()> + Sync + 'r;

pub(crate) fn by_name<R: Registry>(name: &str, seed: u64, job: Job<'_, '_, '_>) -> Option<()> {
    R::run(name, seed, job)
}

/// Runs one session on a thread of its own: no runtime of the caller's is entered there, so that a raw tokio call
/// fails instead of escaping.
#[expect(clippy::disallowed_methods, reason = "the session's own thread, joined here")]
fn on_own_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let name = std::thread::current().name().unwrap_or("delay").to_owned();
    let listener = traced::listener();
    std::thread::scope(|scope| {
        let spawned = std::thread::Builder::new().name(name).spawn_scoped(scope, || traced::silenced(listener, work));
        match spawned.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(payload)) => std::panic::resume_unwind(payload),
            Err(error) => panic!("cannot start a thread to explore on: {error}"),
        }
    })
}

/// Everything about one session but its work.
struct Setup<'s, 'b> {
    body: &'b Body<'b>,
    test: TestName,
    resolved: &'s Resolved,
    interrupted: &'s AtomicBool,
    progress: &'s (dyn Fn(Duration, &Progress) + Sync),
    prints: Prints,
    on_failure: &'s (dyn Fn(&Failure) + Sync),
    checkpoint: Option<&'s Checkpoint>,
}

fn work(setup: &Setup<'_, '_>, runner: &Runner<'_>, explorer: &str, work: Work) -> Option<Done> {
    let resolved = setup.resolved;
    let settings = resolved.settings();
    let seed = match &work {
        Work::Replay(trace, _) => trace.seed,
        Work::Explore => settings.seed,
    };
    let mut options = resolved.options();
    if let Work::Replay(trace, _) = &work {
        options.granularity = trace.granularity;
        (options.end, options.waiting, options.max_steps, options.seed) =
            (trace.end, trace.waiting, trace.max_steps, trace.seed);
        options.faults = trace.faults;
        (options.premises, options.premises_are_given) = (trace.premises, true);
        (options.time, options.skew) = (trace.time, trace.skew);
    }
    quiet::install_hook();
    on_own_thread(|| {
        let budget = Budget::start(settings.limits, setup.interrupted, setup.progress);
        let mut session = Session {
            program: Program { body: setup.body, options },
            settings,
            test: setup.test.clone(),
            explorer: explorer.to_owned(),
            budget: &budget,
            on_failure: setup.on_failure,
            prints: setup.prints,
            checkpoint: setup.checkpoint,
            work,
            done: None,
        };
        runner(explorer, seed, Job { session: &mut session })?;
        session.done
    })
}

fn check<'b, R: Registry>(checker: &Checker<R>, body: &'b Body<'b>) -> Report {
    check_by(checker, &by_name::<R>, checker.config.explorer, body, R::NAMES)
}

fn check_with<'b, R, E: Explorer>(checker: &Checker<R>, make: impl Fn(u64) -> E + Sync, body: &'b Body<'b>) -> Report {
    let own = |_: &str, seed, job: Job<'_, '_, '_>| {
        job.run(make(seed));
        Some(())
    };
    check_by(checker, &own, std::any::type_name::<E>(), body, &[])
}

fn replay<'b, R: Registry>(checker: &Checker<R>, trace: &Trace, body: &'b Body<'b>) -> Trace {
    let todo = Work::Replay(Box::new(trace.clone()), Shown::No);
    match by_itself(checker, &by_name::<R>, &trace.explorer, body, todo) {
        Some(Done::Replayed(now)) => now.trace,
        Some(Done::Explored { .. }) => crate::bug!("replayed, got an exploration"),
        None => panic!("{}", unknown_explorer(&trace.explorer, R::NAMES)),
    }
}

fn check_by<'b, R>(
    checker: &Checker<R>,
    runner: &Runner<'_>,
    explorer: &str,
    body: &'b Body<'b>,
    names: &[&str],
) -> Report {
    match by_itself(checker, runner, explorer, body, Work::Explore) {
        Some(Done::Explored { outcome, failure }) => Report { coverage: outcome.coverage, stop: outcome.stop, failure },
        Some(Done::Replayed(_)) => crate::bug!("explored, got a replay"),
        None => panic!("{}", unknown_explorer(explorer, names)),
    }
}

/// Work outside a test: nothing is told to anybody, nothing is saved.
fn by_itself<'b, R>(
    checker: &Checker<R>,
    runner: &Runner<'_>,
    explorer: &str,
    body: &'b Body<'b>,
    todo: Work,
) -> Option<Done> {
    let resolved = Resolved { explorer: explorer.to_owned(), config: checker.config, place: None };
    resolved.fits().unwrap_or_else(|error| panic!("{error}"));
    let setup = Setup {
        body,
        test: TestName { package: "none".to_owned(), krate: "none".to_owned(), path: "checker".to_owned() },
        resolved: &resolved,
        interrupted: &AtomicBool::new(false),
        progress: &|_, _| {},
        prints: Prints::Unwanted,
        on_failure: &|_| {},
        checkpoint: None,
    };
    work(&setup, runner, explorer, todo)
}

fn unknown_explorer(name: &str, names: &[&str]) -> ConfigError {
    let allowed: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    ConfigError::new("explorer", name, &format!("one of {}", allowed.join(", ")))
}

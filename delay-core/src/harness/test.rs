//! What `#[delay_test]` expands to: replay the pins, explore, save, report, and end as libtest wants.

use super::{
    Checker, Checkpoint, Done, Failure, Report, Resolved, Runner, Setup, Work,
    checkpoint::Subject,
    config::{self, Config, Expect},
    emit::Emitter,
    failure,
    pins::Pins,
    problem,
    quiet::{self, Prints},
    registry::Registry,
    session::Shown,
    unknown_explorer, work,
};
use crate::{
    live::Body,
    protocol::{
        Command, ErrorKind, Event, Finding, Finished, Overrides, Progress as ProgressEvent, REQUEST_ENV, ReplayOutcome,
        Replayed as ReplayedEvent, Request, Started, TestRecord, Verdict as VerdictEvent,
    },
    replay::{self, Replayed},
    search::{
        Stop,
        budget::{Budget, Limits, Progress},
    },
    trace::{TestName, Trace, Verdict, pin, text},
};
use std::{
    env,
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

/// What the macro's closure hands to insta, in the user's crate.
#[derive(Clone, Copy, Debug)]
pub struct Pin<'a> {
    /// Where the snapshot lies.
    pub directory: &'a Path,
    /// Its name.
    pub name: &'a str,
    /// For people.
    pub description: &'a str,
    /// Its contents.
    pub body: &'a str,
}

/// Which test this is, as the macro knows it.
#[derive(Clone, Copy, Debug)]
pub struct Test<'a> {
    /// The text of its link-section record.
    pub record: &'a str,
    /// The package's directory at compile time.
    pub manifest_dir: &'a str,
    /// What stands for the test's own explorer, if it brings one.
    pub own_explorer: Option<&'a str>,
}

/// Runs a test.
///
/// # Panics
/// If it fails; the payload holds the violation's text.
pub fn run<'b, R: Registry>(
    test: &Test<'_>,
    checker: &Checker<R>,
    pin: &(dyn Fn(&Pin<'_>) + Sync),
    runner: &Runner<'_>,
    body: &'b Body<'b>,
) {
    let record = TestRecord::from_text(test.record).unwrap_or_else(|error| crate::bug!("{error}"));
    let emitter = Emitter::from_env();
    let interrupted = AtomicBool::new(false);
    let clock = Budget::start(Limits::default(), &interrupted, &|_, _| {});
    let path = record.path.clone();
    let prints = Prints::of_test(&path);
    emitter.send(Event::Started(Started {
        version: crate::protocol::VERSION,
        test: path.clone(),
        file: record.file.clone(),
        line: record.line,
    }));
    let run = Run {
        name: TestName { package: record.package, krate: record.krate, path },
        manifest_dir: env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| test.manifest_dir.into(), PathBuf::from),
        emitter: &emitter,
        interrupted: &interrupted,
        pin,
        runner,
        body,
        names: R::NAMES,
        prints,
    };
    let mut config = checker.config;
    if test.own_explorer.is_some() {
        // Stands until a flag or a variable names another.
        config.explorer = "";
    }
    let ended = run.all(config, test.own_explorer);
    let elapsed_ms = milliseconds(clock.elapsed());
    emitter.send(Event::Finished(Finished { elapsed_ms, ..ended.finished }));
    if let Some(message) = ended.panics_with {
        // Not `panic!`: everything a person needs was printed; the payload is for libtest and `should_panic`.
        resume_unwind(Box::new(message));
    }
}

pub(super) struct Run<'r, 'b> {
    pub(super) name: TestName,
    pub(super) manifest_dir: PathBuf,
    pub(super) emitter: &'r Emitter,
    interrupted: &'r AtomicBool,
    pub(super) pin: &'r (dyn Fn(&Pin<'_>) + Sync),
    runner: &'r Runner<'r>,
    body: &'b Body<'b>,
    pub(super) names: &'static [&'static str],
    pub(super) prints: Prints,
}

/// How the test ends.
struct Ended {
    finished: Finished,
    panics_with: Option<String>,
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn finished(verdict: VerdictEvent, report: Option<&Report>) -> Finished {
    let coverage = report.map(|report| &report.coverage);
    Finished {
        verdict,
        coverage: report.map(Report::sentences).unwrap_or_default(),
        executions: coverage.map_or(0, |coverage| coverage.totals.executions),
        steps: coverage.map_or(0, |coverage| coverage.totals.steps),
        states: coverage.map_or(0, |coverage| coverage.states),
        // Known only at the very end: `run` fills it in.
        elapsed_ms: 0,
        covered: None,
    }
}

impl Run<'_, '_> {
    /// Tells a person, unless cargo-delay does: what it needs for that is in the events.
    pub(super) fn say(&self, text: &str) {
        if !self.emitter.is_heard() {
            quiet::aloud(|| eprintln!("{text}"));
        }
    }

    fn error(&self, kind: ErrorKind, message: String, report: Option<&Report>) -> Ended {
        self.say(&message);
        Ended {
            finished: finished(VerdictEvent::Error { kind, message: message.clone() }, report),
            panics_with: Some(message),
        }
    }

    fn all(&self, config: Config, own: Option<&str>) -> Ended {
        if cfg!(panic = "abort") {
            let message = "this test binary is built with panic = \"abort\": delay must catch the panics of the tasks it explores; remove it from the test profile".to_owned();
            return self.error(ErrorKind::Invalid, message, None);
        }
        for name in config::unknown_variables() {
            self.warn(format!("the variable {name} means nothing to delay"));
        }
        let request = match env::var_os(REQUEST_ENV).map(|path| Request::load(Path::new(&path))).transpose() {
            Ok(request) => request,
            Err(error) => return self.error(ErrorKind::Invalid, error.to_string(), None),
        };
        let overrides = request.as_ref().map(|request| request.overrides.clone()).unwrap_or_default();
        let mut resolved = match self.resolve(config, &overrides, own) {
            Ok(resolved) => resolved,
            Err(ended) => return ended,
        };
        if let Some(Command::Replay { trace }) = request.map(|request| request.command) {
            return self.replay_file(&mut resolved, Path::new(&trace));
        }
        let checkpoint = match self.checkpoint(&resolved) {
            Ok(checkpoint) => checkpoint,
            Err(ended) => return ended,
        };
        let pins = self.replay_pins(&mut resolved);
        let ended = self.explore(&resolved, &pins, checkpoint.as_ref());
        match pins.problem {
            Some((verdict, message)) if ended.panics_with.is_none() => {
                Ended { finished: Finished { verdict, ..ended.finished }, panics_with: Some(message) }
            }
            _ => ended,
        }
    }

    fn resolve(&self, config: Config, overrides: &Overrides, own: Option<&str>) -> Result<Resolved, Ended> {
        let invalid = |message: String| self.error(ErrorKind::Invalid, message, None);
        let mut resolved = Resolved::new(config, overrides).map_err(|error| invalid(error.to_string()))?;
        if let (Some(own), "") = (own, resolved.explorer.as_str()) {
            resolved.explorer = own.to_owned();
        } else if !self.names.contains(&resolved.explorer.as_str()) {
            return Err(invalid(unknown_explorer(&resolved.explorer, self.names).to_string()));
        }
        Ok(resolved)
    }

    pub(super) fn warn(&self, text: String) {
        self.say(&format!("warning: {text}"));
        self.emitter.send(Event::Warning { text });
    }

    /// Where the search is saved, if it is.
    fn checkpoint(&self, resolved: &Resolved) -> Result<Option<Checkpoint>, Ended> {
        let Some(place) = &resolved.place else { return Ok(None) };
        let shard = resolved.config.shard.into();
        let subject = Subject { test: self.name.clone(), settings: resolved.words(), shard };
        let opened = Checkpoint::open(place, &subject);
        let checkpoint = opened.map_err(|error| self.error(ErrorKind::Invalid, error.to_string(), None))?;
        if let Some(text) = checkpoint.greeting(place) {
            self.say(&format!("note: {text}"));
            self.emitter.send(Event::Note { text });
        }
        Ok(Some(checkpoint))
    }

    pub(super) fn work(
        &self,
        resolved: &Resolved,
        explorer: &str,
        todo: Work,
        on_failure: &(dyn Fn(&Failure) + Sync),
    ) -> Option<Done> {
        self.work_saved(resolved, explorer, todo, on_failure, None)
    }

    fn work_saved(
        &self,
        resolved: &Resolved,
        explorer: &str,
        todo: Work,
        on_failure: &(dyn Fn(&Failure) + Sync),
        checkpoint: Option<&Checkpoint>,
    ) -> Option<Done> {
        let setup = Setup {
            body: self.body,
            test: self.name.clone(),
            resolved,
            interrupted: self.interrupted,
            prints: self.prints,
            progress: &|elapsed, progress| self.progress(elapsed, progress),
            on_failure,
            checkpoint,
        };
        work(&setup, self.runner, explorer, todo)
    }

    fn progress(&self, elapsed: Duration, progress: &Progress) {
        if !self.emitter.is_heard() {
            return;
        }
        // cargo-delay takes the request away to ask for an early end.
        if env::var_os(REQUEST_ENV).is_some_and(|path| !Path::new(&path).exists()) {
            self.interrupted.store(true, Ordering::Relaxed);
        }
        let Progress { executions, steps, states, frontier, delays } = *progress;
        let elapsed_ms = milliseconds(elapsed);
        self.emitter.send(Event::Progress(ProgressEvent { executions, steps, states, frontier, delays, elapsed_ms }));
    }

    fn explore(&self, resolved: &Resolved, pins: &Pins, checkpoint: Option<&Checkpoint>) -> Ended {
        let file = self.trace_file();
        let saved = AtomicBool::new(false);
        let path = || saved.load(Ordering::Relaxed).then_some(file.as_path());
        let on_failure = |failure: &Failure| {
            saved.store(self.save(failure, &file), Ordering::Relaxed);
            self.tell(failure, &format!("mode {}", resolved.config.mode.name()), path());
        };
        let is_resumed = checkpoint.is_some_and(Checkpoint::is_resumed);
        let done = self.work_saved(resolved, &resolved.explorer, Work::Explore, &on_failure, checkpoint);
        let Some(Done::Explored { outcome, failure }) = done else {
            return self.error(ErrorKind::Invalid, unknown_explorer(&resolved.explorer, self.names).to_string(), None);
        };
        let report = Report { coverage: outcome.coverage, stop: outcome.stop, failure };
        if let Some(text) = checkpoint.and_then(|checkpoint| checkpoint.warning(&report.coverage)) {
            self.warn(text);
        }
        if is_resumed && matches!(report.stop, Stop::Nondeterministic(_)) {
            self.warn("the search went on from a checkpoint: if the program, or what it reads, was changed since, remove the checkpoint to begin anew".to_owned());
        }
        let mut ended = self.judged(&report, resolved, pins, path());
        ended.finished.covered = Some(Box::new(report.coverage.to_wire(&report.stop, resolved.words())));
        ended
    }

    /// How the test ends after its search; a failure was saved in the file `path`.
    fn judged(&self, report: &Report, resolved: &Resolved, pins: &Pins, path: Option<&Path>) -> Ended {
        if let Some(problem) = problem(&report.stop) {
            let kind = match &report.stop {
                Stop::Nondeterministic(_) => ErrorKind::Nondeterministic,
                _ => ErrorKind::Invalid,
            };
            return self.error(kind, problem, Some(report));
        }
        let expect = resolved.config.expect;
        let Some(failure) = &report.failure else {
            return self.passed(report, resolved);
        };
        let how = format!("{} by {}", report.sentences(), report.coverage.mode.name());
        let text = self.tell(failure, &how, path);
        self.say(&format!("{}: {text}", self.name.path));
        if expect == Expect::Pass || pins.accepted == 0 {
            self.record_pin(failure);
        }
        match expect {
            Expect::Fail => {
                Ended { finished: finished(VerdictEvent::ExpectedFailure, Some(report)), panics_with: None }
            }
            Expect::Pass => Ended {
                finished: finished(VerdictEvent::Failed, Some(report)),
                panics_with: Some(format!("{}: {}", self.name.path, failure.violation)),
            },
        }
    }

    fn passed(&self, report: &Report, resolved: &Resolved) -> Ended {
        let coverage = report.sentences();
        let Config { expect, shard, .. } = resolved.config;
        // What this shard did not find another may.
        let is_missing = expect == Expect::Fail && !shard.is_whole();
        if expect == Expect::Fail && report.stop != Stop::Interrupted && !is_missing {
            let message = format!("expected to find a failure, found none: {coverage}");
            return self.error(ErrorKind::NotFound, message, Some(report));
        }
        if !self.emitter.is_heard() {
            println!("{}: {coverage}", self.name.path);
        }
        let verdict = match report.stop {
            Stop::Time | Stop::States | Stop::Memory => VerdictEvent::Unfinished,
            _ if is_missing => VerdictEvent::Unfinished,
            _ if report.coverage.is_all_cut() => VerdictEvent::Unfinished,
            _ => VerdictEvent::Passed,
        };
        Ended { finished: finished(verdict, Some(report)), panics_with: None }
    }

    /// Saves a failure at once: whatever happens while it is minimised, it is not lost. Returns whether it could.
    fn save(&self, failure: &Failure, path: &Path) -> bool {
        let saved = pin::save(path, &text::print(&failure.trace));
        saved.map_err(|error| self.warn(error.to_string())).is_ok()
    }

    /// Tells cargo-delay of a failure, saved in the file `path`; returns the report.
    pub(super) fn tell(&self, failure: &Failure, how: &str, path: Option<&Path>) -> String {
        let replay = path.map(|path| self.replay_command(path));
        let report = failure::report(failure, how, replay.as_deref());
        self.emitter.send(Event::Finding(Finding {
            title: failure::title(failure),
            report: report.clone(),
            trace_path: path.map(|path| path.display().to_string()),
            replay: replay.unwrap_or_default(),
        }));
        report
    }

    /// The command that replays a saved trace, as short as it works from the workspace's root.
    fn replay_command(&self, path: &Path) -> String {
        let root = self.manifest_dir.ancestors().find(|directory| directory.join("Cargo.lock").exists());
        let short = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        format!("cargo delay replay {}", short.display())
    }

    /// `target/delay/<package>/<crate>__<test>.trace`.
    fn trace_file(&self) -> PathBuf {
        let exe = env::current_exe().unwrap_or_default();
        let target = exe.ancestors().find(|dir| dir.join("CACHEDIR.TAG").exists());
        let target = target.map_or_else(|| self.manifest_dir.join("target"), Path::to_path_buf);
        let file = format!("{}.trace", pin::file_stem(&self.name));
        target.join("delay").join(&self.name.package).join(file)
    }

    /// Answers a replay request.
    fn replay_file(&self, resolved: &mut Resolved, path: &Path) -> Ended {
        let trace = match pin::load(path) {
            Ok(trace) => trace,
            Err(error) => return self.error(ErrorKind::Invalid, error.to_string(), None),
        };
        let done = self.work(resolved, &trace.explorer, Work::Replay(Box::new(trace.clone()), Shown::Yes), &|_| {});
        let Some(Done::Replayed(now)) = done else {
            return self.error(ErrorKind::Invalid, unknown_explorer(&trace.explorer, self.names).to_string(), None);
        };
        let outcome = outcome(&trace, &now);
        let failure = now.violation.clone().map(|violation| Failure {
            trace: now.trace.clone(),
            events: now.events.clone(),
            violation,
        });
        let report = match &failure {
            Some(failure) => failure::report(failure, "replayed", None),
            None => failure::events(&now.trace, &now.events),
        };
        self.say(&report);
        let (recorded, seen) = (sentence(&trace), seen(&trace, &now, outcome));
        self.emitter.send(Event::Replayed(ReplayedEvent { outcome, recorded, seen: seen.clone(), report }));
        match outcome {
            ReplayOutcome::AsRecorded => Ended { finished: finished(VerdictEvent::Passed, None), panics_with: None },
            ReplayOutcome::VerdictDiffers => {
                Ended { finished: finished(VerdictEvent::Failed, None), panics_with: Some(seen) }
            }
            ReplayOutcome::Diverged => self.error(ErrorKind::Diverged, seen, None),
        }
    }
}

fn outcome(then: &Trace, now: &Replayed) -> ReplayOutcome {
    match &now.trace.verdict {
        Verdict::Diverged { .. } => ReplayOutcome::Diverged,
        verdict if *verdict != then.verdict => ReplayOutcome::VerdictDiffers,
        _ if then.events != now.trace.events => ReplayOutcome::Diverged,
        _ => ReplayOutcome::AsRecorded,
    }
}

pub(super) fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Fail => "fail",
        Verdict::Pass => "pass",
        Verdict::Diverged { .. } => "diverged",
    }
}

fn sentence(trace: &Trace) -> String {
    match trace.violation.first() {
        Some(violation) if trace.verdict == Verdict::Fail => format!("fail: {violation}"),
        _ => word(&trace.verdict).to_owned(),
    }
}

fn seen(then: &Trace, now: &Replayed, outcome: ReplayOutcome) -> String {
    match (&now.trace.verdict, outcome) {
        (Verdict::Diverged { step, expected, saw }, _) => {
            format!("diverged at step {step}: expected {expected}, saw {saw}")
        }
        (_, ReplayOutcome::Diverged) => match replay::first_event_difference(&then.events, &now.trace.events) {
            Some((step, expected, saw)) => format!("diverged at step {step}: expected {expected}, saw {saw}"),
            None => sentence(&now.trace),
        },
        _ => sentence(&now.trace),
    }
}

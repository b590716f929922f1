//! What `#[delay_test]` expands to: replay the pins, explore, save, report, and end as libtest wants.

use super::{
    Checker, Done, Failure, Report, Resolved, Runner, Setup, Work,
    config::{self, Config, Expect},
    emit::Emitter,
    failure, problem,
    registry::Registry,
    unknown_explorer, work,
};
use crate::{
    live::Body,
    protocol::{
        Command, ErrorKind, Event, Finding, Finished, Overrides, Pin as PinEvent, PinVerdict, Progress as ProgressEvent,
        REQUEST_ENV, ReplayOutcome, Replayed as ReplayedEvent, Request, Started, TestRecord, Verdict as VerdictEvent,
    },
    replay::{self, Replayed},
    search::{Stop, budget::Progress},
    trace::{TestName, Trace, Verdict, pin, text},
};
use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
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
    let path = record.path.clone();
    emitter.send(Event::Started(Started {
        version: crate::protocol::VERSION,
        test: path.clone(),
        file: record.file.clone(),
        line: record.line,
    }));
    let run = Run {
        name: TestName { package: record.package, path },
        manifest_dir: env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| test.manifest_dir.into(), PathBuf::from),
        emitter: &emitter,
        interrupted: &interrupted,
        pin,
        runner,
        body,
        names: R::NAMES,
    };
    let mut config = checker.config;
    if test.own_explorer.is_some() {
        // Stands until a flag or a variable names another.
        config.explorer = "";
    }
    let ended = run.all(config, test.own_explorer);
    emitter.send(Event::Finished(ended.finished));
    if let Some(message) = ended.panics_with {
        // Not `panic!`: everything a person needs was printed; the payload is for libtest and `should_panic`.
        resume_unwind(Box::new(message));
    }
}

struct Run<'r, 'b> {
    name: TestName,
    manifest_dir: PathBuf,
    emitter: &'r Emitter,
    interrupted: &'r AtomicBool,
    pin: &'r (dyn Fn(&Pin<'_>) + Sync),
    runner: &'r Runner<'r>,
    body: &'b Body<'b>,
    names: &'static [&'static str],
}

/// How the test ends.
struct Ended {
    finished: Finished,
    panics_with: Option<String>,
}

impl Ended {
    fn error(kind: ErrorKind, message: String, report: Option<&Report>) -> Self {
        eprintln!("{message}");
        Self {
            finished: finished(VerdictEvent::Error { kind, message: message.clone() }, report),
            panics_with: Some(message),
        }
    }
}

fn finished(verdict: VerdictEvent, report: Option<&Report>) -> Finished {
    let coverage = report.map(|report| &report.coverage);
    Finished {
        verdict,
        coverage: report.map(Report::sentences).unwrap_or_default(),
        executions: coverage.map_or(0, |coverage| coverage.totals.executions),
        steps: coverage.map_or(0, |coverage| coverage.totals.steps),
        states: coverage.map_or(0, |coverage| coverage.states),
        elapsed_ms: 0,
    }
}

impl Run<'_, '_> {
    fn all(&self, config: Config, own: Option<&str>) -> Ended {
        if cfg!(panic = "abort") {
            let message = "this test binary is built with panic = \"abort\": delay must catch the panics of the tasks it explores; remove it from the test profile".to_owned();
            return Ended::error(ErrorKind::Invalid, message, None);
        }
        for name in config::unknown_variables() {
            self.warn(format!("the variable {name} means nothing to delay"));
        }
        let request = match env::var_os(REQUEST_ENV).map(|path| Request::load(Path::new(&path))).transpose() {
            Ok(request) => request,
            Err(error) => return Ended::error(ErrorKind::Invalid, error.to_string(), None),
        };
        let overrides = request.as_ref().map(|request| request.overrides.clone()).unwrap_or_default();
        let mut resolved = match self.resolve(config, &overrides, own) {
            Ok(resolved) => resolved,
            Err(ended) => return ended,
        };
        if let Some(Command::Replay { trace }) = request.map(|request| request.command) {
            return self.replay_file(&mut resolved, Path::new(&trace));
        }
        let pins = self.replay_pins(&mut resolved);
        let ended = self.explore(&resolved, &pins);
        match pins.problem {
            Some((kind, message)) if ended.panics_with.is_none() => Ended {
                finished: Finished { verdict: VerdictEvent::Error { kind, message: message.clone() }, ..ended.finished },
                panics_with: Some(message),
            },
            _ => ended,
        }
    }

    fn resolve(&self, config: Config, overrides: &Overrides, own: Option<&str>) -> Result<Resolved, Ended> {
        let invalid = |message: String| Ended::error(ErrorKind::Invalid, message, None);
        let mut resolved = Resolved::new(config, overrides).map_err(|error| invalid(error.to_string()))?;
        if let (Some(own), "") = (own, resolved.explorer.as_str()) {
            resolved.explorer = own.to_owned();
        } else if !self.names.contains(&resolved.explorer.as_str()) {
            return Err(invalid(unknown_explorer(&resolved.explorer, self.names).to_string()));
        }
        Ok(resolved)
    }

    fn warn(&self, text: String) {
        eprintln!("warning: {text}");
        self.emitter.send(Event::Warning { text });
    }

    fn work(&self, resolved: &Resolved, explorer: &str, todo: Work, on_failure: &(dyn Fn(&Failure) + Sync)) -> Option<Done> {
        let setup = Setup {
            body: self.body,
            test: self.name.clone(),
            resolved,
            interrupted: self.interrupted,
            progress: &|elapsed, progress| self.progress(elapsed, progress),
            on_failure,
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
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        self.emitter.send(Event::Progress(ProgressEvent { executions, steps, states, frontier, delays, elapsed_ms }));
    }

    /// Replays the accepted pins, newest first.
    fn replay_pins(&self, resolved: &mut Resolved) -> Pins {
        let found = pin::pins(&self.manifest_dir, &self.name);
        let mut pins = Pins { accepted: found.pins.len(), problem: None };
        for error in found.errors {
            self.complain(&mut pins, ErrorKind::Invalid, error.to_string());
        }
        for pinned in found.pins {
            let Some(Done::Replayed(now)) =
                self.work(resolved, &pinned.trace.explorer, Work::Replay(Box::new(pinned.trace.clone())), &|_| {})
            else {
                let message = format!("{}: {}", pinned.path.display(), unknown_explorer(&pinned.trace.explorer, self.names));
                self.complain(&mut pins, ErrorKind::Invalid, message);
                continue;
            };
            self.judge(resolved, &mut pins, &pinned, &now);
        }
        pins
    }

    fn judge(&self, resolved: &Resolved, pins: &mut Pins, pinned: &pin::Pin, now: &Replayed) {
        let name = &pinned.name;
        let (verdict, body) = match &now.trace.verdict {
            Verdict::Diverged { step, expected, saw } => {
                let message = format!(
                    "the pinned trace {name} diverged at step {step}: expected {expected}, saw {saw}\n  the program no longer follows it; if that is intended, remove {} and let the test explore",
                    pinned.path.display()
                );
                self.complain(pins, ErrorKind::Diverged, message);
                (PinVerdict::Diverged, text::print(&pinned.trace))
            }
            Verdict::Fail => {
                if resolved.config.expect == Expect::Pass {
                    let failure = now.violation.clone().map(|violation| Failure {
                        trace: now.trace.clone(),
                        events: now.events.clone(),
                        violation,
                    });
                    let report = failure.map(|failure| failure::report(&failure, "pinned", None)).unwrap_or_default();
                    self.complain(pins, ErrorKind::PendingPin, format!("the pinned trace {name} fails: {report}"));
                }
                (PinVerdict::Fails, text::print(&now.trace))
            }
            Verdict::Pass => (PinVerdict::Passes, text::print(&now.trace)),
        };
        let path = pinned.path.display().to_string();
        self.emitter.send(Event::Pin(PinEvent { name: name.clone(), verdict, path: path.clone() }));
        let same = self.assert_snapshot(name, &now.trace, &body) && body == text::print(&pinned.trace);
        if !same && verdict != PinVerdict::Diverged {
            self.emitter.send(Event::Pin(PinEvent { name: name.clone(), verdict: PinVerdict::Pending, path }));
            let was = word(&pinned.trace.verdict);
            let message = format!(
                "the pinned trace {name} changed (it was `{was}`, now it is `{}`): review it with `cargo insta review`",
                word(&now.trace.verdict)
            );
            self.complain(pins, ErrorKind::PendingPin, message);
        }
    }

    fn complain(&self, pins: &mut Pins, kind: ErrorKind, message: String) {
        eprintln!("{message}");
        self.emitter.send(Event::Warning { text: message.clone() });
        pins.problem.get_or_insert((kind, message));
    }

    /// Hands a snapshot to insta in the user's crate. Returns whether it matched.
    fn assert_snapshot(&self, name: &str, trace: &Trace, body: &str) -> bool {
        let directory = pin::directory(&self.manifest_dir);
        let description = format!("{} delays, explorer {}, {} steps", trace.delays, trace.explorer, trace.steps);
        let pin = Pin { directory: &directory, name, description: &description, body };
        catch_unwind(AssertUnwindSafe(|| (self.pin)(&pin))).is_ok()
    }

    fn explore(&self, resolved: &Resolved, pins: &Pins) -> Ended {
        let saved = self.trace_file();
        let on_failure = |failure: &Failure| self.found(failure, &saved, resolved);
        let done = self.work(resolved, &resolved.explorer, Work::Explore, &on_failure);
        let Some(Done::Explored { outcome, failure }) = done else {
            return Ended::error(ErrorKind::Invalid, unknown_explorer(&resolved.explorer, self.names).to_string(), None);
        };
        let report = Report { coverage: outcome.coverage, stop: outcome.stop, failure };
        if let Some(problem) = problem(&report.stop) {
            let kind = match &report.stop {
                Stop::Nondeterministic(_) => ErrorKind::Nondeterministic,
                _ => ErrorKind::Invalid,
            };
            return Ended::error(kind, problem, Some(&report));
        }
        let expect = resolved.config.expect;
        let Some(failure) = &report.failure else {
            return self.passed(&report, expect);
        };
        let how = how(&report);
        let text = failure::report(failure, &how, Some(&replay_command(&saved)));
        eprintln!("{}: {text}", self.name.path);
        if expect == Expect::Pass || pins.accepted == 0 {
            self.record_pin(failure);
        }
        match expect {
            Expect::Fail => Ended { finished: finished(VerdictEvent::ExpectedFailure, Some(&report)), panics_with: None },
            Expect::Pass => Ended {
                finished: finished(VerdictEvent::Failed, Some(&report)),
                panics_with: Some(format!("{}: {}", self.name.path, failure.violation)),
            },
        }
    }

    fn passed(&self, report: &Report, expect: Expect) -> Ended {
        let coverage = report.sentences();
        println!("{}: {coverage}", self.name.path);
        if expect == Expect::Fail && report.stop != Stop::Interrupted {
            let message = format!("expected to find a failure, found none: {coverage}");
            return Ended::error(ErrorKind::NotFound, message, Some(report));
        }
        Ended { finished: finished(VerdictEvent::Passed, Some(report)), panics_with: None }
    }

    /// Saves a failure at once: whatever happens while it is minimised, it is not lost.
    fn found(&self, failure: &Failure, path: &Path, resolved: &Resolved) {
        let saved = pin::save(path, &text::print(&failure.trace));
        if let Err(error) = &saved {
            self.warn(error.to_string());
        }
        let how = format!("mode {}", resolved.config.mode.name());
        let replay = replay_command(path);
        self.emitter.send(Event::Finding(Finding {
            title: failure::title(failure),
            report: failure::report(failure, &how, Some(&replay)),
            trace_path: saved.is_ok().then(|| path.display().to_string()),
            replay,
        }));
    }

    fn record_pin(&self, failure: &Failure) {
        let name = pin::name(&failure.trace);
        let matched = self.assert_snapshot(&name, &failure.trace, &text::print(&failure.trace));
        if !matched {
            let path = pin::directory(&self.manifest_dir).join(format!("{name}.snap.new")).display().to_string();
            self.emitter.send(Event::Pin(PinEvent { name, verdict: PinVerdict::Pending, path }));
        }
    }

    /// `target/delay/<package>/<test>.trace`.
    fn trace_file(&self) -> PathBuf {
        let exe = env::current_exe().unwrap_or_default();
        let target = exe.ancestors().find(|dir| dir.join("CACHEDIR.TAG").exists());
        let target = target.map_or_else(|| self.manifest_dir.join("target"), Path::to_path_buf);
        let file = format!("{}.trace", self.name.path.replace("::", "__"));
        target.join("delay").join(&self.name.package).join(file)
    }

    /// Answers a replay request.
    fn replay_file(&self, resolved: &mut Resolved, path: &Path) -> Ended {
        let trace = match pin::load(path) {
            Ok(trace) => trace,
            Err(error) => return Ended::error(ErrorKind::Invalid, error.to_string(), None),
        };
        let done = self.work(resolved, &trace.explorer, Work::Replay(Box::new(trace.clone())), &|_| {});
        let Some(Done::Replayed(now)) = done else {
            return Ended::error(ErrorKind::Invalid, unknown_explorer(&trace.explorer, self.names).to_string(), None);
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
        eprintln!("{report}");
        let (recorded, seen) = (sentence(&trace), seen(&trace, &now, outcome));
        self.emitter.send(Event::Replayed(ReplayedEvent { outcome, recorded, seen: seen.clone(), report }));
        match outcome {
            ReplayOutcome::AsRecorded => Ended { finished: finished(VerdictEvent::Passed, None), panics_with: None },
            ReplayOutcome::VerdictDiffers => {
                Ended { finished: finished(VerdictEvent::Failed, None), panics_with: Some(seen) }
            }
            ReplayOutcome::Diverged => Ended::error(ErrorKind::Diverged, seen, None),
        }
    }
}

/// What became of the pins.
struct Pins {
    accepted: usize,
    /// The first thing that is wrong with them.
    problem: Option<(ErrorKind, String)>,
}

fn outcome(then: &Trace, now: &Replayed) -> ReplayOutcome {
    match &now.trace.verdict {
        Verdict::Diverged { .. } => ReplayOutcome::Diverged,
        verdict if *verdict != then.verdict => ReplayOutcome::VerdictDiffers,
        _ if then.events != now.trace.events => ReplayOutcome::Diverged,
        _ => ReplayOutcome::AsRecorded,
    }
}

fn word(verdict: &Verdict) -> &'static str {
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
        (Verdict::Diverged { step, expected, saw }, _) => format!("diverged at step {step}: expected {expected}, saw {saw}"),
        (_, ReplayOutcome::Diverged) => match replay::first_event_difference(&then.events, &now.trace.events) {
            Some((step, expected, saw)) => format!("diverged at step {step}: expected {expected}, saw {saw}"),
            None => sentence(&now.trace),
        },
        _ => sentence(&now.trace),
    }
}

/// How a failure was found, in words.
fn how(report: &Report) -> String {
    let coverage = &report.coverage;
    let within = crate::coverage::grouped(coverage.states.max(coverage.executions));
    let what = if coverage.states > 0 { "states" } else { "executions" };
    format!("found by {} under bound {} after {within} {what}", coverage.mode.name(), coverage.bound)
}

/// The command that replays a saved trace, as short as it works from the workspace's root.
fn replay_command(path: &Path) -> String {
    let root = path.ancestors().find(|dir| dir.join("Cargo.lock").exists());
    let short = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
    format!("cargo delay replay {}", short.display())
}

//! What `#[observer]` expands to: checks recordings when cargo-delay asks for it.
//!
//! Invariant: without a request nothing is claimed. The test is ignored then, and run all the same it makes its observer, so that mistakes in
//! that show, and says how it is meant to be run.

use super::emit::Emitter;
use crate::{
    api::record::{self, Checked, Extent, Observer, Verdict},
    protocol::{
        self, Command, ErrorKind, Event, Finding, Finished, REQUEST_ENV, Request, Started, TestRecord,
        Verdict as VerdictEvent,
    },
    search::budget::{Budget, Limits},
};
use std::{env, panic::resume_unwind, path::Path, sync::atomic::AtomicBool};

/// Runs an observer.
///
/// # Panics
/// If a monitor objects, or nothing could be checked; the payload says so.
pub fn observe(record: &str, make: fn() -> Observer) {
    let record = TestRecord::from_text(record).unwrap_or_else(|error| crate::bug!("{error}"));
    let emitter = Emitter::from_env();
    let interrupted = AtomicBool::new(false);
    let clock = Budget::start(Limits::default(), &interrupted, &|_, _| {});
    let test = record.path.clone();
    emitter.send(Event::Started(Started { version: protocol::VERSION, test, file: record.file, line: record.line }));
    let (verdict, coverage) = answer(&emitter, make);
    let elapsed_ms = u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
    if !emitter.is_heard() {
        println!("{}: {coverage}", record.path);
    }
    let message = match &verdict {
        VerdictEvent::Error { kind: _, message } => Some(message.clone()),
        VerdictEvent::Failed => Some(coverage.clone()),
        VerdictEvent::Passed | VerdictEvent::Unfinished | VerdictEvent::ExpectedFailure => None,
    };
    emitter.send(Event::Finished(Finished {
        verdict,
        coverage,
        executions: 0,
        steps: 0,
        states: 0,
        elapsed_ms,
        covered: None,
    }));
    if let Some(message) = message {
        // Not `panic!`: everything a person needs was told; the payload is for libtest.
        resume_unwind(Box::new(format!("{}: {message}", record.path)));
    }
}

/// The verdict, and what was checked.
fn answer(emitter: &Emitter, make: fn() -> Observer) -> (VerdictEvent, String) {
    let error = |kind, message: String| (VerdictEvent::Error { kind, message }, String::new());
    let request = env::var_os(REQUEST_ENV).map(|path| Request::load(Path::new(&path))).transpose();
    let (recordings, extent) = match request.map(|request| request.map(|request| request.command)) {
        Ok(Some(Command::Check { recordings, extent })) => (recordings, extent),
        Ok(Some(Command::Test | Command::Replay { trace: _ })) => {
            return error(ErrorKind::Invalid, "an observer checks recordings: cargo delay check FILE..".to_owned());
        }
        Ok(None) => {
            let observer = make();
            return (VerdictEvent::Passed, format!("{observer:?}; it checks recordings: cargo delay check FILE.."));
        }
        Err(problem) => return error(ErrorKind::Invalid, problem.to_string()),
    };
    let extent = match extent {
        protocol::Extent::Whole => Extent::Whole,
        protocol::Extent::Part => Extent::Part,
    };
    let checked = match record::check(&recordings, make(), extent) {
        Ok(checked) => checked,
        Err(unreadable) => return error(ErrorKind::Invalid, unreadable.to_string()),
    };
    tell(emitter, &checked);
    match checked.verdict() {
        Verdict::Holds => (VerdictEvent::Passed, checked.sentences()),
        Verdict::Violated => (VerdictEvent::Failed, checked.sentences()),
        Verdict::Unheard => {
            let message = format!("nothing was checked: {}", checked.sentences());
            (VerdictEvent::Error { kind: ErrorKind::Unheard, message }, checked.sentences())
        }
    }
}

fn tell(emitter: &Emitter, checked: &Checked) {
    for (title, report) in checked.findings() {
        emitter.send(Event::Finding(Finding { title, report, trace_path: None, replay: String::new() }));
    }
    for text in checked.warnings() {
        emitter.send(Event::Warning { text });
    }
}

//! The pinned traces of a test: replayed before it explores, and recorded when it finds something.
//!
//! Invariants: an accepted pin that fails is a bug report and fails the test, unless the test expects a failure; a pin that
//! changed or no longer applies is never passed over; each pin that is replayed ends in insta's assertion, so that
//! `cargo insta test` knows that it is in use.

use super::{
    Done, Failure, Resolved, Work,
    config::Expect,
    quiet,
    session::Shown,
    test::{Pin, Run, word},
    unknown_explorer,
};
use crate::{
    coverage::count,
    live::panics,
    protocol::{ErrorKind, Event, Pin as PinEvent, PinVerdict, Verdict as VerdictEvent},
    replay::{self, Replayed},
    trace::{Trace, Verdict, pin, text},
};
use std::path::Path;

/// What became of the pins.
pub(super) struct Pins {
    pub(super) accepted: usize,
    /// The first thing that is wrong with them.
    pub(super) problem: Option<(VerdictEvent, String)>,
}

impl Run<'_, '_> {
    /// Replays the accepted pins, newest first.
    pub(super) fn replay_pins(&self, resolved: &mut Resolved) -> Pins {
        let found = pin::pins(&self.manifest_dir, &self.name);
        let mut pins = Pins { accepted: found.pins.len(), problem: None };
        for error in found.errors {
            self.complain(&mut pins, ErrorKind::Invalid, error.to_string());
        }
        for pinned in found.pins {
            let Some(Done::Replayed(now)) = self.work(
                resolved,
                &pinned.trace.explorer,
                Work::Replay(Box::new(pinned.trace.clone()), Shown::No),
                &|_| {},
            ) else {
                let message =
                    format!("{}: {}", pinned.path.display(), unknown_explorer(&pinned.trace.explorer, self.names));
                self.complain(&mut pins, ErrorKind::Invalid, message);
                continue;
            };
            self.judge(resolved, &mut pins, &pinned, &now);
        }
        pins
    }

    /// Compares a replayed pin with what it was, and has insta compare them too.
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
                if let Some(violation) = now.violation.clone().filter(|_| resolved.config.expect == Expect::Pass) {
                    let (trace, events) = (now.trace.clone(), now.events.clone());
                    let report = self.tell(&Failure { trace, events, violation }, "pinned", Some(&pinned.path));
                    self.say(&format!("the pinned trace {name} fails: {report}"));
                    let violation = now.trace.violation.join("\n");
                    let message = format!("{}: the pinned trace {name} fails: {violation}", self.name.path);
                    pins.problem.get_or_insert((VerdictEvent::Failed, message));
                }
                (PinVerdict::Fails, text::print(&now.trace))
            }
            Verdict::Pass => (PinVerdict::Passes, text::print(&now.trace)),
        };
        let path = pinned.path.display().to_string();
        self.emitter.send(Event::Pin(PinEvent { name: name.clone(), verdict, path: path.clone() }));
        let same = self.assert_snapshot(name, &now.trace, &body) && body == text::print(&pinned.trace);
        if !same && verdict != PinVerdict::Diverged {
            let pending = format!("{path}.new");
            // insta writes none in CI.
            if Path::new(&pending).exists() {
                let verdict = PinVerdict::Pending;
                self.emitter.send(Event::Pin(PinEvent { name: name.clone(), verdict, path: pending }));
            }
            let how = change(&pinned.trace, &now.trace);
            let message = format!("the pinned trace {name} changed ({how}): review it with `cargo insta review`");
            self.complain(pins, ErrorKind::PendingPin, message);
        }
    }

    fn complain(&self, pins: &mut Pins, kind: ErrorKind, message: String) {
        self.say(&message);
        self.emitter.send(Event::Warning { text: message.clone() });
        let verdict = VerdictEvent::Error { kind, message: message.clone() };
        pins.problem.get_or_insert((verdict, message));
    }

    /// Hands a snapshot to insta in the user's crate. Returns whether it matched.
    fn assert_snapshot(&self, name: &str, trace: &Trace, body: &str) -> bool {
        let directory = pin::directory(&self.manifest_dir);
        let (delays, steps) = (count(trace.delays, "delay"), count(trace.steps, "step"));
        let description = format!("{delays}, explorer {}, {steps}", trace.explorer);
        let pin = Pin { directory: &directory, name, description: &description, body };
        // insta's own panic, and its picture of the difference, hold nothing that the report does not.
        let silence = self.prints.silence();
        let asserted = quiet::unprinted(|| (self.pin)(&pin));
        drop(silence);
        let Err(payload) = asserted else { return true };
        let text = panics::text_of(payload.as_ref());
        // That a snapshot differs is what we want to know; anything else is trouble of insta's own.
        if !text.starts_with("snapshot assertion for") {
            self.warn(format!("insta could not look after the pinned trace {name}: {text}"));
        }
        false
    }

    /// Records the trace of a failure as a pin, for a person to accept.
    pub(super) fn record_pin(&self, failure: &Failure) {
        let name = pin::name(&failure.trace);
        self.assert_snapshot(&name, &failure.trace, &text::print(&failure.trace));
        let path = pin::directory(&self.manifest_dir).join(format!("{name}.snap.new"));
        // insta writes none in CI, and removes it when the accepted one matches.
        if path.exists() {
            let path = path.display().to_string();
            self.say(&format!(
                "a pinned trace waits to be accepted: {path}\n  `cargo insta review`, or rename .snap.new to .snap"
            ));
            self.emitter.send(Event::Pin(PinEvent { name, verdict: PinVerdict::Pending, path }));
        }
    }
}

/// What is different about a pinned trace, in words.
fn change(then: &Trace, now: &Trace) -> String {
    if then.verdict != now.verdict {
        return format!("it was `{}`, now it is `{}`", word(&then.verdict), word(&now.verdict));
    }
    match replay::first_event_difference(&then.events, &now.events) {
        Some((step, expected, saw)) => format!("step {step} was: {expected}; now: {saw}"),
        None => "its header or the text of its violation".to_owned(),
    }
}

//! Keeps what the program prints out of the way while executions are explored, and shows it once, for the failing one.
//!
//! Standard output and error belong to the process. They are only a test's own if it is alone in it (`--exact NAME`, as
//! cargo-delay and cargo nextest start it), and then both lead to the null device while it explores. Several tests in
//! the threads of one process, as under plain `cargo test`, cannot be told apart: their prints are left to libtest.
//!
//! Invariants: what stands here is about the outside only, no execution depends on it; streams are as they were when
//! their guard is gone, a panic included; what the harness itself has to say is never silenced ([`aloud`]).

use super::streams;
use crate::{
    ids::Process,
    live::{Live, Status, panics, traced},
    world::Choice,
};
use std::{
    backtrace::{Backtrace, BacktraceStatus},
    cell::Cell,
    fmt::Write as _,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Once,
    time::Duration,
};

/// Most of what an execution prints that is shown, in bytes.
const SHOWN_BYTES_MAX: u64 = 64 << 10;

/// Whose the standard streams are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Prints {
    /// This test's alone.
    Ours,
    /// Those of several tests.
    Shared,
    /// Those of somebody who checks from code and wants to see nothing.
    Unwanted,
}

thread_local! {
    /// The panics that reach the hook on this thread are the program's, in an execution that is recorded unseen.
    static MUTED: Cell<bool> = const { Cell::new(false) };
}

impl Prints {
    /// Looks at how this process was started. `test` is libtest's name of the test that asks.
    pub(super) fn of_test(test: &str) -> Self {
        if is_alone(std::env::args().skip(1), test) { Self::Ours } else { Self::Shared }
    }

    /// Sends both streams to the null device until the guard is dropped.
    pub(super) fn silence(self) -> Option<streams::Redirected> {
        match self {
            Self::Ours => streams::Redirected::to_null(),
            Self::Shared | Self::Unwanted => None,
        }
    }

    /// Runs an execution once more along `path`, with its prints let through: each line with the step and the process that
    /// printed it if the streams are ours, else under the line `title`. A panic, which the report has too, is let through
    /// where it is wanted for its backtrace.
    pub(super) fn show(self, live: &mut Live<'_>, path: &[Choice], title: &str) {
        let capture = match self {
            Self::Ours => streams::Capture::begin(SHOWN_BYTES_MAX),
            Self::Shared => None,
            Self::Unwanted => return,
        };
        live.set_recording(true);
        if let Some(capture) = capture {
            let show = || traced::aloud(|| attributed(live, path, capture));
            let shown = if wants_backtrace() { show() } else { muted(show) };
            if !shown.is_empty() {
                eprintln!("{title}, with what it prints:\n{shown}");
            }
        } else {
            eprintln!("{title}:");
            traced::aloud(|| follow(live, path, |_, _| ()));
        }
        live.set_recording(false);
    }
}

/// Whether the arguments of a test binary make it run the test `test` and nothing else. An unknown option means no.
fn is_alone(arguments: impl Iterator<Item = String>, test: &str) -> bool {
    let (mut exact, mut names) = (false, Vec::new());
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--exact" => exact = true,
            "--nocapture" | "--no-capture" | "--show-output" | "--ignored" | "--include-ignored" | "--test"
            | "--quiet" | "-q" => {}
            "--test-threads" | "--format" | "--color" => drop(arguments.next()),
            option
                if option.starts_with("--test-threads=")
                    || option.starts_with("--format=")
                    || option.starts_with("--color=") => {}
            option if option.starts_with('-') => return false,
            _ => names.push(argument),
        }
    }
    exact && names == [test]
}

fn wants_backtrace() -> bool {
    Backtrace::capture().status() == BacktraceStatus::Captured
}

/// Runs `f`, in which the program's panics are not printed though its execution is recorded. A panic of our own is.
pub(super) fn muted<R>(f: impl FnOnce() -> R) -> R {
    unprinted(f).unwrap_or_else(|payload| {
        aloud(|| eprintln!("{}", panics::text_of(payload.as_ref())));
        resume_unwind(payload)
    })
}

/// Runs `f` and catches its panic, which is not printed.
pub(super) fn unprinted<R>(f: impl FnOnce() -> R) -> std::thread::Result<R> {
    MUTED.set(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    MUTED.set(false);
    result
}

/// Runs `f` with the streams as they were before they were silenced.
pub(super) fn aloud<R>(f: impl FnOnce() -> R) -> R {
    streams::aloud(f)
}

/// Puts a hook below that of live executions, which keeps the panics of quiet ones to itself and passes on the rest: they
/// are to be seen, but for those of a [`muted`] execution. Called before the first `Live` is made.
pub(super) fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !MUTED.try_with(Cell::get).unwrap_or(false) {
                aloud(|| previous(info));
            }
        }));
    });
}

/// Runs `live` along `path`; `after` is told each step's number and process once it is done, the set-up as step 0.
fn follow(live: &mut Live<'_>, path: &[Choice], mut after: impl FnMut(&Live<'_>, usize)) {
    live.restart();
    after(live, 0);
    for (index, choice) in path.iter().enumerate() {
        if live.status() != Status::Running {
            break;
        }
        live.step(*choice);
        after(live, index + 1);
    }
}

/// What the execution along `path` prints, each line with its step and process.
fn attributed(live: &mut Live<'_>, path: &[Choice], mut capture: streams::Capture) -> String {
    let mut text = String::new();
    follow(live, path, |live, step| {
        let printed = capture.take();
        if !printed.is_empty() {
            let process = step.checked_sub(1).map_or(Process::BODY, |index| path[index].process);
            lines(&mut text, live, step, process, &printed);
        }
    });
    if capture.left_out() > 0 {
        let _ = writeln!(text, "  .. {} bytes more", crate::coverage::grouped(capture.left_out()));
    }
    text
}

/// In the columns of the schedule.
fn lines(text: &mut String, live: &Live<'_>, step: usize, process: Process, printed: &str) {
    let who = live.label(process);
    let step = if step == 0 { String::new() } else { step.to_string() };
    let now = match live.world().now() {
        0 => String::new(),
        nanoseconds => format!(" at {:?}", Duration::from_nanos(nanoseconds)),
    };
    for line in printed.lines() {
        let _ = writeln!(text, "{}", format!("  {step:>4}  {who}{now} | {line}").trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_alone_only_if_the_arguments_say_so() {
        let alone = |line: &str| is_alone(line.split(' ').map(str::to_owned), "a::b");
        assert!(alone("--exact a::b --nocapture"));
        assert!(alone("a::b --exact --test-threads 1 --ignored --color=always"));
        for line in ["a::b", "--exact a::b c", "--exact a", "--exact", "--exact a::b --skip c", "--exact a::b -Zx", ""]
        {
            assert!(!alone(line), "{line}");
        }
    }
}

//! Runs tests, each in a process of its own, and tells what happens.
//!
//! Invariants: a child's output can fill neither a pipe nor our memory; its events are read while it runs; no child outlives
//! the run; a stop asks each child first and kills it only after [`GRACE`] or when asked twice.

use crate::{
    discover::Test,
    error::Error,
    interrupt::{Interrupt, Wish},
    outcome::{End, Leave, Story, TestRun},
    output::Output,
};
use delay_core::protocol::{Command as Request, EVENTS_ENV, Overrides, Progress, REQUEST_ENV};
use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
    process::{Child, ExitStatus, Stdio},
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

/// How long a child may take to stop when asked.
const GRACE: Duration = Duration::from_secs(5);

/// How often events are read and signals looked at. The end of a child is seen at once, through its output.
const POLL: Duration = Duration::from_millis(50);

/// How long the output may stay open after its process has ended: something it started may hold it.
const LEAK: Duration = Duration::from_millis(200);

/// How much of the events is read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// An event is shorter than this.
const LINE_BYTES_MAX: usize = 16 << 20;

/// What to run and how.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    /// In this order.
    pub(crate) tests: &'a [Test],
    /// Of each test.
    pub(crate) request: Request,
    /// Of each test.
    pub(crate) overrides: Overrides,
    /// How many tests at a time, at least 1.
    pub(crate) threads: usize,
    /// Whether a failure ends the run.
    pub(crate) on_failure: OnFailure,
    /// Heard while tests run.
    pub(crate) interrupt: &'a Interrupt,
}

/// What a failing test does to the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// No further test is started.
    Stop,
    /// Nothing.
    GoOn,
}

/// What happens in a run; tests are named by their place in the plan.
#[derive(Debug)]
pub(crate) enum Happening {
    /// A test starts.
    Started(usize),
    /// A test got on.
    Progress(usize, Progress),
    /// A test ended.
    Ended(usize, Box<TestRun>),
    /// Nothing, for a while.
    Quiet,
}

/// Runs the plan and tells `tell`, on this thread. Ends with the first error, and after that starts nothing.
pub(crate) fn run(plan: &Plan<'_>, mut tell: impl FnMut(Happening) -> Result<(), Error>) -> Result<(), Error> {
    let scratch = tempfile::Builder::new().prefix("cargo-delay-").tempdir();
    let scratch = scratch.map_err(|error| Error::File { path: std::env::temp_dir(), error })?;
    let control =
        Control { interrupt: plan.interrupt, halted: AtomicBool::new(false), abandoned: AtomicBool::new(false) };
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..plan.threads.min(plan.tests.len()) {
            let (sender, control, next, scratch) = (sender.clone(), &control, &next, scratch.path());
            scope.spawn(move || work(plan, control, next, scratch, &sender));
        }
        drop(sender);
        let result = listen(&receiver, &mut tell);
        if result.is_err() {
            control.abandoned.store(true, Ordering::Relaxed);
        }
        result
    })
}

/// Passes on what the workers send until all are gone.
fn listen(
    receiver: &mpsc::Receiver<Result<Happening, Error>>,
    tell: &mut impl FnMut(Happening) -> Result<(), Error>,
) -> Result<(), Error> {
    loop {
        match receiver.recv_timeout(4 * POLL) {
            Ok(happening) => tell(happening?)?,
            Err(RecvTimeoutError::Timeout) => tell(Happening::Quiet)?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// What the workers look at.
#[derive(Debug)]
struct Control<'a> {
    interrupt: &'a Interrupt,
    /// No further test starts.
    halted: AtomicBool,
    /// Nobody listens any more.
    abandoned: AtomicBool,
}

impl Control<'_> {
    fn wish(&self) -> Wish {
        if self.abandoned.load(Ordering::Relaxed) { Wish::Kill } else { self.interrupt.wish() }
    }
}

/// One worker: takes the next test until there is none or the run is halted.
fn work(
    plan: &Plan<'_>,
    control: &Control<'_>,
    next: &AtomicUsize,
    scratch: &Path,
    sender: &mpsc::Sender<Result<Happening, Error>>,
) {
    // A send fails only if nobody listens any more; `abandoned` then ends the loop.
    let tell = |happening| drop(sender.send(happening));
    while control.wish() == Wish::GoOn && !control.halted.load(Ordering::Relaxed) {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(test) = plan.tests.get(index) else { return };
        tell(Ok(Happening::Started(index)));
        let request = delay_core::protocol::Request::new(plan.request.clone(), plan.overrides.clone());
        let files =
            Files { request: scratch.join(format!("{index}.json")), events: scratch.join(format!("{index}.ndjson")) };
        let on_progress = |progress| tell(Ok(Happening::Progress(index, progress)));
        match request
            .save(&files.request)
            .map_err(Error::from)
            .and_then(|()| execute(test, &files, control, &on_progress))
        {
            Ok(run) => {
                if plan.on_failure == OnFailure::Stop && !run.status().is_success() {
                    control.halted.store(true, Ordering::Relaxed);
                }
                tell(Ok(Happening::Ended(index, Box::new(run))));
            }
            Err(error) => {
                control.halted.store(true, Ordering::Relaxed);
                tell(Err(error));
            }
        }
    }
}

/// The two files of one test.
#[derive(Debug)]
struct Files {
    request: PathBuf,
    events: PathBuf,
}

/// Runs one test to its end.
fn execute(
    test: &Test,
    files: &Files,
    control: &Control<'_>,
    on_progress: &dyn Fn(Progress),
) -> Result<TestRun, Error> {
    let unusable = |error| Error::File { path: files.events.clone(), error };
    File::create(&files.events).map_err(unusable)?;
    let mut events = EventFile { file: File::open(&files.events).map_err(unusable)?, pending: Vec::new() };
    let started = Instant::now();
    let failed = |error| Error::Process { program: test.binary.path.to_string(), error };
    let (mut child, output) = start(test, files).map_err(failed)?;
    let mut story = Story::default();
    let mut stop = Stop::default();
    let status = loop {
        output.wait(POLL);
        if let Some(progress) = events.read(&mut story).map_err(unusable)? {
            on_progress(progress);
        }
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        stop.enact(control.wish(), &mut child, files).map_err(failed)?;
    };
    output.wait(LEAK);
    events.read(&mut story).map_err(unusable)?;
    let leave = if stop.since.is_some() { Leave::Stopped } else { Leave::Undisturbed };
    Ok(TestRun { story, end: end(status), leave, elapsed: started.elapsed(), output: output.text() })
}

fn end(status: ExitStatus) -> End {
    if status.success() { End::Success } else { End::Failure(status.to_string()) }
}

/// Starts the test's process, its output captured.
fn start(test: &Test, files: &Files) -> io::Result<(Child, Output)> {
    let (reader, writer) = io::pipe()?;
    let mut command = test.binary.command();
    command.args(["--exact", &test.record.path, "--nocapture"]);
    if test.ignored {
        command.arg("--ignored");
    }
    command.env(REQUEST_ENV, &files.request).env(EVENTS_ENV, &files.events);
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    detach(&mut command);
    let child = command.spawn()?;
    // The command holds our ends for writing; with them open, the end of the output would never be seen.
    drop(command);
    Ok((child, Output::capture(reader)))
}

/// Keeps the terminal's signals from the child: a stop is asked for through the request file, and with a report.
fn detach(command: &mut std::process::Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(windows)]
    std::os::windows::process::CommandExt::creation_flags(command, 0x0000_0200 /* CREATE_NEW_PROCESS_GROUP */);
}

/// How far a child has been stopped.
#[derive(Debug, Default)]
struct Stop {
    since: Option<Instant>,
}

impl Stop {
    /// Does what is wished: asks, then insists.
    fn enact(&mut self, wish: Wish, child: &mut Child, files: &Files) -> io::Result<()> {
        if wish == Wish::GoOn {
            return Ok(());
        }
        let since = *self.since.get_or_insert_with(|| {
            // Already gone is as good.
            let _ = fs::remove_file(&files.request);
            Instant::now()
        });
        if wish == Wish::Kill || since.elapsed() > GRACE { child.kill() } else { Ok(()) }
    }
}

/// The file a child appends its events to.
#[derive(Debug)]
struct EventFile {
    file: File,
    /// The start of a line whose end is not there yet.
    pending: Vec<u8>,
}

impl EventFile {
    /// Takes all whole lines into `story`; returns the latest progress if anything was new.
    fn read(&mut self, story: &mut Story) -> io::Result<Option<Progress>> {
        let mut buffer = vec![0; CHUNK_BYTES];
        let mut latest = None;
        loop {
            let count = self.file.read(&mut buffer)?;
            if count == 0 {
                return Ok(latest);
            }
            self.pending.extend_from_slice(&buffer[..count]);
            while let Some(end) = self.pending.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                latest = story.add_line(&String::from_utf8_lossy(&line)).or(latest);
            }
            if self.pending.len() > LINE_BYTES_MAX {
                self.pending.clear();
                story
                    .broken
                    .get_or_insert_with(|| format!("the test sent an event of more than {LINE_BYTES_MAX} bytes"));
            }
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::{discover::tests::test, outcome::Status};
    use std::{os::unix::fs::PermissionsExt as _, sync::Arc};

    const STARTED: &str = r#"{"seq":0,"type":"started","version":5,"test":"t","file":"f","line":1}"#;
    const FINISHED: &str = r#"{"seq":1,"type":"finished","verdict":"passed","coverage":"all","executions":1,"steps":2,"states":3,"elapsed_ms":4}"#;

    /// A test whose process is the shell script `body`, in `directory`.
    fn script(directory: &Path, name: &str, body: &str) -> Test {
        let path = directory.join(name);
        let say = "say() { printf '%s\\n' \"$1\" >> \"$CARGO_DELAY_EVENTS\"; }";
        fs::write(&path, format!("#!/bin/sh\n{say}\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let mut test = test("ex", name, false);
        Arc::get_mut(&mut test.binary).unwrap().place(path.to_str().unwrap(), directory.to_str().unwrap());
        test
    }

    /// The runs of `tests` in the order they ended.
    fn run_all(tests: &[Test], threads: usize, on_failure: OnFailure, interrupt: &Interrupt) -> Vec<(usize, TestRun)> {
        let plan =
            Plan { tests, request: Request::Test, overrides: Overrides::default(), threads, on_failure, interrupt };
        let mut runs = Vec::new();
        run(&plan, |happening| {
            if let Happening::Ended(index, run) = happening {
                runs.push((index, *run));
            }
            Ok(())
        })
        .unwrap();
        runs
    }

    #[test]
    fn a_test_gets_its_request_and_is_judged_by_its_events() {
        let directory = tempfile::tempdir().unwrap();
        let body = format!("say '{STARTED}'; cat \"$CARGO_DELAY_REQUEST\"; echo \"$@\" >&2; pwd; say '{FINISHED}'");
        let tests = [script(directory.path(), "good", &body), script(directory.path(), "silent", "exit 7")];
        let runs = run_all(&tests, 1, OnFailure::GoOn, &Interrupt::default());
        let [(0, good), (1, silent)] = runs.as_slice() else { panic!("{runs:?}") };
        assert_eq!(good.status(), Status::Passed);
        let place = directory.path().canonicalize().unwrap();
        let printed = format!(
            "{{\"version\":5,\"command\":\"test\",\"overrides\":{{}}}}\n--exact good --nocapture\n{}\n",
            place.display()
        );
        assert_eq!(good.output, printed);
        let why = "the test process ended before the test began (exit status: 7)".to_owned();
        assert_eq!(silent.status(), Status::Error(why));
    }

    #[test]
    fn endless_output_neither_blocks_nor_fills_memory() {
        let directory = tempfile::tempdir().unwrap();
        let body = format!("say '{STARTED}'; head -c 3000000 /dev/zero; echo end; say '{FINISHED}'");
        let tests = [script(directory.path(), "loud", &body)];
        let runs = run_all(&tests, 1, OnFailure::Stop, &Interrupt::default());
        let (_, run) = &runs[0];
        assert_eq!(run.status(), Status::Passed);
        assert!(run.output.starts_with("[2934468 bytes left out]\n"), "{}", &run.output[..40]);
        assert!(run.output.ends_with("\0end\n"));
    }

    #[test]
    fn a_failure_stops_the_run_unless_told_otherwise() {
        let directory = tempfile::tempdir().unwrap();
        let tests = [script(directory.path(), "a", "exit 1"), script(directory.path(), "b", "exit 1")];
        assert_eq!(run_all(&tests, 1, OnFailure::Stop, &Interrupt::default()).len(), 1);
        assert_eq!(run_all(&tests, 2, OnFailure::GoOn, &Interrupt::default()).len(), 2);
    }

    #[test]
    fn a_stop_is_asked_for_by_removing_the_request_and_nothing_starts_after_it() {
        let directory = tempfile::tempdir().unwrap();
        let wait = "while [ -e \"$CARGO_DELAY_REQUEST\" ]; do sleep 0.05; done";
        let body = format!("say '{STARTED}'; {wait}; say '{FINISHED}'");
        let tests = [script(directory.path(), "polite", &body), script(directory.path(), "next", "exit 1")];
        let interrupt = Interrupt::default();
        let plan = Plan {
            tests: &tests,
            request: Request::Test,
            overrides: Overrides::default(),
            threads: 1,
            on_failure: OnFailure::GoOn,
            interrupt: &interrupt,
        };
        let mut statuses = Vec::new();
        run(&plan, |happening| {
            match happening {
                Happening::Ended(_, run) => statuses.push(run.status()),
                Happening::Started(_) => interrupt.signal(),
                Happening::Progress(_, _) | Happening::Quiet => {}
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(statuses, [Status::Stopped]);
    }

    #[test]
    fn a_second_signal_kills() {
        let directory = tempfile::tempdir().unwrap();
        let tests = [script(directory.path(), "stubborn", &format!("say '{STARTED}'; exec sleep 1000"))];
        let interrupt = Interrupt::default();
        interrupt.signal();
        interrupt.signal();
        assert!(run_all(&tests, 1, OnFailure::GoOn, &interrupt).is_empty(), "nothing starts after a signal");
        let control =
            Control { interrupt: &interrupt, halted: AtomicBool::new(false), abandoned: AtomicBool::new(false) };
        let files = Files { request: directory.path().join("r"), events: directory.path().join("e") };
        let run = execute(&tests[0], &files, &control, &|_| {}).unwrap();
        assert_eq!(run.status(), Status::Stopped);
    }
}

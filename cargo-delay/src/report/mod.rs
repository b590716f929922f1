//! Turns what happens in a run into what a person sees.
//!
//! Invariant: numbers and promises about a search are the test's own sentences; this side counts tests and seconds.

mod libtest;
pub(crate) mod progress;
pub(crate) mod style;
pub(crate) mod terminal;

use crate::{
    discover::Test,
    error::Error,
    outcome::{Status, TestRun},
    report::{progress::Meter, terminal::Terminal},
    run::Happening,
};
use delay_core::protocol::Progress;
use std::{
    collections::BTreeMap,
    io::{self, Write},
    time::{Duration, Instant},
};

/// How much to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Failures and the summary.
    Quiet,
    /// Every test.
    Normal,
    /// Every test and its output.
    Verbose,
}

/// How a run went.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// Tests that were meant to run.
    pub(crate) meant: usize,
    /// Tests that the filter left out.
    pub(crate) skipped: usize,
    /// Tests that passed.
    pub(crate) passed: usize,
    /// Tests that found nothing before their budget ran out.
    pub(crate) unfinished: usize,
    /// Tests that failed as expected.
    pub(crate) expected: usize,
    /// Test, how long it took and why it is here, of all that did not succeed; in the order they ended.
    pub(crate) failures: Vec<(usize, Duration, Status)>,
    /// Traces that wait to be accepted.
    pub(crate) pending: usize,
}

impl Summary {
    /// How many tests ended.
    pub(crate) fn run(&self) -> usize {
        self.passed + self.unfinished + self.expected + self.failures.len()
    }
}

/// Follows a run and shows it.
#[derive(Debug)]
pub(crate) struct Report<'a, W> {
    tests: &'a [Test],
    terminal: Terminal<W>,
    meter: Meter,
    running: BTreeMap<usize, Option<Progress>>,
    started: Instant,
    summary: Summary,
}

impl<'a, W: Write> Report<'a, W> {
    /// A report about `tests`, `skipped` further ones being left out.
    pub(crate) fn new(tests: &'a [Test], skipped: usize, terminal: Terminal<W>, meter: Meter) -> Self {
        let summary = Summary { meant: tests.len(), skipped, ..Summary::default() };
        Self { tests, terminal, meter, running: BTreeMap::new(), started: Instant::now(), summary }
    }

    /// Says what will run.
    pub(crate) fn begin(&mut self) -> Result<(), Error> {
        let Self { tests, terminal, summary, .. } = self;
        terminal.starting(tests, summary.skipped).map_err(Error::Output)
    }

    /// Shows what happened.
    pub(crate) fn tell(&mut self, happening: Happening) -> Result<(), Error> {
        match happening {
            Happening::Started(index) => {
                self.running.insert(index, None);
            }
            Happening::Progress(index, progress) => {
                self.running.insert(index, Some(progress));
            }
            Happening::Ended(index, run) => {
                self.running.remove(&index);
                self.count(index, &run);
                let Self { tests, terminal, meter, .. } = self;
                meter.hidden(|| terminal.ended(&tests[index], &run)).map_err(Error::Output)?;
            }
            Happening::Quiet => {}
        }
        self.show_progress().map_err(Error::Output)
    }

    fn count(&mut self, index: usize, run: &TestRun) {
        let summary = &mut self.summary;
        match run.status() {
            Status::Passed => summary.passed += 1,
            Status::Unfinished => summary.unfinished += 1,
            Status::ExpectedFailure => summary.expected += 1,
            status @ (Status::Failed | Status::Error(_) | Status::Stopped) => {
                summary.failures.push((index, run.elapsed, status));
            }
        }
        summary.pending +=
            run.story.pins.iter().filter(|pin| pin.verdict == delay_core::protocol::PinVerdict::Pending).count();
    }

    fn show_progress(&mut self) -> io::Result<()> {
        let Self { tests, terminal, meter, running, started, summary } = self;
        match meter.show(tests, running, summary, started.elapsed()) {
            Some(line) => terminal.running(&line, started.elapsed()),
            None => Ok(()),
        }
    }

    /// Shows the summary and returns it.
    pub(crate) fn finish(mut self) -> Result<Summary, Error> {
        self.meter.end();
        self.terminal.finish(self.tests, &self.summary, self.started.elapsed()).map_err(Error::Output)?;
        Ok(self.summary)
    }
}

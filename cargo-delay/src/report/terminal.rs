//! The text for people, in the form of cargo nextest's: a right-aligned label, the time, the test.
//!
//! Invariants: every line is whole when it is written; nothing here knows whether the writer shows colours.

use crate::{
    discover::Test,
    outcome::{Leave, Status, TestRun},
    report::{
        Summary, Verbosity, libtest,
        style::{BINARY, COUNT, ERROR, GOOD, NAME, WARNING},
    },
};
use anstyle::Style;
use delay_core::protocol::{Finding, Pin, PinVerdict, ReplayOutcome, Replayed, TestRecord};
use std::{
    collections::BTreeSet,
    env,
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

/// Where details of a test begin: under its time.
const INDENT: &str = "             ";

/// Writes to `W`.
#[derive(Debug)]
pub(crate) struct Terminal<W> {
    out: W,
    verbosity: Verbosity,
    /// The directory that paths are shown from; empty if there is none.
    here: PathBuf,
}

impl<W: Write> Terminal<W> {
    /// A terminal that writes to `out`.
    pub(crate) fn new(out: W, verbosity: Verbosity) -> Self {
        Self { out, verbosity, here: env::current_dir().unwrap_or_default() }
    }

    /// What will run.
    pub(crate) fn starting(&mut self, tests: &[Test], skipped: usize) -> io::Result<()> {
        if self.verbosity == Verbosity::Quiet {
            return Ok(());
        }
        let binaries: BTreeSet<&str> = tests.iter().map(|test| test.binary.id.as_str()).collect();
        let skipped = if skipped == 0 { String::new() } else { format!(" ({COUNT}{skipped}{COUNT:#} skipped)") };
        let (count, places) = (plural(tests.len(), "test"), plural_of(binaries.len(), "binary", "binaries"));
        writeln!(self.out, "{} {count} across {places}{skipped}", label("Starting", GOOD))
    }

    /// Where a long test is.
    pub(crate) fn running(&mut self, line: &str, elapsed: Duration) -> io::Result<()> {
        writeln!(self.out, "{} {} {line}", label("Running", GOOD), time(elapsed))
    }

    /// How a test ended: its line, what it covers, what it found, what it printed.
    pub(crate) fn ended(&mut self, test: &Test, run: &TestRun) -> io::Result<()> {
        let status = run.status();
        if self.verbosity == Verbosity::Quiet && status.is_success() {
            return Ok(());
        }
        self.status_line(test, &status, run.elapsed)?;
        let why = match &status {
            Status::Error(why) => why.as_str(),
            Status::Passed | Status::Unfinished | Status::ExpectedFailure | Status::Failed | Status::Stopped => "",
        };
        self.details(why)?;
        if run.story.finished.is_none() && run.leave == Leave::Undisturbed {
            // A test that is alone in its process lets nothing through while it explores.
            let TestRecord { package, path, .. } = &test.record;
            let how = format!("cargo test -p {package} -- {path} --nocapture");
            self.details(&format!("its last prints may be missing here; they show in: {how}"))?;
        }
        self.statements(run, why)?;
        for finding in &run.story.findings {
            self.finding(test, finding)?;
        }
        let prints = match status {
            Status::Failed | Status::Error(_) => true,
            Status::Passed | Status::Unfinished | Status::ExpectedFailure | Status::Stopped => {
                self.verbosity == Verbosity::Verbose
            }
        };
        if prints { self.output(test, run) } else { Ok(()) }
    }

    fn status_line(&mut self, test: &Test, status: &Status, elapsed: Duration) -> io::Result<()> {
        let (word, style) = match status {
            Status::Passed => ("PASS", GOOD),
            Status::Unfinished => ("OPEN", WARNING),
            Status::ExpectedFailure => ("XFAIL", GOOD),
            Status::Failed => ("FAIL", ERROR),
            Status::Error(_) => ("ERROR", ERROR),
            Status::Stopped => ("STOP", WARNING),
        };
        writeln!(self.out, "{} {} {}", label(word, style), time(elapsed), name(test))
    }

    /// What the test says about its search, its notes and its warnings, but for what `said` holds already.
    fn statements(&mut self, run: &TestRun, said: &str) -> io::Result<()> {
        let story = &run.story;
        match (&story.finished, &story.progress) {
            (Some(finished), _) if said.contains(&finished.coverage) => {}
            (Some(finished), _) => self.details(&finished.coverage)?,
            (None, Some(progress)) => self.details(&format!("until then: {}", super::progress::words(progress)))?,
            (None, None) => {}
        }
        for note in &story.notes {
            self.details(&format!("note: {note}"))?;
        }
        for warning in story.warnings.iter().filter(|warning| !said.contains(warning.as_str())) {
            self.details(&format!("{WARNING}warning{WARNING:#}: {warning}"))?;
        }
        for Pin { name, verdict, path } in &story.pins {
            let words = match verdict {
                PinVerdict::Passes | PinVerdict::Fails if self.verbosity != Verbosity::Verbose => continue,
                PinVerdict::Passes => "passes",
                PinVerdict::Fails => "still fails",
                PinVerdict::Diverged => "no longer applies",
                PinVerdict::Pending => "waits to be accepted",
            };
            let path = self.shown(path).to_owned();
            self.details(&format!("pinned trace {name} {words}: {path}"))?;
        }
        Ok(())
    }

    /// One finding: the test's report as it is, and how to replay it.
    fn finding(&mut self, test: &Test, finding: &Finding) -> io::Result<()> {
        let Finding { title, report, trace_path: _, replay } = finding;
        writeln!(self.out, "\n{ERROR}--- FINDING:{ERROR:#} {} {ERROR}---{ERROR:#}", name(test))?;
        if !report.contains(title.as_str()) {
            writeln!(self.out, "{title}")?;
        }
        self.block(report)?;
        if !replay.is_empty() && !report.contains(replay.as_str()) {
            writeln!(self.out, "replay with: {replay}")?;
        }
        writeln!(self.out)
    }

    /// What the process printed, without what is shown already.
    fn output(&mut self, test: &Test, run: &TestRun) -> io::Result<()> {
        let mut text = libtest::without_its_lines(&run.output, &test.record.path);
        for Finding { title: _, report, trace_path: _, replay: _ } in &run.story.findings {
            text = text.replace(report.trim(), "[the finding above]");
        }
        if text.trim().is_empty() {
            return Ok(());
        }
        // A finding ends with an empty line.
        let gap = if run.story.findings.is_empty() { "\n" } else { "" };
        writeln!(self.out, "{gap}{COUNT}--- OUTPUT:{COUNT:#} {} {COUNT}---{COUNT:#}", name(test))?;
        self.block(&text)?;
        writeln!(self.out)
    }

    /// How a replay went.
    pub(crate) fn replayed(&mut self, test: &Test, replayed: &Replayed, run: &TestRun) -> io::Result<()> {
        let Replayed { outcome, recorded, seen, report } = replayed;
        let findings = &run.story.findings;
        for finding in findings {
            self.finding(test, finding)?;
        }
        if !report.trim().is_empty() && findings.iter().all(|finding| !finding.report.contains(report.trim())) {
            self.block(report)?;
        }
        let (word, style) = match outcome {
            ReplayOutcome::AsRecorded => ("REPLAYED", GOOD),
            ReplayOutcome::VerdictDiffers => ("DIFFERS", ERROR),
            ReplayOutcome::Diverged => ("DIVERGED", ERROR),
        };
        writeln!(self.out, "{} {} {}", label(word, style), time(run.elapsed), name(test))?;
        match outcome {
            ReplayOutcome::AsRecorded => self.details(&format!("as recorded: {recorded}"))?,
            ReplayOutcome::VerdictDiffers | ReplayOutcome::Diverged => {
                self.details(&format!("recorded: {recorded}\nseen now: {seen}"))?;
            }
        }
        for warning in &run.story.warnings {
            self.details(&format!("{WARNING}warning{WARNING:#}: {warning}"))?;
        }
        if self.verbosity == Verbosity::Quiet { Ok(()) } else { self.output(test, run) }
    }

    /// The summary, and the failures once more.
    pub(crate) fn finish(&mut self, tests: &[Test], summary: &Summary, elapsed: Duration) -> io::Result<()> {
        let style = if summary.failures.is_empty() { GOOD } else { ERROR };
        writeln!(self.out, "{}\n{} {} {}", "-".repeat(12), label("Summary", style), time(elapsed), counts(summary))?;
        for (index, took, status) in &summary.failures {
            self.status_line(&tests[*index], status, *took)?;
        }
        if summary.pending > 0 {
            let traces = plural_of(summary.pending, "trace waits", "traces wait");
            let how = "`cargo insta review`, or rename .snap.new to .snap";
            self.details(&format!("{traces} to be accepted: {how}"))?;
        }
        let left = summary.meant - summary.run();
        let is_stopped = summary.failures.iter().any(|(_, _, status)| *status == Status::Stopped);
        if left > 0 && !is_stopped {
            let tests = plural_of(left, "test was", "tests were");
            self.details(&format!("{tests} not run because of the failure: --no-fail-fast runs them all"))?;
        }
        Ok(())
    }

    /// A path as it is from where the person is.
    fn shown<'p>(&self, path: &'p str) -> &'p str {
        let short = Path::new(path).strip_prefix(&self.here).ok().and_then(Path::to_str);
        short.unwrap_or(path)
    }

    /// `text`, each line indented under the test.
    fn details(&mut self, text: &str) -> io::Result<()> {
        text.lines().try_for_each(|line| writeln!(self.out, "{INDENT}{line}"))
    }

    /// `text` as it is, with a line end.
    fn block(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", text.trim_end())
    }
}

fn label(word: &str, style: Style) -> String {
    format!("{style}{word:>12}{style:#}")
}

fn time(elapsed: Duration) -> String {
    format!("[{:>8.3}s]", elapsed.as_secs_f64())
}

fn name(test: &Test) -> String {
    format!("{BINARY}{}{BINARY:#} {NAME}{}{NAME:#}", test.binary.id, test.record.path)
}

fn counts(summary: &Summary) -> String {
    let Summary { meant, skipped, passed, unfinished, expected, failures, pending: _ } = summary;
    let stopped = failures.iter().filter(|(_, _, status)| *status == Status::Stopped).count();
    let failed = failures.len() - stopped;
    let tests = plural_of(summary.run(), "test", "tests");
    let of = if summary.run() == *meant { String::new() } else { format!(" of {meant}") };
    let parts = [
        (*unfinished, "ended by their budget with nothing found yet", WARNING),
        (*expected, "failed as expected", GOOD),
        (failed, "failed", ERROR),
        (stopped, "stopped", WARNING),
        (*skipped, "skipped", WARNING),
    ];
    let present = parts.into_iter().filter(|(count, _, _)| *count > 0);
    let present = [(*passed, "passed", GOOD)].into_iter().chain(present);
    let texts: Vec<String> =
        present.map(|(count, words, style)| format!("{COUNT}{count}{COUNT:#} {style}{words}{style:#}")).collect();
    format!("{tests}{of} run: {}", texts.join(", "))
}

fn plural(count: usize, word: &str) -> String {
    plural_of(count, word, &format!("{word}s"))
}

fn plural_of(count: usize, one: &str, many: &str) -> String {
    format!("{COUNT}{count}{COUNT:#} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        discover::tests::test,
        outcome::{
            End,
            tests::{exit_101, finding, finished, run},
        },
        report::{Report, progress::Meter},
        run::Happening,
    };
    use delay_core::protocol::{ErrorKind, Event, Progress, Verdict};

    fn text_of(show: impl FnOnce(&mut Terminal<&mut Vec<u8>>) -> io::Result<()>, verbosity: Verbosity) -> String {
        let mut written = Vec::new();
        show(&mut Terminal::new(&mut written, verbosity)).unwrap();
        anstream::adapter::strip_str(&String::from_utf8(written).unwrap()).to_string()
    }

    fn pin(verdict: PinVerdict) -> Event {
        Event::Pin(Pin { name: "ring__elects@0f".into(), verdict, path: "ex/delay-snapshots/a.snap.new".into() })
    }

    const REPORT: &str = "two leaders\n  1  a  sends Vote to b\n  2  b  receives Vote\ndelays 1, explorer rtc\n";

    /// One run of each kind, as an event stream would make it.
    fn runs() -> Vec<TestRun> {
        let error = Verdict::Error { kind: ErrorKind::NotFound, message: "12 executions passed".to_owned() };
        let progress = Event::Progress(Progress { executions: 5, steps: 1_000, ..Progress::default() });
        let warning = Event::Warning { text: "no choice was met".to_owned() };
        let note = Event::Note { text: "goes on from the checkpoint c".to_owned() };
        let found = || finding("two leaders", REPORT);
        let printed = TestRun {
            output: format!("running 1 test\n{REPORT}thread panicked\n"),
            ..run(vec![found(), pin(PinVerdict::Pending), finished(Verdict::Failed)], exit_101())
        };
        vec![
            run(vec![note, warning, pin(PinVerdict::Passes), finished(Verdict::Passed)], End::Success),
            run(vec![found(), pin(PinVerdict::Fails), finished(Verdict::ExpectedFailure)], End::Success),
            printed,
            run(vec![finished(error)], exit_101()),
            run(vec![progress.clone()], End::Failure("signal: 6 (SIGABRT)".to_owned())),
            TestRun { leave: Leave::Stopped, ..run(vec![progress], End::Failure("signal: 9 (SIGKILL)".to_owned())) },
        ]
    }

    fn whole_run(verbosity: Verbosity) -> String {
        let names = ["correct", "forgets_vote", "two_leaders", "masked", "aborts", "slow"];
        let tests = names.map(|name| test("ex::ring", name, false));
        let mut written = Vec::new();
        let terminal = Terminal::new(&mut written, verbosity);
        let mut report = Report::new(&tests, 3, terminal, Meter::Silent);
        report.begin().unwrap();
        for (index, run) in runs().into_iter().enumerate() {
            report.tell(Happening::Ended(index, Box::new(run))).unwrap();
        }
        report.finish().unwrap();
        let text = anstream::adapter::strip_str(&String::from_utf8(written).unwrap()).to_string();
        // The only clock of a report.
        let summary = text.find("     Summary [").expect("there is a summary") + "     Summary ".len();
        let end = summary + text[summary..].find(']').expect("the time ends") + 1;
        format!("{}[TIME]{}", &text[..summary], &text[end..])
    }

    #[test]
    fn a_run_reads_like_this() {
        insta::assert_snapshot!("normal", whole_run(Verbosity::Normal));
        insta::assert_snapshot!("quiet", whole_run(Verbosity::Quiet));
        insta::assert_snapshot!("verbose", whole_run(Verbosity::Verbose));
    }

    #[test]
    fn a_green_run_says_so_in_one_line() {
        let summary = Summary { meant: 3, passed: 2, expected: 1, ..Summary::default() };
        let text = text_of(|terminal| terminal.finish(&[], &summary, Duration::from_secs(2)), Verbosity::Normal);
        insta::assert_snapshot!("green", text);
    }

    #[test]
    fn replays_read_like_this() {
        let outcomes = [ReplayOutcome::AsRecorded, ReplayOutcome::VerdictDiffers, ReplayOutcome::Diverged];
        let texts = outcomes.map(|outcome| {
            let seen = match outcome {
                ReplayOutcome::AsRecorded => "fails: two leaders",
                ReplayOutcome::VerdictDiffers => "passes",
                ReplayOutcome::Diverged => "diverged at step 2: b receives instead of a",
            };
            let report = "  1  a  sends Vote to b\n".to_owned();
            let replayed = Replayed { outcome, recorded: "fails: two leaders".into(), seen: seen.into(), report };
            let run = run(vec![finished(Verdict::Failed)], exit_101());
            let test = test("ex::ring", "two_leaders", false);
            text_of(|terminal| terminal.replayed(&test, &replayed, &run), Verbosity::Normal)
        });
        insta::assert_snapshot!("replays", texts.join("\n"));
    }

    #[test]
    fn colours_are_written_for_a_writer_that_shows_them() {
        let mut written = Vec::new();
        let test = test("ex", "a", false);
        let status = Status::Passed;
        Terminal::new(&mut written, Verbosity::Normal).status_line(&test, &status, Duration::ZERO).unwrap();
        assert!(
            String::from_utf8(written).unwrap().starts_with("\u{1b}[1m\u{1b}[32m        PASS\u{1b}[0m [   0.000s] ")
        );
    }
}

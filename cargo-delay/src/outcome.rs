//! What a test's events and the end of its process amount to.
//!
//! Invariants: events are folded in their order and a gap is noticed; what is kept is bounded, whatever a test sends; a test
//! counts as passed only if it said so itself and its process agrees.

use delay_core::protocol::{Envelope, ErrorKind, Event, Finding, Finished, Pin, Progress, Replayed, VERSION, Verdict};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How many findings, pins, warnings and notes are kept of one test.
const KEPT_MAX: usize = 100;

/// What a test has told so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Story {
    /// The number the next event must have.
    next: u64,
    /// The latest.
    pub(crate) progress: Option<Progress>,
    /// One a title and a file; a smaller form replaces the first.
    pub(crate) findings: Vec<Finding>,
    /// In the order they were replayed or written.
    pub(crate) pins: Vec<Pin>,
    /// Of a replay request.
    pub(crate) replayed: Option<Replayed>,
    /// In their order.
    pub(crate) warnings: Vec<String>,
    pub(crate) notes: Vec<String>,
    /// The end.
    pub(crate) finished: Option<Finished>,
    /// Why what was told cannot be trusted.
    pub(crate) broken: Option<String>,
}

impl Story {
    /// Takes one line of the event file; says where the search is, if the line does.
    pub(crate) fn add_line(&mut self, line: &str) -> Option<Progress> {
        if self.broken.is_some() {
            return None;
        }
        match Envelope::from_line(line) {
            Ok(Envelope { seq, event }) => {
                self.check(seq, &event);
                self.add(event)
            }
            Err(error) => {
                self.broken = Some(error.to_string());
                None
            }
        }
    }

    fn check(&mut self, seq: u64, event: &Event) {
        if seq != self.next {
            self.broken = Some(format!("event {} of the test is missing: {seq} came instead", self.next));
        } else if self.finished.is_some() {
            self.broken = Some("the test went on after it had finished".to_owned());
        } else if (seq == 0) != matches!(event, Event::Started(_)) {
            self.broken = Some(format!("event {seq} of the test is not what protocol version {VERSION} has there"));
        }
        self.next = self.next.saturating_add(1);
    }

    fn add(&mut self, event: Event) -> Option<Progress> {
        match event {
            Event::Started(_) => {}
            Event::Progress(progress) => self.progress = Some(progress),
            Event::Finding(finding) => self.found(finding),
            Event::Pin(pin) => push_bounded(&mut self.pins, pin),
            Event::Replayed(replayed) => self.replayed = Some(replayed),
            Event::Warning { text } => push_bounded(&mut self.warnings, text),
            Event::Note { text } => push_bounded(&mut self.notes, text),
            Event::Finished(finished) => self.finished = Some(finished),
        }
        self.progress
    }

    /// Keeps a finding in the place of what it is a smaller form of: that has its title, or its file, where what is smaller fails in other words.
    fn found(&mut self, finding: Finding) {
        let is_saved_there = |known: &Finding| known.trace_path.is_some() && known.trace_path == finding.trace_path;
        let is_other = |known: &Finding| known.title != finding.title && !is_saved_there(known);
        let place = self.findings.iter().take_while(|known| is_other(known)).count();
        self.findings.retain(is_other);
        if place < KEPT_MAX {
            self.findings.insert(place, finding);
        }
    }
}

fn push_bounded<T>(kept: &mut Vec<T>, one: T) {
    if kept.len() < KEPT_MAX {
        kept.push(one);
    }
}

/// How a process ended.
#[derive(Debug, Clone)]
pub(crate) enum End {
    /// With success.
    Success,
    /// Otherwise; how, in words.
    Failure(String),
}

/// Whether the test was let run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leave {
    /// To its end.
    Undisturbed,
    /// It was asked to stop.
    Stopped,
}

/// One test, run.
#[derive(Debug)]
pub(crate) struct TestRun {
    /// What it told.
    pub(crate) story: Story,
    /// How its process ended.
    pub(crate) end: End,
    /// Whether it could end by itself.
    pub(crate) leave: Leave,
    /// From the start of the process to its end.
    pub(crate) elapsed: Duration,
    /// The last part of what it printed.
    pub(crate) output: String,
}

/// What became of a test. It stands in saved reports, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Status {
    /// Nothing was found.
    Passed,
    /// Nothing was found before its budget ran out.
    Unfinished,
    /// Something was found, and that was expected.
    ExpectedFailure,
    /// Something was found.
    Failed,
    /// Nothing can be said about the property; why.
    Error(String),
    /// It was stopped before it had an answer.
    Stopped,
}

impl Status {
    /// Whether the run may end with success.
    pub(crate) fn is_success(&self) -> bool {
        match self {
            Self::Passed | Self::Unfinished | Self::ExpectedFailure => true,
            Self::Failed | Self::Error(_) | Self::Stopped => false,
        }
    }
}

impl TestRun {
    /// What became of the test: its own verdict, unless its process contradicts.
    pub(crate) fn status(&self) -> Status {
        let Self { story, end, leave, elapsed: _, output: _ } = self;
        if let Some(why) = &story.broken {
            return Status::Error(why.clone());
        }
        match (&story.finished, leave) {
            (Some(finished), _) => agreed(&finished.verdict, end, *leave),
            (None, Leave::Stopped) => Status::Stopped,
            (None, Leave::Undisturbed) => Status::Error(died(story, end)),
        }
    }
}

/// The verdict as far as the process agrees.
fn agreed(verdict: &Verdict, end: &End, leave: Leave) -> Status {
    match (verdict, end) {
        (Verdict::Passed | Verdict::Unfinished | Verdict::Error { kind: ErrorKind::NotFound, message: _ }, _)
            if leave == Leave::Stopped =>
        {
            Status::Stopped
        }
        (Verdict::Passed, End::Success) => Status::Passed,
        (Verdict::Unfinished, End::Success) => Status::Unfinished,
        // `#[should_panic]` turns a failure into libtest's success, and the lack of one into its failure.
        (Verdict::ExpectedFailure | Verdict::Failed, End::Success) => Status::ExpectedFailure,
        (Verdict::Failed, End::Failure(_)) => Status::Failed,
        (Verdict::Passed | Verdict::Unfinished, End::Failure(how)) => {
            Status::Error(format!("the search found nothing, but the test process failed ({how})"))
        }
        (Verdict::ExpectedFailure, End::Failure(how)) => {
            Status::Error(format!("the expected failure was found, but the test process failed ({how})"))
        }
        (Verdict::Error { kind, message }, _) if message.trim().is_empty() => Status::Error(words(*kind).to_owned()),
        (Verdict::Error { kind: _, message }, _) => Status::Error(message.clone()),
    }
}

/// What to say of an error that says nothing itself.
fn words(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Diverged => "a trace no longer applies",
        ErrorKind::Nondeterministic => "the test is not deterministic",
        ErrorKind::PendingPin => "a pinned trace waits to be accepted",
        ErrorKind::NotFound => "the expected failure was not found",
        ErrorKind::Invalid => "the test cannot run",
        ErrorKind::Unheard => "the observer heard nothing",
    }
}

/// Where a test without `finished` died.
fn died(story: &Story, end: &End) -> String {
    let how = match end {
        End::Success => "exit status: 0",
        End::Failure(how) => how,
    };
    match (story.next, story.progress) {
        (0, _) => format!("the test process ended before the test began ({how})"),
        (_, None) => format!("the test process died ({how}) in its first executions"),
        (_, Some(Progress { executions, .. })) => {
            format!("the test process died ({how}) at or after execution {executions}")
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use delay_core::protocol::Started;

    /// A run that told `events` after `started`, as lines of an event file.
    pub(crate) fn run(events: Vec<Event>, end: End) -> TestRun {
        let started = Event::Started(Started { version: VERSION, test: "t".into(), file: "t.rs".into(), line: 1 });
        let mut story = Story::default();
        for (seq, event) in (0..).zip([started].into_iter().chain(events)) {
            story.add_line(&Envelope { seq, event }.to_line());
        }
        let elapsed = Duration::from_millis(1_234);
        TestRun { story, end, leave: Leave::Undisturbed, elapsed, output: "what the test printed\n".to_owned() }
    }

    /// The last event, with `verdict`.
    pub(crate) fn finished(verdict: Verdict) -> Event {
        let coverage = "every execution with at most 2 delays: 12 executions, 40 states".to_owned();
        Event::Finished(Finished {
            verdict,
            coverage,
            executions: 12,
            steps: 99,
            states: 40,
            elapsed_ms: 1_200,
            covered: None,
        })
    }

    /// A finding called `title`.
    pub(crate) fn finding(title: &str, report: &str) -> Event {
        let replay = "cargo delay replay a.snap".to_owned();
        Event::Finding(Finding {
            title: title.into(),
            report: report.into(),
            trace_path: Some(format!("{title}.trace")),
            replay,
        })
    }

    /// The end of a failing libtest.
    pub(crate) fn exit_101() -> End {
        End::Failure("exit status: 101".to_owned())
    }

    fn status(verdict: Verdict, end: End) -> Status {
        run(vec![finished(verdict)], end).status()
    }

    #[test]
    fn verdict_and_process_must_agree() {
        assert_eq!(status(Verdict::Passed, End::Success), Status::Passed);
        assert_eq!(status(Verdict::Failed, exit_101()), Status::Failed);
        assert_eq!(status(Verdict::ExpectedFailure, End::Success), Status::ExpectedFailure);
        assert_eq!(status(Verdict::Failed, End::Success), Status::ExpectedFailure, "should_panic");
        assert!(matches!(status(Verdict::Passed, exit_101()), Status::Error(_)));
        assert!(matches!(status(Verdict::ExpectedFailure, exit_101()), Status::Error(_)));
        let verdict = Verdict::Error { kind: ErrorKind::Diverged, message: "at step 3".to_owned() };
        let silent = Verdict::Error { kind: ErrorKind::Diverged, message: String::new() };
        assert_eq!(status(silent, exit_101()), Status::Error("a trace no longer applies".to_owned()));
        for end in [End::Success, exit_101()] {
            let expected = Status::Error("at step 3".to_owned());
            assert_eq!(status(verdict.clone(), end), expected);
        }
    }

    #[test]
    fn a_stopped_test_has_no_answer_unless_it_found_something() {
        let stopped =
            |verdict| TestRun { leave: Leave::Stopped, ..run(vec![finished(verdict)], End::Success) }.status();
        assert_eq!(stopped(Verdict::Passed), Status::Stopped);
        assert_eq!(stopped(Verdict::ExpectedFailure), Status::ExpectedFailure);
        let not_found = Verdict::Error { kind: ErrorKind::NotFound, message: String::new() };
        assert_eq!(stopped(not_found), Status::Stopped);
    }

    #[test]
    fn a_process_without_finished_died() {
        let progress = Event::Progress(Progress { executions: 41, ..Progress::default() });
        let killed = || End::Failure("signal: 6 (SIGABRT)".to_owned());
        let text = |run: TestRun| match run.status() {
            Status::Error(text) => text,
            other => panic!("{other:?}"),
        };
        let at = text(run(vec![progress], killed()));
        assert_eq!(at, "the test process died (signal: 6 (SIGABRT)) at or after execution 41");
        assert_eq!(text(run(vec![], killed())), "the test process died (signal: 6 (SIGABRT)) in its first executions");
        let silent = TestRun { story: Story::default(), ..run(vec![], End::Success) };
        assert_eq!(text(silent), "the test process ended before the test began (exit status: 0)");
    }

    #[test]
    fn gaps_and_garbage_are_errors() {
        let broken = |lines: &[&str]| {
            let mut story = Story::default();
            for line in lines {
                story.add_line(line);
            }
            story.broken.unwrap_or_default()
        };
        let started = r#"{"seq":0,"type":"started","version":5,"test":"t","file":"f","line":1}"#;
        let warning = r#"{"seq":2,"type":"warning","text":"w"}"#;
        assert_eq!(broken(&[started, warning]), "event 1 of the test is missing: 2 came instead");
        assert!(broken(&[started, "oops"]).starts_with("not an event of protocol version 5"));
        assert!(broken(&[started, &started.replace(":0", ":1")]).starts_with("event 1 of the test is not what"));
        assert!(broken(&[&warning.replace(":2", ":0")]).starts_with("event 0 of the test is not what"));
    }

    #[test]
    fn a_smaller_form_of_a_finding_replaces_the_first_and_no_flood_is_kept() {
        let mut events =
            vec![finding("two leaders", "9 events"), finding("lost", "5 events"), finding("two leaders", "3 events")];
        events.extend((0..1_000).map(|_| Event::Warning { text: "w".to_owned() }));
        let story = run(events, End::Success).story;
        let reports: Vec<_> = story.findings.iter().map(|finding| finding.report.as_str()).collect();
        assert_eq!(reports, ["3 events", "5 events"]);
        assert_eq!(story.warnings.len(), KEPT_MAX);
    }

    #[test]
    fn a_smaller_form_that_fails_in_other_words_is_the_same_finding() {
        let saved = |title: &str, report: &str, path: &str| match finding(title, report) {
            Event::Finding(found) => Event::Finding(Finding { trace_path: Some(path.to_owned()), ..found }),
            other => other,
        };
        let events = vec![
            saved("vote 2 is lost", "a pin", "p.snap"),
            saved("vote 3 is lost", "15 events", "t.trace"),
            saved("vote 2 is lost", "8 events", "t.trace"),
        ];
        let story = run(events, End::Success).story;
        let told: Vec<_> = story.findings.iter().map(|found| (found.title.as_str(), found.report.as_str())).collect();
        assert_eq!(told, [("vote 2 is lost", "8 events")]);
    }
}

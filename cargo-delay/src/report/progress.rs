//! Shows that a run is alive: a bar on a terminal, else a line now and then, in CI nothing.
//!
//! Invariant: only a bar redraws; whatever else is written goes through [`Meter::hidden`], so that it never lands in one.

use crate::{cli::ShowProgress, discover::Test, report::Summary};
use delay_core::protocol::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    collections::BTreeMap,
    env,
    io::{IsTerminal as _, stderr},
    time::Duration,
};

/// How often a line shows that a long test is alive; programs that kill silent builds wait minutes.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// How progress is shown.
#[derive(Debug)]
pub(crate) enum Meter {
    /// By a bar.
    Bar(ProgressBar),
    /// By lines; the last came at this time of the run.
    Lines(Duration),
    /// Not.
    Silent,
}

impl Meter {
    /// The meter that `how` means here, for `total` tests.
    pub(crate) fn new(how: ShowProgress, total: usize) -> Self {
        let how = match how {
            ShowProgress::Auto if is_ci() => ShowProgress::None,
            ShowProgress::Auto if stderr().is_terminal() => ShowProgress::Bar,
            ShowProgress::Auto => ShowProgress::Counter,
            asked => asked,
        };
        match how {
            ShowProgress::Bar | ShowProgress::Auto => Self::Bar(bar(total)),
            ShowProgress::Counter => Self::Lines(Duration::ZERO),
            ShowProgress::None => Self::Silent,
        }
    }

    /// Does `write` while no bar is drawn.
    pub(crate) fn hidden<T>(&self, write: impl FnOnce() -> T) -> T {
        match self {
            Self::Bar(bar) => bar.suspend(write),
            Self::Lines(_) | Self::Silent => write(),
        }
    }

    /// Shows where the run is, `elapsed` after its start. Returns a line if one is due.
    pub(crate) fn show(
        &mut self,
        tests: &[Test],
        running: &BTreeMap<usize, Option<Progress>>,
        summary: &Summary,
        elapsed: Duration,
    ) -> Option<String> {
        match self {
            Self::Bar(bar) => {
                bar.set_position(summary.run() as u64);
                bar.set_message(line(tests, running));
                None
            }
            Self::Lines(last) if elapsed.saturating_sub(*last) >= HEARTBEAT => {
                *last = elapsed;
                Some(format!("{}/{}: {}", summary.run(), summary.meant, line(tests, running)))
            }
            Self::Lines(_) | Self::Silent => None,
        }
    }

    /// Removes the bar.
    pub(crate) fn end(&self) {
        match self {
            Self::Bar(bar) => bar.finish_and_clear(),
            Self::Lines(_) | Self::Silent => {}
        }
    }
}

fn bar(total: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("     Running [{elapsed_precise}] {bar:20} {pos}/{len}: {wide_msg}");
    let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr());
    bar.set_style(style.expect("the template is fixed and valid").progress_chars("=> "));
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// The running tests and where they are.
fn line(tests: &[Test], running: &BTreeMap<usize, Option<Progress>>) -> String {
    let one = |(index, progress): (&usize, &Option<Progress>)| match progress {
        Some(progress) => format!("{} ({})", tests[*index].label(), words(progress)),
        None => tests[*index].label(),
    };
    running.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A search's position in words.
pub(crate) fn words(progress: &Progress) -> String {
    use delay_core::coverage::grouped;
    let Progress { executions, steps, states, frontier, delays, elapsed_ms: _ } = *progress;
    let counted = |number: u64, word: &str| {
        if number == 0 { String::new() } else { format!(", {} {word}", grouped(number)) }
    };
    let (states, frontier) = (counted(states, "states"), counted(frontier, "waiting"));
    format!("{} executions, {} steps{states}, bound {delays}{frontier}", grouped(executions), grouped(steps))
}

/// insta's rule, so that both tools agree on where they are.
fn is_ci() -> bool {
    let ci = env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
    ci || env::var_os("TF_BUILD").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::tests::test;

    #[test]
    fn a_line_comes_now_and_then() {
        let tests = [test("ex::ring", "elects", false), test("ex", "votes", false)];
        let progress =
            Progress { executions: 1_234_567, steps: 999, states: 1_000, frontier: 12, delays: 2, elapsed_ms: 5 };
        let running = BTreeMap::from([(0, Some(progress)), (1, None)]);
        let summary = Summary { meant: 5, passed: 3, ..Summary::default() };
        let mut meter = Meter::Lines(Duration::ZERO);
        let mut at = |seconds| meter.show(&tests, &running, &summary, Duration::from_secs(seconds));
        assert_eq!(at(29), None);
        let line =
            "3/5: ex::ring elects (1,234,567 executions, 999 steps, 1,000 states, bound 2, 12 waiting), ex votes";
        assert_eq!(at(31).as_deref(), Some(line));
        assert_eq!(at(60), None);
        assert!(at(61).is_some());
        assert_eq!(Meter::Silent.show(&tests, &running, &summary, Duration::from_secs(99)), None);
    }
}

//! The text a person reads when a test fails.

use super::session::Failure;
use crate::{
    coverage::count,
    trace::{Deviation, Trace, Verdict, event::Event},
    verdict::{Violation, place},
    world::op::Site,
};
use std::{fmt::Write as _, path::Path};

/// Most lines of a schedule that are shown; the whole of it is in the saved trace.
const LINES_MAX: usize = 200;

/// One line: what was violated.
pub fn title(failure: &Failure) -> String {
    failure.violation.to_string().lines().next().unwrap_or_default().to_owned()
}

/// The whole report. `how` says how it was found, `replay` how to see it again.
pub fn report(failure: &Failure, how: &str, replay: Option<&str>) -> String {
    let mut text = String::new();
    match &failure.violation {
        Violation::Deadlock { waits } | Violation::Waiting { waits } => {
            let _ = writeln!(text, "{}", title(failure));
            for wait in waits {
                let places = wait.ops.iter().zip(&wait.sites).map(|(op, site)| format!("{op}, at {site}"));
                let _ = writeln!(text, "  {} waits for {}", wait.process, places.collect::<Vec<_>>().join(" or for "));
            }
        }
        violation => {
            let _ = writeln!(text, "{violation}");
        }
    }
    if let Violation::Panic { place: Some(place), .. } = &failure.violation {
        let _ = writeln!(text, "  at {place}");
    }
    let trace = &failure.trace;
    let _ = writeln!(
        text,
        "\nschedule: {} and {} of explorer \"{}\" (seed {}); {how}",
        count(trace.steps, "step"),
        count(trace.delays, "delay"),
        trace.explorer,
        trace.seed
    );
    schedule(&mut text, &trace.schedule, &failure.events);
    if let Some(replay) = replay {
        let _ = writeln!(text, "\nreplay it with: {replay}");
    }
    text
}

/// The events in columns, with the deviations where they were made.
pub fn events(trace: &Trace, events: &[Event]) -> String {
    let mut text = String::new();
    // An execution that has left its trace was not made by the trace's deviations.
    let deviations: &[Deviation] = match trace.verdict {
        Verdict::Fail | Verdict::Pass => &trace.schedule,
        Verdict::Diverged { .. } => &[],
    };
    schedule(&mut text, deviations, events);
    text
}

fn schedule(text: &mut String, deviations: &[Deviation], events: &[Event]) {
    let width = events.iter().map(|event| event.process.chars().count()).max().unwrap_or(0).min(24);
    let what = events.iter().map(|event| event.text.chars().count()).max().unwrap_or(0).min(60);
    let skipped = events.len().saturating_sub(LINES_MAX);
    let mut deviations = deviations.iter().peekable();
    if skipped > 0 {
        let _ = writeln!(text, "  .. {} before; the saved trace has them all", count(skipped as u64, "event"));
    }
    for (index, event) in events.iter().enumerate() {
        while let Some(deviation) = deviations.next_if(|deviation| u64::from(deviation.step) < event.step) {
            if index >= skipped {
                let delays = count(u64::from(deviation.delays), "delay");
                let _ = writeln!(text, "  {:>4}  -- {delays}: now {}", "", deviation.process);
            }
        }
        if index >= skipped {
            line(text, event, width, what);
        }
    }
}

/// Whether a place is the user's: what the engine does by itself, or a trait of std for the user, is shown without one.
fn is_users(site: Site) -> bool {
    let file = Path::new(site.file());
    // Of this very file.
    let is_ours = Path::new(file!()).ancestors().nth(2).is_some_and(|sources| file.starts_with(sources));
    let is_stds = site.file().starts_with("/rustc/") || site.file().contains("/lib/rustlib/src/rust/library/");
    !is_ours && !is_stds
}

fn line(text: &mut String, event: &Event, width: usize, what: usize) {
    let step = if event.step == 0 { String::new() } else { event.step.to_string() };
    let site = event.site.filter(|site| is_users(site)).map(place).unwrap_or_default();
    let mut lines = event.text.lines();
    let first = lines.next().unwrap_or_default();
    let row = format!("  {step:>4}  {:<width$}  {first:<what$}  {site}", event.process);
    let _ = writeln!(text, "{}", row.trim_end());
    for more in lines {
        let _ = writeln!(text, "  {:>4}  {:<width$}  {more}", "", "");
    }
}

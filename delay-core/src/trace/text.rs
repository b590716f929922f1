//! The text of a trace: grammar, writing, reading. `docs/trace-format.md` is its prose.
//!
//! Invariants:
//! - `parse(print(t)) == t`, for any names and texts in `t`; the printed text has no trailing spaces, and no line that
//!   insta's header could be confused with.
//! - Reading never panics, and never takes a truncated file for a whole one: a trace closes with a line of its own.
//! - A change of the grammar is a new version. A reader looks at the version first.

use super::{
    Deviation, Line, TestName, Trace,
    error::{TraceError, TraceErrorKind},
    quote::{self, Place},
    reader::Lines,
    value::{
        end_word, faults_text, granularity_word, read_deviation, read_event, read_faults, read_lasso, read_rest,
        read_test, read_u32, read_u64, read_verdict, read_violation, read_word, waiting_word, write_process,
    },
};
use crate::{
    live::{End, Lasso, Waiting},
    world::{
        Granularity,
        fault::{Faults, Time},
        premises::{Fates, Premises},
    },
};
use std::{
    fmt::{self, Write},
    str,
};

/// The version of the grammar.
pub const VERSION: u32 = 1;

/// The value of `clock`.
const READ: &str = "read";

const CLOSING: &str = "end of trace";

/// Longer names do not push the texts of all other events to the right.
const NAME_COLUMN_MAX: usize = 24;

/// The text of `trace`.
pub fn print(trace: &Trace) -> String {
    let mut text = String::new();
    write_trace(&mut text, trace).expect("writing to a String cannot fail");
    text
}

/// What decides which execution it is: everything but what came of it.
pub(super) fn print_decisions(trace: &Trace) -> String {
    let mut text = String::new();
    write_decisions(&mut text, trace).expect("writing to a String cannot fail");
    text
}

fn write_trace(out: &mut impl Write, trace: &Trace) -> fmt::Result {
    let Trace {
        test,
        explorer,
        seed,
        granularity,
        end,
        waiting,
        max_steps,
        faults,
        premises,
        time,
        skew,
        verdict,
        violation,
        delays,
        steps,
        lasso,
        schedule,
        events,
    } = trace;
    let TestName { package, krate, path } = test;
    writeln!(out, "delay trace {VERSION}")?;
    writeln!(
        out,
        "test: {} {} {}",
        quote::write(package, Place::Word),
        quote::write(krate, Place::Word),
        quote::write(path, Place::Rest)
    )?;
    writeln!(out, "explorer: {}", quote::write(explorer, Place::Rest))?;
    writeln!(out, "seed: {seed}")?;
    writeln!(out, "granularity: {}", granularity_word(*granularity))?;
    writeln!(out, "end: {}", end_word(*end))?;
    writeln!(out, "waiting: {}", waiting_word(*waiting))?;
    writeln!(out, "max_steps: {max_steps}")?;
    write_environment(out, *faults, *time, *skew)?;
    write_premises(out, *premises)?;
    writeln!(out, "verdict: {verdict}")?;
    writeln!(out, "violation:")?;
    for line in violation {
        let line = quote::write(line, Place::Indented);
        writeln!(out, "  |{}{line}", if line.is_empty() { "" } else { " " })?;
    }
    writeln!(out, "delays: {delays}")?;
    writeln!(out, "steps: {steps}")?;
    write_lasso(out, *lasso)?;
    write_schedule(out, schedule)?;
    write_events(out, events)?;
    writeln!(out, "{CLOSING}")
}

fn write_decisions(out: &mut impl Write, trace: &Trace) -> fmt::Result {
    // `waiting` and `max_steps` judge or cut an execution, they do not steer it.
    let Trace {
        test: _,
        explorer,
        seed,
        granularity,
        end,
        waiting: _,
        max_steps: _,
        faults,
        premises,
        time,
        skew,
        verdict: _,
        violation: _,
        delays: _,
        steps: _,
        lasso,
        schedule,
        events: _,
    } = trace;
    writeln!(out, "{} {seed}", quote::write(explorer, Place::Word))?;
    writeln!(out, "{} {}", granularity_word(*granularity), end_word(*end))?;
    write_environment(out, *faults, *time, *skew)?;
    write_premises(out, *premises)?;
    write_lasso(out, *lasso)?;
    write_schedule(out, schedule)
}

/// What most traces do not have stands on lines that most traces do not have.
fn write_environment(out: &mut impl Write, faults: Faults, time: Time, skew: u64) -> fmt::Result {
    if faults.is_any() {
        writeln!(out, "faults: {}", faults_text(faults))?;
    }
    if time != Time::Any {
        writeln!(out, "time: {}", time.name())?;
    }
    if skew > 0 {
        writeln!(out, "skew: {skew}")?;
    }
    Ok(())
}

fn write_premises(out: &mut impl Write, premises: Premises) -> fmt::Result {
    let Premises { fates, reads_clock } = premises;
    if fates != Fates::AtReceive {
        writeln!(out, "fates: {}", fates.name())?;
    }
    if reads_clock {
        writeln!(out, "clock: {READ}")?;
    }
    Ok(())
}

fn write_lasso(out: &mut impl Write, lasso: Option<Lasso>) -> fmt::Result {
    match lasso {
        Some(Lasso { start, length }) => writeln!(out, "loop: {length} after step {start}"),
        None => Ok(()),
    }
}

fn write_schedule(out: &mut impl Write, schedule: &[Deviation]) -> fmt::Result {
    writeln!(out, "schedule:")?;
    for deviation in schedule {
        writeln!(out, "  {deviation}")?;
    }
    Ok(())
}

fn write_events(out: &mut impl Write, events: &[Line]) -> fmt::Result {
    let digits = events.iter().map(|line| line.step).max().unwrap_or(0).to_string().len();
    let names = events.iter().map(|line| write_process(&line.process).chars().count());
    let column = names.filter(|chars| *chars <= NAME_COLUMN_MAX).max().unwrap_or(0);
    writeln!(out, "events:")?;
    for Line { step, process, text } in events {
        let (process, text) = (write_process(process), quote::write(text, Place::Rest));
        writeln!(out, "  {step:>digits$}  {process:<column$}  {text}")?;
    }
    Ok(())
}

/// Reads a file's bytes: [`parse`], for what may not even be text.
pub fn parse_bytes(bytes: &[u8]) -> Result<Trace, TraceError> {
    match str::from_utf8(bytes) {
        Ok(text) => parse(text),
        Err(error) => {
            let lines = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
            Err(TraceErrorKind::NotUtf8.at(lines as u32))
        }
    }
}

/// Reads a trace, or an insta snapshot of one, whose header is skipped. Line numbers in errors are those of `text`.
pub fn parse(text: &str) -> Result<Trace, TraceError> {
    let mut lines = Lines::new(text);
    lines.skip_header()?;
    lines.version(VERSION)?;
    let test = lines.field("test", read_test)?;
    let explorer = lines.field("explorer", read_rest)?;
    let seed = lines.field("seed", read_u64)?;
    let granularity = lines.field("granularity", |value| {
        read_word(value, &[Granularity::Send, Granularity::Op, Granularity::Macro], granularity_word)
    })?;
    let end = lines.field("end", |value| read_word(value, &[End::Quiescent, End::Body], end_word))?;
    let waiting = lines.field("waiting", |value| read_word(value, &[Waiting::Allow, Waiting::Deny], waiting_word))?;
    let max_steps = lines.field("max_steps", read_u32)?;
    let faults = lines.field_if("faults", read_faults)?.unwrap_or_default();
    let time = lines.field_if("time", |value| read_word(value, &[Time::Any, Time::Ordered], Time::name))?;
    let skew = lines.field_if("skew", read_u64)?.unwrap_or_default();
    let fates = lines.field_if("fates", |value| read_word(value, &[Fates::AtReceive, Fates::AtSend], Fates::name))?;
    let reads_clock = lines.field_if("clock", |value| read_word(value, &[true], |_| READ))?;
    let verdict = lines.field("verdict", read_verdict)?;
    let violation = lines.section("violation", read_violation)?.into_iter().map(|(_, line)| line).collect();
    let delays = lines.field("delays", read_u64)?;
    let delays_at = lines.last();
    let steps = lines.field("steps", read_u64)?;
    let lasso = lines.field_if("loop", read_lasso)?;
    let schedule = check_schedule(lines.section("schedule", read_deviation)?, delays, delays_at)?;
    let events = lines.section("events", read_event)?.into_iter().map(|(_, line)| line).collect();
    lines.closing(CLOSING)?;
    Ok(Trace {
        test,
        explorer,
        seed,
        granularity,
        end,
        waiting,
        max_steps,
        faults,
        premises: Premises { fates: fates.unwrap_or_default(), reads_clock: reads_clock.unwrap_or_default() },
        time: time.unwrap_or_default(),
        skew,
        verdict,
        violation,
        delays,
        steps,
        lasso,
        schedule,
        events,
    })
}

/// The deviations, if they add up and stand in order: a schedule that lost a line must not pass for another one.
fn check_schedule(lines: Vec<(u32, Deviation)>, stated: u64, stated_at: u32) -> Result<Vec<Deviation>, TraceError> {
    let mut schedule: Vec<Deviation> = Vec::with_capacity(lines.len());
    for (at, deviation) in lines {
        if let Some(before) = schedule.last().filter(|before| before.step >= deviation.step) {
            let expected = format!("a step after {}", before.step);
            return Err(TraceErrorKind::unexpected(&format!("step {}", deviation.step), expected).at(at));
        }
        schedule.push(deviation);
    }
    let sum = schedule.iter().map(|deviation| u64::from(deviation.delays)).sum();
    if sum == stated { Ok(schedule) } else { Err(TraceErrorKind::Delays { sum, stated }.at(stated_at)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::samples;
    use proptest::prelude::*;

    const SNAPSHOT_HEADER: &str =
        "---\nsource: tests/two_phase.rs\ndescription: \"3 delays --- rtc\"\ninfo:\n  delays: 3\n---\n";

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    /// The sample's text with `from` replaced by `to`.
    fn edited(from: &str, to: &str) -> String {
        let text = print(&samples::lost_vote());
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    }

    #[test]
    fn the_page_on_the_format_shows_a_trace_that_reads_and_prints_back() {
        let page = include_str!("../../../docs/trace-format.md").replace("\r\n", "\n");
        let (_, rest) = page.split_once("```text\ndelay trace").unwrap();
        let example = format!("delay trace{}", rest.split_once("```").unwrap().0);
        assert_eq!(print(&parse(&example).unwrap()), example);
        for word in ["send", "op", "macro", "quiescent", "body", "allow", "deny", "fail", "pass"] {
            assert!(page.contains(&format!("`{word}`")), "docs/trace-format.md lacks `{word}`");
        }
    }

    #[test]
    fn a_trace_reads_well() {
        let text = print(&samples::lost_vote());
        let (_, shown) = text.split_once("verdict").unwrap();
        let expected = "\
: fail
violation:
  | panic in coordinator: votes differ
  |   left: 1
delays: 3
steps: 14
schedule:
  delay 1 @ step 3: p1.2
  delay 2 @ step 12: coordinator.4
events:
   0  main         spawns coordinator
   1  coordinator  sends Prepare to p1
  14  coordinator  panics: votes differ
end of trace
";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_loop_has_a_line_of_its_own_and_decides_which_execution_it_is() {
        let trace = samples::lost_vote();
        let around = Trace { lasso: Some(Lasso { start: 4, length: 5 }), ..trace.clone() };
        let text = print(&around);
        assert!(text.contains("steps: 14\nloop: 5 after step 4\nschedule:\n"), "{text}");
        assert_eq!(parse(&text).as_ref(), Ok(&around));
        assert_ne!(print_decisions(&trace), print_decisions(&around));
        for (to, expected) in [
            ("loop: 0 after step 4", "line 15: expected `length after step k`, found \"0 after step 4\""),
            ("loop: 5", "line 15: expected `length after step k`, found \"5\""),
            ("loops: 5 after step 4", "line 15: expected `schedule:`"),
        ] {
            let error = error(&text.replace("loop: 5 after step 4", to));
            assert!(error.starts_with(expected), "{to}: {error}");
        }
    }

    #[test]
    fn what_is_no_trace_is_said_with_its_line() {
        let snapshot = |body: &str| format!("{SNAPSHOT_HEADER}\n{body}");
        for (text, expected) in [
            ("", "line 1: not a delay trace: it is empty"),
            ("\n\n", "line 1: not a delay trace: it is empty"),
            ("fn main() {}\n", "line 1: not a delay trace: it begins with \"fn main() {}\""),
            ("delay trace one\n", "line 1: not a delay trace"),
            ("delay trace 0\n", "line 1: not a delay trace"),
            ("delay trace 2\nanything", "line 1: written by a newer delay: version 2; this one reads 1"),
            ("---\nsource: a.rs\n", "line 1: the snapshot's header has no second line"),
            (&snapshot("fn main() {}"), "line 8: not a delay trace: it begins with"),
            (&snapshot("delay trace 7"), "line 8: written by a newer delay: version 7"),
            (&snapshot("delay trace 1"), "line 8: the file ends here, expected `test: ..`: it is truncated"),
        ] {
            assert!(error(text).starts_with(expected), "{text:?}: {}", error(text));
        }
        let bytes = parse_bytes(b"delay trace 1\ntest: a \xff\n").unwrap_err();
        assert_eq!(bytes.to_string(), "line 2: not a delay trace: this line is not UTF-8");
    }

    /// Each edit of the sample's text must be refused in these words.
    #[track_caller]
    fn refuses(edits: &[(&str, &str, &str)]) {
        for (from, to, expected) in edits {
            let error = error(&edited(from, to));
            assert!(error.starts_with(expected), "{from:?} -> {to:?}: {error}");
        }
    }

    #[test]
    fn a_damaged_line_is_named_with_what_should_stand_there() {
        refuses(&[
            ("test: delay-examples ", "test: ", "line 2: expected a package, a crate and a test's path, found"),
            ("explorer: rtc", "explorer:", "line 3: expected a name or a text, found \"\""),
            ("seed: 0", "seed: -1", "line 4: expected a number up to 18446744073709551615, found \"-1\""),
            ("seed: 0\n", "", "line 4: expected `seed: ..`, found \"granularity: send\""),
            ("send", "sent", "line 5: expected `send` or `op` or `macro`, found \"sent\""),
            ("max_steps: 100000", "max_steps: 4294967296", "line 8: expected a number up to 4294967295"),
            ("verdict: fail", "verdict: diverged", "line 9: expected `fail`, `pass` or `diverged at step k"),
        ]);
    }

    #[test]
    fn a_damaged_block_is_named_with_what_should_stand_there() {
        refuses(&[
            ("  | panic", "  panic", "line 11: expected `| ` and a line of the violation's text"),
            (
                "delays: 3",
                "<<<<<<< HEAD",
                "line 13: expected `delays: ..`, found \"<<<<<<< HEAD\" (an unresolved merge",
            ),
            ("delays: 3", "delays: 4", "line 13: the schedule's delays add up to 3, the line `delays:` says 4"),
            ("  delay 1 @ step 3: p1.2\n", "", "line 13: the schedule's delays add up to 2"),
            ("delay 1 @ step 3", "delay 1 @ step 12", "line 17: expected a step after 12, found \"step 12\""),
            ("delay 1 @ step 3", "delay 0 @ step 3", "line 16: expected `delay n @ step k: process.nth`"),
            ("p1.2", "p1", "line 16: expected `delay n @ step k: process.nth`"),
            ("p1.2", "\"p1.2", "line 16: expected a closing `\"`"),
            ("main         spawns", "main spawns", "line 19: expected `step  process  text`"),
            ("end of trace", "  end of trace", "line 22: expected `step  process  text`"),
            ("end of trace", "end of trace\nmore", "line 23: expected nothing after `end of trace`"),
        ]);
    }

    proptest! {
        #![proptest_config(samples::config(1_000))]

        #[test]
        fn parse_undoes_print(trace in samples::any_trace()) {
            let text = print(&trace);
            prop_assert!(text.lines().all(|line| line != "---" && line == line.trim_end()));
            let as_windows = text.replace('\n', "\r\n");
            let as_snapshot = format!("\u{feff}{SNAPSHOT_HEADER}{}\n\n\n", text.trim_end());
            for written in [text, as_windows, as_snapshot] {
                let read = parse(&written);
                prop_assert_eq!(read.as_ref(), Ok(&trace));
            }
        }

        #[test]
        fn no_truncated_trace_passes_for_a_whole_one(trace in samples::any_trace(), at in any::<prop::sample::Index>()) {
            let text = print(&trace);
            let end = (0..=at.index(text.len() - 1)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            prop_assert_eq!(parse(&text[..end]).is_ok(), text.trim_end().len() == end);
        }

        #[test]
        fn any_bytes_and_any_damage_are_read_without_a_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            trace in samples::any_trace(),
            at in any::<prop::sample::Index>(),
            until in any::<prop::sample::Index>(),
        ) {
            let text = print(&trace).into_bytes();
            let (at, until) = (at.index(text.len()), until.index(text.len()));
            let mut damaged = text.clone();
            damaged.splice(at.min(until)..at.max(until), bytes.iter().copied());
            for input in [&bytes[..], &damaged] {
                if let Err(error) = parse_bytes(input) {
                    let lines = input.split(|byte| *byte == b'\n').count();
                    prop_assert!((1..=lines).contains(&(error.line as usize)), "{error}");
                }
            }
        }
    }
}

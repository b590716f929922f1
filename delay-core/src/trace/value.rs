//! One value of a trace's text, as it stands on its line: writing and reading side by side.
//!
//! Invariant: reading undoes writing.

use super::{
    Deviation, Line, TestName, Verdict,
    error::TraceErrorKind,
    quote::{self, Place},
};
use crate::{
    live::{End, Lasso, Waiting},
    world::{
        Granularity,
        fault::{Faults, Kind},
    },
};
use std::{borrow::Cow, fmt};

const NAME: Place = Place::Before("  ");
const EXPECTED: Place = Place::Before(", saw ");

pub(crate) fn granularity_word(granularity: Granularity) -> &'static str {
    match granularity {
        Granularity::Send => "send",
        Granularity::Op => "op",
        Granularity::Macro => "macro",
    }
}

pub(crate) fn end_word(end: End) -> &'static str {
    match end {
        End::Quiescent => "quiescent",
        End::Body => "body",
    }
}

pub(crate) fn waiting_word(waiting: Waiting) -> &'static str {
    match waiting {
        Waiting::Allow => "allow",
        Waiting::Deny => "deny",
    }
}

/// Budgets in words: `drop 1, crash 2`.
pub(super) fn faults_text(faults: Faults) -> String {
    let some = Kind::ALL.into_iter().filter(|kind| faults.left(*kind) > 0);
    let words: Vec<String> = some.map(|kind| format!("{} {}", kind.name(), faults.left(kind))).collect();
    words.join(", ")
}

/// See [`faults_text`].
pub(super) fn read_faults(value: &str) -> Result<Faults, TraceErrorKind> {
    let wrong = || TraceErrorKind::unexpected(value, "budgets such as `drop 1, crash 2`".to_owned());
    value.split(", ").try_fold(Faults::NONE, |all, budget| {
        let (name, most) = budget.split_once(' ').ok_or_else(wrong)?;
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(wrong)?;
        let most = read_u32(most).ok().filter(|most| *most > 0 && all.left(kind) == 0).ok_or_else(wrong)?;
        Ok(all.with(kind, most))
    })
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fail => f.write_str("fail"),
            Self::Pass => f.write_str("pass"),
            Self::Diverged { step, expected, saw } => {
                let (expected, saw) = (quote::write(expected, EXPECTED), quote::write(saw, Place::Rest));
                write!(f, "diverged at step {step}: expected {expected}, saw {saw}")
            }
        }
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, delays, process, nth } = self;
        write!(f, "delay {delays} @ step {step}: {}.{nth}", quote::write(process, Place::Rest))
    }
}

/// The process of an event, as it stands in its column.
pub(super) fn write_process(process: &str) -> Cow<'_, str> {
    quote::write(process, NAME)
}

pub(super) fn read_u64(value: &str) -> Result<u64, TraceErrorKind> {
    let digits = value.bytes().all(|byte| byte.is_ascii_digit()).then_some(value);
    digits
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| TraceErrorKind::unexpected(value, format!("a number up to {}", u64::MAX)))
}

pub(super) fn read_u32(value: &str) -> Result<u32, TraceErrorKind> {
    let number = read_u64(value).ok().and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| TraceErrorKind::unexpected(value, format!("a number up to {}", u32::MAX)))
}

/// The one of `all` that is written `value`.
pub(super) fn read_word<T: Copy>(value: &str, all: &[T], word: fn(T) -> &'static str) -> Result<T, TraceErrorKind> {
    let found = all.iter().find(|candidate| word(**candidate) == value);
    found.copied().ok_or_else(|| {
        let words: Vec<String> = all.iter().map(|candidate| format!("`{}`", word(*candidate))).collect();
        TraceErrorKind::unexpected(value, words.join(" or "))
    })
}

/// A text to the end of the line.
pub(super) fn read_rest(value: &str) -> Result<String, TraceErrorKind> {
    let (text, rest) = quote::read(value, Place::Rest)?;
    read_end(rest)?;
    Ok(text)
}

/// Nothing may follow.
fn read_end(rest: &str) -> Result<(), TraceErrorKind> {
    if rest.is_empty() { Ok(()) } else { Err(TraceErrorKind::unexpected(rest, "the end of the line")) }
}

pub(super) fn read_test(value: &str) -> Result<TestName, TraceErrorKind> {
    let shape = || TraceErrorKind::unexpected(value, "a package, a crate and a test's path");
    let (package, rest) = quote::read(value, Place::Word)?;
    let (krate, rest) = quote::read(rest.strip_prefix(' ').ok_or_else(shape)?.trim_start(), Place::Word)?;
    let path = rest.strip_prefix(' ').ok_or_else(shape)?;
    Ok(TestName { package, krate, path: read_rest(path.trim_start())? })
}

pub(super) fn read_verdict(value: &str) -> Result<Verdict, TraceErrorKind> {
    let shape = || TraceErrorKind::unexpected(value, "`fail`, `pass` or `diverged at step k: expected .., saw ..`");
    match value {
        "fail" => return Ok(Verdict::Fail),
        "pass" => return Ok(Verdict::Pass),
        _ => {}
    }
    let diverged = value.strip_prefix("diverged at step ").and_then(|rest| rest.split_once(": expected "));
    let (step, told) = diverged.ok_or_else(shape)?;
    let (expected, rest) = quote::read(told, EXPECTED)?;
    let saw = rest.strip_prefix(", saw ").ok_or_else(shape)?;
    Ok(Verdict::Diverged { step: read_u64(step)?, expected, saw: read_rest(saw)? })
}

pub(super) fn read_violation(line: &str) -> Result<String, TraceErrorKind> {
    let bar = || TraceErrorKind::unexpected(line, "`| ` and a line of the violation's text");
    let text = line.strip_prefix('|').ok_or_else(bar)?;
    let text = if text.is_empty() { text } else { text.strip_prefix(' ').ok_or_else(bar)? };
    let (text, rest) = quote::read(text, Place::Indented)?;
    read_end(rest)?;
    Ok(text)
}

pub(super) fn read_deviation(line: &str) -> Result<Deviation, TraceErrorKind> {
    let shape = || TraceErrorKind::unexpected(line, "`delay n @ step k: process.nth`");
    let numbers = line.strip_prefix("delay ").and_then(|rest| rest.split_once(" @ step "));
    let (delays, rest) = numbers.ok_or_else(shape)?;
    let (step, mover) = rest.split_once(": ").ok_or_else(shape)?;
    let (process, nth) = if mover.starts_with('"') {
        let (process, rest) = quote::read(mover, Place::Rest)?;
        (process, rest.strip_prefix('.').ok_or_else(shape)?)
    } else {
        let (process, nth) = mover.rsplit_once('.').ok_or_else(shape)?;
        (quote::read(process, Place::Rest)?.0, nth)
    };
    let delays = read_u32(delays)?;
    if delays == 0 {
        return Err(shape().hint("a choice without a delay does not stand in the schedule"));
    }
    Ok(Deviation { step: read_u32(step)?, delays, process, nth: read_u32(nth)? })
}

pub(super) fn read_lasso(value: &str) -> Result<Lasso, TraceErrorKind> {
    let shape = || TraceErrorKind::unexpected(value, "`length after step k`");
    let (length, start) = value.split_once(" after step ").ok_or_else(shape)?;
    let length = read_u32(length)?;
    if length == 0 {
        return Err(shape().hint("a loop has a step"));
    }
    Ok(Lasso { start: read_u32(start)?, length })
}

pub(super) fn read_event(line: &str) -> Result<Line, TraceErrorKind> {
    let shape = || {
        let hint = "two spaces or more between the three";
        TraceErrorKind::unexpected(line, "`step  process  text`").hint(hint)
    };
    let (step, rest) = line.split_once("  ").ok_or_else(shape)?;
    let (process, text) = quote::read(rest.trim_start(), NAME)?;
    let text = text.strip_prefix("  ").ok_or_else(shape)?;
    Ok(Line { step: read_u64(step)?, process, text: read_rest(text.trim_start())? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_divergence_may_tell_anything() {
        for (expected, saw, written) in [
            ("a send", "a receive", "expected a send, saw a receive"),
            ("a, saw", ", saw b", "expected a, saw, saw , saw b"),
            ("a, saw b", "", "expected \"a, saw b\", saw \"\""),
        ] {
            let (expected, saw) = (expected.to_owned(), saw.to_owned());
            let verdict = Verdict::Diverged { step: 7, expected, saw };
            assert_eq!(verdict.to_string(), format!("diverged at step 7: {written}"));
            assert_eq!(read_verdict(&verdict.to_string()), Ok(verdict));
        }
    }

    #[test]
    fn a_process_in_the_schedule_may_have_any_name() {
        for (process, written) in [
            ("main.2", "main.2.4"),
            ("step 3: p1", "step 3: p1.4"),
            ("two  spaces", "two  spaces.4"),
            ("a\nb", "\"a\\nb\".4"),
        ] {
            let deviation = Deviation { step: 12, delays: 2, process: process.to_owned(), nth: 4 };
            assert_eq!(deviation.to_string(), format!("delay 2 @ step 12: {written}"));
            assert_eq!(read_deviation(&deviation.to_string()), Ok(deviation));
        }
    }
}

//! The lines of a trace's file, one after the other, each with its number in the file.
//!
//! Blank lines, trailing spaces, the line ends of Windows and a byte order mark are let through: editors and git put
//! them there, and no trace depends on them.

use super::{
    error::{TraceError, TraceErrorKind, excerpt},
    value::read_u64,
};
use std::{iter::Peekable, vec};

/// The lines of a file that are not blank, with their numbers.
pub(super) struct Lines<'t> {
    rest: Peekable<vec::IntoIter<(u32, &'t str)>>,
    /// The line read last; 1 before the first.
    last: u32,
}

impl<'t> Lines<'t> {
    /// All lines of a file.
    pub(super) fn new(text: &'t str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let numbered = (1..).zip(text.lines().map(str::trim_end)).filter(|(_, line)| !line.is_empty());
        let lines: Vec<(u32, &str)> = numbered.collect();
        Self { rest: lines.into_iter().peekable(), last: 1 }
    }

    /// The number of the line read last.
    pub(super) fn last(&self) -> u32 {
        self.last
    }

    fn next(&mut self) -> Option<(u32, &'t str)> {
        let next = self.rest.next();
        self.last = next.map_or(self.last, |(line, _)| line);
        next
    }

    /// The next line, which should be `expected`.
    fn expect(&mut self, expected: &str) -> Result<(u32, &'t str), TraceError> {
        let last = self.last;
        self.next().ok_or_else(|| TraceErrorKind::Ended { expected: expected.to_owned() }.at(last))
    }

    /// Skips the header that insta writes, if there is one.
    pub(super) fn skip_header(&mut self) -> Result<(), TraceError> {
        let Some((first, _)) = self.rest.next_if(|(_, line)| *line == "---") else {
            return Ok(());
        };
        while let Some((_, line)) = self.next() {
            if line == "---" {
                return Ok(());
            }
        }
        Err(TraceErrorKind::OpenHeader.at(first))
    }

    /// Reads the first line; refuses any version but `readable`.
    pub(super) fn version(&mut self, readable: u32) -> Result<(), TraceError> {
        let Some((at, line)) = self.next() else {
            return Err(TraceErrorKind::Foreign { found: String::new() }.at(self.last));
        };
        let version = line.strip_prefix("delay trace ").map(read_u64);
        match version {
            Some(Ok(version)) if version == u64::from(readable) => Ok(()),
            Some(Ok(version)) if version > u64::from(readable) => Err(TraceErrorKind::Newer { version }.at(at)),
            Some(Ok(_) | Err(_)) | None => Err(TraceErrorKind::Foreign { found: excerpt(line) }.at(at)),
        }
    }

    /// The value of a line `key: value`.
    pub(super) fn field<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&str) -> Result<T, TraceErrorKind>,
    ) -> Result<T, TraceError> {
        let expected = format!("`{key}: ..`");
        let (at, line) = self.expect(&expected)?;
        let value = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(':'));
        let value = value.ok_or_else(|| TraceErrorKind::unexpected(line, expected).at(at))?;
        read(value.trim_start()).map_err(|kind| kind.at(at))
    }

    /// The value of a line `key: value`, if that is the next one.
    pub(super) fn field_if<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&str) -> Result<T, TraceErrorKind>,
    ) -> Result<Option<T>, TraceError> {
        let is_next = |(_, line): &(u32, &str)| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'));
        if self.rest.peek().is_some_and(is_next) { self.field(key, read).map(Some) } else { Ok(None) }
    }

    /// The indented lines below a line `key:`, with their numbers.
    pub(super) fn section<T>(
        &mut self,
        key: &str,
        read: impl Fn(&str) -> Result<T, TraceErrorKind>,
    ) -> Result<Vec<(u32, T)>, TraceError> {
        let expected = format!("`{key}:`");
        let (at, line) = self.expect(&expected)?;
        if line.strip_suffix(':') != Some(key) {
            return Err(TraceErrorKind::unexpected(line, expected).at(at));
        }
        let mut values = Vec::new();
        while let Some((at, line)) = self.rest.next_if(|(_, line)| line.starts_with([' ', '\t'])) {
            self.last = at;
            values.push((at, read(line.trim_start()).map_err(|kind| kind.at(at))?));
        }
        Ok(values)
    }

    /// Reads the last line, which should be `closing`.
    pub(super) fn closing(&mut self, closing: &str) -> Result<(), TraceError> {
        let expected = format!("an indented line or `{closing}`");
        let (at, line) = self.expect(&expected)?;
        if line != closing {
            return Err(TraceErrorKind::unexpected(line, expected).at(at));
        }
        match self.next() {
            Some((at, line)) => Err(TraceErrorKind::unexpected(line, format!("nothing after `{closing}`")).at(at)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_file() {
        let mut lines = Lines::new("\u{feff}---\nsource: a\n---\n\n\nsection:\r\n  a \n\n\tb\nkey: 7\nend");
        lines.skip_header().unwrap();
        let section = lines.section("section", |line| Ok(line.to_owned())).unwrap();
        assert_eq!(section, [(7, "a".to_owned()), (9, "b".to_owned())]);
        assert_eq!(lines.field("key", read_u64), Ok(7));
        assert_eq!(lines.last(), 10);
        lines.closing("end").unwrap();
    }

    #[test]
    fn a_file_that_ends_early_ends_at_its_last_line() {
        let mut lines = Lines::new("key: 7\n\n");
        lines.field("key", read_u64).unwrap();
        assert_eq!(lines.field("other", read_u64).unwrap_err().line, 1);
    }
}

//! How names and texts stand on a trace's lines: as they are where that is safe, else between quotes.
//!
//! Invariants:
//! - A written text holds no character a person would not see, no line break, and neither begins nor ends with a space
//!   (the lines of a violation, which stand behind a bar, may be indented): editors, insta and git keep it as it is.
//! - What is safe does not depend on Unicode tables that change between releases of Rust.

use super::error::TraceErrorKind;
use std::{borrow::Cow, fmt::Write};

/// Where a text stands, and so what it may hold without quotes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// Up to the next space.
    Word,
    /// Up to the next text, which it may not hold.
    Before(&'static str),
    /// To the end of the line.
    Rest,
    /// To the end of the line; may be indented or empty.
    Indented,
}

/// The text as it is written in that place.
pub(super) fn write(text: &str, place: Place) -> Cow<'_, str> {
    if is_plain(text, place) { Cow::Borrowed(text) } else { Cow::Owned(quoted(text)) }
}

fn is_plain(text: &str, place: Place) -> bool {
    let fits = match place {
        Place::Word => !text.is_empty() && !text.contains(' '),
        Place::Before(end) => !text.is_empty() && !text.starts_with(' ') && !text.contains(end),
        Place::Rest => !text.is_empty() && !text.starts_with(' '),
        Place::Indented => true,
    };
    fits && !text.starts_with('"') && !text.ends_with(' ') && !text.chars().any(is_hidden)
}

/// Characters that a person does not see, or that change how others are seen.
fn is_hidden(c: char) -> bool {
    let is_space = c != ' ' && c.is_whitespace();
    let is_format = matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    );
    is_space || is_format || c.is_control()
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if is_hidden(c) => {
                write!(quoted, "\\u{{{:x}}}", u32::from(c)).expect("writing to a String cannot fail");
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The text at the start of `line` in that place, and what follows it.
pub(super) fn read(line: &str, place: Place) -> Result<(String, &str), TraceErrorKind> {
    if line.starts_with('"') {
        return unquoted(line);
    }
    let end = match place {
        Place::Word => line.find(' '),
        Place::Before(end) => line.find(end),
        Place::Rest | Place::Indented => None,
    };
    let (text, rest) = line.split_at(end.unwrap_or(line.len()));
    if text.is_empty() && !matches!(place, Place::Indented) {
        return Err(TraceErrorKind::unexpected(line, "a name or a text").hint("the empty text is written \"\""));
    }
    Ok((text.to_owned(), rest))
}

fn unquoted(line: &str) -> Result<(String, &str), TraceErrorKind> {
    let mut text = String::new();
    let mut rest = &line[1..];
    loop {
        let special = rest.find(['"', '\\']).ok_or_else(|| TraceErrorKind::unexpected(line, "a closing `\"`"))?;
        text.push_str(&rest[..special]);
        let escape = &rest[special..];
        if let Some(after) = escape.strip_prefix('"') {
            return Ok((text, after));
        }
        let (c, after) = unescaped(escape).ok_or_else(|| {
            TraceErrorKind::unexpected(escape, "an escape").hint("one of \\\" \\\\ \\n \\r \\t \\u{200b}")
        })?;
        text.push(c);
        rest = after;
    }
}

/// The character that the escape at the start of `text` stands for, and what follows it.
fn unescaped(text: &str) -> Option<(char, &str)> {
    let after = text.strip_prefix('\\')?;
    let kind = after.chars().next()?;
    let rest = &after[kind.len_utf8()..];
    match kind {
        '"' | '\\' => Some((kind, rest)),
        'n' => Some(('\n', rest)),
        'r' => Some(('\r', rest)),
        't' => Some(('\t', rest)),
        'u' => {
            let (digits, rest) = rest.strip_prefix('{')?.split_once('}')?;
            Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, rest))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::samples;
    use proptest::prelude::*;

    const PLACES: [Place; 5] =
        [Place::Word, Place::Before("  "), Place::Before(", saw "), Place::Rest, Place::Indented];

    #[test]
    fn ordinary_names_and_texts_stand_as_they_are() {
        for (text, place) in [
            ("delay-examples", Place::Word),
            ("the coordinator", Place::Before("  ")),
            (r#"sends Vote { yes: "aye" } to p1"#, Place::Rest),
            (r"C:\temp – naïve 😀", Place::Rest),
            ("    left: 1", Place::Indented),
            ("", Place::Indented),
        ] {
            assert_eq!(write(text, place), text);
        }
    }

    #[test]
    fn what_would_not_survive_is_quoted() {
        for (text, place, written) in [
            ("", Place::Rest, r#""""#),
            ("two words", Place::Word, r#""two words""#),
            ("a  b", Place::Before("  "), r#""a  b""#),
            ("ends ", Place::Indented, r#""ends ""#),
            (" begins", Place::Rest, r#"" begins""#),
            ("a\n\\\"b", Place::Rest, r#""a\n\\\"b""#),
            ("\"quoted\"", Place::Indented, r#""\"quoted\"""#),
            ("a\u{202e}b\u{7}", Place::Rest, r#""a\u{202e}b\u{7}""#),
        ] {
            assert_eq!(write(text, place), written);
        }
    }

    #[test]
    fn malformed_quotes_are_errors() {
        for line in [r#"""#, r#""abc"#, r#""\"#, r#""\x41""#, r#""\u{d800}""#, r#""\u{""#, r#""\u""#, r#""\é""#] {
            assert!(read(line, Place::Rest).is_err(), "{line}");
        }
    }

    proptest! {
        #![proptest_config(samples::config(2_000))]

        #[test]
        fn every_text_reads_back(text in prop_oneof![any::<String>(), r#"[ab ,sw"\\\n\u{200b}]{0,12}"#]) {
            for place in PLACES {
                let written = write(&text, place);
                prop_assert!(!written.ends_with(char::is_whitespace));
                prop_assert!(!written.contains(is_hidden));
                let after = match place {
                    Place::Word => " more",
                    Place::Before(end) => end,
                    Place::Rest | Place::Indented => "",
                };
                let line = format!("{written}{after}");
                prop_assert_eq!(read(&line, place), Ok((text.clone(), after)));
            }
        }
    }
}

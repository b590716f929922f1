//! Which of the discovered tests are meant: words, `--exact`, `--skip`, `--run-ignored`.
//!
//! Invariant: what looks like an option and is none is refused and never taken for a word: a mistyped option must not end as
//! a filter that matches nothing.

use crate::{
    cli::{FilterArgs, RunIgnored},
    discover::Test,
    error::Error,
};

/// A test is meant if it matches one of the words (or there are none), none of the skipped ones, and is as ignored as asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Filter {
    words: Vec<String>,
    skipped: Vec<String>,
    comparison: Comparison,
    ignored: RunIgnored,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Substring,
    Exact,
}

impl Filter {
    /// The filter of the command line, with the words and options given behind `--`.
    pub(crate) fn new(arguments: &FilterArgs) -> Result<Self, Error> {
        let FilterArgs { filters, exact, skip, run_ignored, behind } = arguments;
        let mut filter = Self {
            words: filters.clone(),
            skipped: skip.clone(),
            comparison: if *exact { Comparison::Exact } else { Comparison::Substring },
            ignored: *run_ignored,
        };
        let mut behind = behind.iter();
        while let Some(word) = behind.next() {
            filter.add(word, &mut behind)?;
        }
        Ok(filter)
    }

    /// Takes one of libtest's arguments, with its value from `rest` if it has one.
    fn add<'a>(&mut self, word: &str, rest: &mut impl Iterator<Item = &'a String>) -> Result<(), Error> {
        match word {
            "--exact" => self.comparison = Comparison::Exact,
            "--ignored" => self.ignored = RunIgnored::Only,
            "--include-ignored" => self.ignored = RunIgnored::All,
            "--skip" => {
                let value = rest.next().ok_or_else(|| Error::Usage("`--skip` behind `--` needs a value".to_owned()))?;
                self.skipped.push(value.clone());
            }
            _ => match word.strip_prefix("--skip=") {
                Some(value) => self.skipped.push(value.to_owned()),
                None if word.starts_with('-') => {
                    return Err(Error::Usage(format!(
                        "unknown option `{word}` behind `--`; allowed are --exact, --skip, --ignored and --include-ignored"
                    )));
                }
                None => self.words.push(word.to_owned()),
            },
        }
        Ok(())
    }

    /// Whether `test` is meant.
    pub(crate) fn admits(&self, test: &Test) -> bool {
        let Self { words, skipped, comparison, ignored } = self;
        let matches = |word: &String| match comparison {
            Comparison::Exact => *word == test.record.path || *word == test.label(),
            Comparison::Substring => test.label().contains(word.as_str()),
        };
        let wanted = match ignored {
            RunIgnored::Default => !test.ignored,
            RunIgnored::Only => test.ignored,
            RunIgnored::All => true,
        };
        wanted && (words.is_empty() || words.iter().any(matches)) && !skipped.iter().any(matches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::tests::test;

    fn filter(words: &[&str], behind: &[&str]) -> Result<Filter, Error> {
        let strings = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        Filter::new(&FilterArgs { filters: strings(words), behind: strings(behind), ..FilterArgs::default() })
    }

    fn admitted(words: &[&str], behind: &[&str]) -> Vec<&'static str> {
        let filter = filter(words, behind).unwrap();
        let all = [("ex::ring", "elects", false), ("ex::ring", "elects_late", false), ("ex", "a::votes", true)];
        all.iter().filter(|(id, name, ignored)| filter.admits(&test(id, name, *ignored))).map(|test| test.1).collect()
    }

    #[test]
    fn words_are_alternatives_and_may_name_binary_or_test() {
        assert_eq!(admitted(&[], &[]), ["elects", "elects_late"]);
        assert_eq!(admitted(&["late", "votes"], &[]), ["elects_late"]);
        assert_eq!(admitted(&["ring"], &["--skip", "late"]), ["elects"]);
        assert_eq!(admitted(&[], &["elects", "--exact"]), ["elects"]);
        assert_eq!(admitted(&["ex::ring elects"], &["--exact"]), ["elects"]);
        assert_eq!(admitted(&[], &["--include-ignored", "--skip=elects"]), ["a::votes"]);
        assert_eq!(admitted(&[], &["--ignored"]), ["a::votes"]);
    }

    #[test]
    fn unknown_options_behind_the_dashes_are_no_words() {
        let text = filter(&[], &["--include-ignore"]).unwrap_err().to_string();
        assert!(text.starts_with("unknown option `--include-ignore` behind `--`"), "{text}");
        assert!(filter(&[], &["--skip"]).is_err());
    }
}

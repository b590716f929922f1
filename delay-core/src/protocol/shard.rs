//! Which part of a divided search a test is asked for: `2/4`, the second of four.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// What a shard looks like, for messages.
pub const EXPECTED: &str = "i/n with 1 <= i <= n, such as 2/4 for the second of four shards";

/// One of so many shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    /// Of so many. The first field: shards of one search stand together.
    of: u32,
    /// From 1.
    number: u32,
}

impl Default for Shard {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl Shard {
    /// What is not divided.
    pub const WHOLE: Self = Self { of: 1, number: 1 };

    /// The shard with this number, from 1, of so many. None if there is no such shard.
    pub const fn new(number: u32, of: u32) -> Option<Self> {
        if number >= 1 && number <= of { Some(Self { of, number }) } else { None }
    }

    /// Which it is, from 1.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// How many there are.
    pub const fn of(self) -> u32 {
        self.of
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// Not a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardError(String);

impl fmt::Display for ShardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is no shard, expected {EXPECTED}", self.0)
    }
}

impl std::error::Error for ShardError {}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        // Digits only: `parse` would take a sign, too.
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let parts = text.split_once('/').and_then(|(shard, of)| Some((number(shard)?, number(of)?)));
        parts.and_then(|(shard, of)| Self::new(shard, of)).ok_or_else(|| ShardError(text.to_owned()))
    }
}

impl TryFrom<String> for Shard {
    type Error = ShardError;

    fn try_from(text: String) -> Result<Self, ShardError> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_reads_back_as_it_was_and_anything_else_is_refused() {
        for text in ["1/1", "2/4", "4/4", "4294967295/4294967295"] {
            assert_eq!(text.parse::<Shard>().map(|shard| shard.to_string()).as_deref(), Ok(text));
        }
        for bad in [
            "0/4",
            "1/0",
            "0/0",
            "3/2",
            "",
            "/",
            "1",
            "1/",
            "/2",
            "a/b",
            "1/2/3",
            "-1/2",
            "+1/2",
            " 1/2",
            "1/4294967296",
        ] {
            let error = bad.parse::<Shard>().expect_err(bad).to_string();
            assert_eq!(
                error,
                format!(
                    "\"{bad}\" is no shard, expected i/n with 1 <= i <= n, such as 2/4 for the second of four shards"
                )
            );
        }
    }
}

//! The settings of a test in words: what shards of one search must agree on, and a search with what it goes on from.
//!
//! Invariant: whatever decides which executions are visited is in it. What only decides how fast, or which of several findings is told, is not.

use super::config::{Config, Expect, Resolved};
use crate::{
    search::{Delta, Execution},
    trace::{end_word, granularity_word, waiting_word},
    world::fault::Kind,
};
use std::collections::BTreeMap;

impl Resolved {
    /// All settings that hold, by their names in the attribute; those without a value are left out.
    pub(super) fn words(&self) -> BTreeMap<String, String> {
        let Config {
            explorer: _,
            seed,
            mode,
            max_delays,
            delta,
            max_steps,
            granularity,
            end,
            cache,
            fingerprints,
            reduction,
            execution,
            budget,
            max_states,
            max_cache,
            samples,
            jobs: _,
            deterministic: _,
            shard: _,
            expect,
            waiting,
            faults,
            time,
            skew,
            temperature,
            #[cfg(feature = "test-hooks")]
                masked: _,
            #[cfg(feature = "test-hooks")]
                wire: _,
        } = self.config;
        let number = |number: u64| Some(number.to_string());
        let word = |word: &str| Some(word.to_owned());
        let budgets = Kind::ALL.into_iter().filter(|kind| faults.left(*kind) > 0);
        let budgets: Vec<String> = budgets.map(|kind| format!("{} = {}", kind.name(), faults.left(kind))).collect();
        let words = [
            ("explorer", word(&self.explorer)),
            ("mode", word(mode.name())),
            ("max_delays", max_delays.and_then(|most| number(most.into()))),
            ("delta", if let Delta::By(delays) = delta { number(delays.into()) } else { word("rising") }),
            ("cache", word(cache.name())),
            ("fingerprints", number(fingerprints.bits().into())),
            ("reduction", word(reduction.name())),
            ("execution", word(if execution == Execution::Live { "live" } else { "learned" })),
            ("max_states", max_states.and_then(number)),
            ("max_cache", max_cache.and_then(number)),
            ("samples", samples.and_then(number)),
            ("seed", number(seed)),
            ("budget", Some(format!("{budget:?}"))),
            ("max_steps", number(max_steps.into())),
            ("granularity", word(granularity_word(granularity))),
            ("end", word(end_word(end))),
            ("waiting", word(waiting_word(waiting))),
            ("faults", (!budgets.is_empty()).then(|| budgets.join(", "))),
            ("time", word(time.name())),
            ("skew", Some(format!("{skew:?}"))),
            ("temperature", temperature.and_then(|most| number(most.into()))),
            ("expect", word(if expect == Expect::Fail { "fail" } else { "pass" })),
        ];
        words.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

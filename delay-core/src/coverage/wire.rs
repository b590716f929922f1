//! What was covered, as it crosses the border of the process and comes back.
//!
//! Invariant: what comes back makes the same sentences.

use super::{Coverage, Part, Shared, Stratum};
use crate::{
    live::{Alike, Totals},
    protocol::{self, covered as wire},
    search::{Cache, Fingerprints, Looked, Mode, Reduction, Shard, Stop, budget::Limits},
};
use std::{collections::BTreeMap, fmt, str::FromStr};

/// A coverage that cannot be of this version: a setting that is missing, or has a value nobody knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireError {
    setting: &'static str,
    found: String,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the setting {} is \"{}\", which this version does not know", self.setting, self.found)
    }
}

impl std::error::Error for WireError {}

/// The settings that sentences need.
const MODE: &str = "mode";
const CACHE: &str = "cache";
const REDUCTION: &str = "reduction";
const FINGERPRINTS: &str = "fingerprints";
const MAX_CACHE: &str = "max_cache";
const MAX_DELAYS: &str = "max_delays";

impl Coverage {
    /// As it crosses the border, with the settings it was searched by.
    pub fn to_wire(&self, stop: &Stop, settings: BTreeMap<String, String>) -> wire::Covered {
        let shard = match self.part {
            Part::Of(shard) => shard.into(),
            Part::All(_) => protocol::Shard::WHOLE,
        };
        let shared = self.shared.map(|Shared { bound, states, transitions, executions, truncated, frontier }| {
            wire::Shared { bound, states, transitions, executions, truncated, frontier }
        });
        let loops = self.lassos.map(|Looked { states, transitions, unconfirmed }| wire::Loops {
            states,
            transitions,
            unconfirmed,
        });
        let stratum = |Stratum { delays, samples, exact }: &Stratum| wire::Stratum {
            delays: *delays,
            samples: *samples,
            exact: *exact,
        };
        wire::Covered {
            settings,
            shard,
            stop: word(stop),
            unmet: self.unmet.clone(),
            executions: self.executions,
            asleep: self.asleep,
            truncated: self.truncated,
            states: self.states,
            states_per_bound: self.states_per_bound.clone(),
            transitions: self.transitions,
            frontier: self.frontier,
            bound: self.bound,
            completed_bound: self.completed_bound,
            shared,
            loops,
            strata: self.strata.iter().map(stratum).collect(),
            sampled_frontier: self.sampled_frontier,
            longest: self.longest,
            choices: self.choices,
            met_choice: self.met_choice,
            noticed: noticed(&self.totals),
        }
    }

    /// What has crossed the border, and why the search stopped; no reason if there was a verdict.
    ///
    /// # Errors
    /// Settings of another version.
    pub fn from_wire(covered: wire::Covered) -> Result<(Self, Option<Stop>), WireError> {
        let mode = setting(&covered, MODE, |word| Mode::ALL.into_iter().find(|mode| mode.name() == word))?;
        let cache = setting(&covered, CACHE, |word| Cache::ALL.into_iter().find(|cache| cache.name() == word))?;
        let fingerprints = setting(&covered, FINGERPRINTS, |word| {
            Fingerprints::ALL.into_iter().find(|fingerprints| fingerprints.bits().to_string() == word)
        })?;
        let reduction =
            setting(&covered, REDUCTION, |word| Reduction::ALL.into_iter().find(|reduction| reduction.name() == word))?;
        let max_cache = number_if_set(&covered, MAX_CACHE)?;
        let max_delays = number_if_set(&covered, MAX_DELAYS)?;
        let shared = covered.shared.map(|shared| {
            let wire::Shared { bound, states, transitions, executions, truncated, frontier } = shared;
            Shared { bound, states, transitions, executions, truncated, frontier }
        });
        let lassos = covered.loops.map(|wire::Loops { states, transitions, unconfirmed }| Looked {
            states,
            transitions,
            unconfirmed,
        });
        let stratum = |wire::Stratum { delays, samples, exact }| Stratum { delays, samples, exact };
        let part = Part::Of(covered.shard.into());
        let coverage = Self {
            mode,
            cache,
            fingerprints,
            cache_max: Limits { cache: max_cache, ..Limits::default() }.cache_max(),
            part,
            shared,
            unmet: covered.unmet,
            max_delays,
            reduction,
            asleep: covered.asleep,
            executions: covered.executions,
            truncated: covered.truncated,
            states: covered.states,
            states_per_bound: covered.states_per_bound,
            transitions: covered.transitions,
            frontier: covered.frontier,
            bound: covered.bound,
            completed_bound: covered.completed_bound,
            lassos,
            strata: covered.strata.into_iter().map(stratum).collect(),
            sampled_frontier: covered.sampled_frontier,
            longest: covered.longest,
            choices: covered.choices,
            met_choice: covered.met_choice,
            totals: totals(covered.noticed),
        };
        Ok((coverage, stop(covered.stop)))
    }
}

/// Both hold the same numbers within the same limits.
impl From<Shard> for protocol::Shard {
    fn from(shard: Shard) -> Self {
        Self::new(shard.number(), shard.of()).unwrap_or_else(|| crate::bug!("{shard:?} is no shard"))
    }
}

impl From<protocol::Shard> for Shard {
    fn from(shard: protocol::Shard) -> Self {
        Self::new(shard.number(), shard.of()).unwrap_or_else(|| crate::bug!("{shard} is no shard"))
    }
}

/// What a setting says.
fn setting<T>(
    covered: &wire::Covered,
    name: &'static str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, WireError> {
    let found = covered.settings.get(name).map_or("", String::as_str);
    read(found).ok_or_else(|| WireError { setting: name, found: found.to_owned() })
}

/// What a setting says that may be left out.
fn number_if_set<N: FromStr>(covered: &wire::Covered, name: &'static str) -> Result<Option<N>, WireError> {
    let is_set = covered.settings.contains_key(name);
    is_set.then(|| setting(covered, name, |word| word.parse().ok())).transpose()
}

fn word(stop: &Stop) -> wire::Stop {
    match stop {
        Stop::Exhausted => wire::Stop::Exhausted,
        Stop::Delays => wire::Stop::Delays,
        Stop::Samples => wire::Stop::Samples,
        Stop::Time => wire::Stop::Time,
        Stop::States => wire::Stop::States,
        Stop::Memory => wire::Stop::Memory,
        Stop::Interrupted => wire::Stop::Interrupted,
        Stop::Found(_) | Stop::Nondeterministic(_) | Stop::Unsound(_) | Stop::Impossible(_) | Stop::Irreducible(_) => {
            wire::Stop::Judged
        }
    }
}

fn stop(word: wire::Stop) -> Option<Stop> {
    Some(match word {
        wire::Stop::Exhausted => Stop::Exhausted,
        wire::Stop::Delays => Stop::Delays,
        wire::Stop::Samples => Stop::Samples,
        wire::Stop::Time => Stop::Time,
        wire::Stop::States => Stop::States,
        wire::Stop::Memory => Stop::Memory,
        wire::Stop::Interrupted => Stop::Interrupted,
        wire::Stop::Judged => return None,
    })
}

fn noticed(totals: &Totals) -> wire::Noticed {
    let Totals {
        executions,
        steps,
        merged_ops,
        foreign_wakes,
        woken_first,
        unheard,
        unheard_first,
        possible_faults,
        met_faults,
        links,
        unbound,
        unseen,
        panics,
        copies,
        beyond_learning,
    } = totals.clone();
    wire::Noticed {
        executions,
        steps,
        merged_ops,
        foreign_wakes,
        woken_first,
        unheard,
        unheard_first,
        possible_faults,
        met_faults,
        links,
        unbound,
        unseen,
        panics,
        copies: copies.map(|Alike { count, apart }| wire::Alike { count, apart }),
        beyond_learning,
    }
}

fn totals(noticed: wire::Noticed) -> Totals {
    let wire::Noticed {
        executions,
        steps,
        merged_ops,
        foreign_wakes,
        woken_first,
        unheard,
        unheard_first,
        possible_faults,
        met_faults,
        links,
        unbound,
        unseen,
        panics,
        copies,
        beyond_learning,
    } = noticed;
    Totals {
        executions,
        steps,
        merged_ops,
        foreign_wakes,
        woken_first,
        unheard,
        unheard_first,
        possible_faults,
        met_faults,
        links,
        unbound,
        unseen,
        panics,
        copies: copies.map(|wire::Alike { count, apart }| Alike { count, apart }),
        beyond_learning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Settings;

    fn settings(mode: &str) -> BTreeMap<String, String> {
        let kept = [(CACHE, "state"), (FINGERPRINTS, "128"), (MAX_CACHE, "4096")];
        let words = [(MODE, mode), (REDUCTION, "none"), (MAX_DELAYS, "3")].into_iter().chain(kept);
        words.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn what_crossed_the_border_is_what_it_was() {
        let shard = Shard::new(2, 3).expect("there is such a shard");
        let coverage = Coverage {
            shared: Some(Shared { bound: 1, states: 2, transitions: 3, executions: 4, truncated: 5, frontier: 6 }),
            unmet: Some("nothing to drop".to_owned()),
            executions: 7,
            asleep: 24,
            truncated: 8,
            states: 9,
            states_per_bound: vec![1, 9],
            transitions: 10,
            frontier: 11,
            bound: 12,
            completed_bound: Some(13),
            lassos: Some(Looked { states: 14, transitions: 15, unconfirmed: 16 }),
            strata: vec![Stratum { delays: 17, samples: 18, exact: 19 }],
            sampled_frontier: 20,
            longest: 21,
            choices: 22,
            met_choice: true,
            totals: Totals {
                steps: 23,
                woken_first: Some("a".to_owned()),
                links: vec![("b".to_owned(), true)],
                beyond_learning: 5,
                ..Totals::default()
            },
            ..Coverage::new(&Settings {
                shard,
                max_delays: Some(3),
                fingerprints: Fingerprints::Bits128,
                limits: Limits { cache: Some(4096), ..Limits::default() },
                ..Settings::default()
            })
        };
        let stops = [Stop::Exhausted, Stop::Delays, Stop::Samples, Stop::Time, Stop::States, Stop::Memory];
        for stop in stops.into_iter().chain([Stop::Interrupted]) {
            let covered = coverage.to_wire(&stop, settings("ses"));
            assert_eq!(Coverage::from_wire(covered), Ok((coverage.clone(), Some(stop))));
        }
        let judged = coverage.to_wire(&Stop::Unsound("main".to_owned()), settings("ses"));
        assert_eq!(Coverage::from_wire(judged).map(|(_, stop)| stop), Ok(None));
    }

    #[test]
    fn a_setting_nobody_knows_is_named() {
        let error = Coverage::from_wire(Coverage::new(&Settings::default()).to_wire(&Stop::Time, settings("dpor")));
        let text = error.expect_err("there is no such mode").to_string();
        assert_eq!(text, "the setting mode is \"dpor\", which this version does not know");
    }
}

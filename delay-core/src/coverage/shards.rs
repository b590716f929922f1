//! What is said of a search that is divided into shards: of one, and of all together.
//!
//! Invariants: a shard claims nothing of what it was not given; what all shards together claim rests on each of them.

use super::{Coverage, Stratum, count};
use crate::search::{Cache, Mode, Shard, Stop};

/// Which part of a search a coverage is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// This shard's; the only one of a search that is not divided.
    Of(Shard),
    /// What all of so many shards did.
    All(u32),
}

/// What every shard of an exhaustive search does alike, before the frontier is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shared {
    /// The delay bound at whose end the frontier was divided.
    pub bound: u32,
    /// States visited until then.
    pub states: u64,
    /// Transitions until then.
    pub transitions: u64,
    /// Executions until then that came to their end.
    pub executions: u64,
    /// Executions until then that were cut.
    pub truncated: u64,
    /// States with choices left, which the shards share out.
    pub frontier: u64,
}

impl Coverage {
    /// Of a search that goes on from a part of the frontier: what was not in it is not visited.
    pub(super) fn is_partial(&self) -> bool {
        matches!(self.part, Part::Of(shard) if !shard.is_whole()) && (self.shared.is_some() || self.mode != Mode::Ses)
    }

    /// What the shards of one search covered together. They must be all of it, in any order.
    pub fn together(shards: &[(Self, Stop)]) -> Option<(Self, Stop)> {
        if let [one] = shards {
            return Some(one.clone());
        }
        let is_divided = |(coverage, _): &(Self, Stop)| coverage.shared.is_some() || coverage.mode != Mode::Ses;
        let (mut all, stop) = if shards.iter().any(is_divided) {
            Self::summed(shards)?
        } else {
            // Each has done the same: the one that came farthest has done all that was done.
            shards.iter().max_by_key(|(coverage, stop)| (stop.is_end(), coverage.transitions))?.clone()
        };
        // Bounds that all have completed; where nothing is left to any, the bound at which the last had nothing left.
        let bounds = shards.iter().map(|(coverage, _)| coverage.completed_bound);
        all.completed_bound = if stop == Stop::Exhausted { bounds.max() } else { bounds.min() }.flatten();
        all.states_per_bound.clear();
        all.part = Part::All(shards.len() as u32);
        Some((all, stop))
    }

    /// The sums over shards that have each done a part, and the weakest of their reasons to stop.
    fn summed(shards: &[(Self, Stop)]) -> Option<(Self, Stop)> {
        let ((first, _), others) = shards.split_first()?;
        let mut all = first.clone();
        for (other, _) in others {
            all.merge(other);
            all.states += other.states;
            all.frontier += other.frontier;
            all.bound = all.bound.max(other.bound);
            all.lassos = all.lassos.zip(other.lassos).map(|(one, other)| one.and(other));
        }
        let divided = || shards.iter().map(|(coverage, _)| coverage).filter(|coverage| coverage.shared.is_some());
        all.shared = divided().find_map(|coverage| coverage.shared);
        if let Some(shared) = all.shared {
            // Counted by each, and done once. A shard that was stopped before has done a part of it: that is in no sum.
            let again = divided().count() as u64 - 1;
            let sum = |of: fn(&Self) -> u64, once: u64| divided().map(of).sum::<u64>() - again * once;
            all.states = sum(|coverage| coverage.states, shared.states);
            all.transitions = sum(|coverage| coverage.transitions, shared.transitions);
            all.executions = sum(|coverage| coverage.executions, shared.executions);
            all.truncated = sum(|coverage| coverage.truncated, shared.truncated);
        }
        let stops = shards.iter().map(|(_, stop)| stop);
        let weakest = stops.min_by_key(|stop| (stop.is_end(), **stop == Stop::Exhausted))?;
        Some((all, weakest.clone()))
    }

    /// The number of samples of a stratum that spent just so many delays.
    pub(crate) fn exact(&self, delays: u32) -> u64 {
        let of = |stratum: &&Stratum| stratum.delays == delays;
        self.strata.iter().find(of).map_or(0, |stratum| stratum.exact)
    }

    /// What stands before counts that are no more than an upper bound.
    pub(super) fn at_most(&self) -> &'static str {
        // What is not merged is counted once.
        if matches!(self.part, Part::All(_)) && self.shared.is_some() && self.cache != Cache::Off {
            "at most "
        } else {
            ""
        }
    }

    /// Who visited what is claimed to be visited.
    pub(super) fn by_whom(&self) -> String {
        match (self.part, self.shared) {
            (Part::All(shards), Some(_)) => format!(" by {shards} shards"),
            (Part::All(_) | Part::Of(_), _) => String::new(),
        }
    }

    /// What has to be known of a shard's numbers.
    pub(super) fn of_shards(&self, stop: &Stop) -> Option<String> {
        let is_exhaustive = self.mode == Mode::Ses;
        Some(match (self.part, self.shared) {
            (Part::Of(shard), _) if shard.is_whole() => return None,
            (Part::Of(shard), _) if !is_exhaustive => format!(
                "shard {} of {}: one of {} samples is its own; `cargo delay merge` puts the shards together",
                shard.number(),
                shard.of(),
                shard.of()
            ),
            (Part::Of(shard), None) if stop.is_end() => {
                format!("too small to be divided: each of the {} shards has done all of it", shard.of())
            }
            (Part::Of(shard), None) => {
                format!("shard {} of {}: not divided yet, each shard does this part", shard.number(), shard.of())
            }
            (Part::Of(shard), Some(shared)) => format!(
                "shard {} of {}: one of {} of the {} left after {}; {} and {} before that are every shard's; `cargo delay merge` puts the shards together",
                shard.number(),
                shard.of(),
                shard.of(),
                count(shared.frontier, "state"),
                count(u64::from(shared.bound), "delay"),
                count(shared.states, "state"),
                count(shared.transitions, "transition")
            ),
            (Part::All(shards), None) if is_exhaustive => {
                format!("too small to be divided: each of the {shards} shards has done all of it")
            }
            (Part::All(shards), None) => format!("samples of {shards} shards"),
            (Part::All(shards), Some(shared)) => format!(
                "each of the {shards} shards knows its own states only: one that several visited is counted by each, but for the {} of the first {}, which all visited",
                count(shared.states, "state"),
                count(u64::from(shared.bound) + 1, "bound")
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{search::Settings, world::beyond::Beyond};

    fn shard(number: u32, of: u32) -> Shard {
        Shard::new(number, of).expect("there is such a shard")
    }

    fn coverage(mode: Mode, part: Shard) -> Coverage {
        Coverage::new(&Settings { mode, shard: part, ..Settings::default() })
    }

    /// Of three shards that divided 30 states after 10 were visited, the one that visited so many more.
    fn exhaustive(number: u32, more: u64) -> Coverage {
        let shared = Shared { bound: 1, states: 10, transitions: 20, executions: 3, truncated: 0, frontier: 30 };
        Coverage {
            states: 10 + more,
            transitions: 20 + 2 * more,
            executions: 3 + more,
            bound: 1 + number,
            completed_bound: Some(1 + number),
            shared: Some(shared),
            met_choice: true,
            ..coverage(Mode::Ses, shard(number, 3))
        }
    }

    #[test]
    fn a_shard_that_has_nothing_left_claims_no_more_than_it_did() {
        let one = exhaustive(2, 5);
        let text = one.sentences(&Stop::Exhausted);
        assert_eq!(
            text,
            "15 states and 30 transitions visited within 3 delays; nothing left to this shard\n  shard 2 of 3: one of 3 of the 30 states left after 1 delay; 10 states and 20 transitions before that are every shard's; `cargo delay merge` puts the shards together"
        );
        assert!(!one.is_complete(&Stop::Exhausted));
    }

    #[test]
    fn all_shards_have_visited_everything_if_each_has_nothing_left() {
        let shards = [(1, 4), (2, 5), (3, 6)].map(|(number, more)| (exhaustive(number, more), Stop::Exhausted));
        let (all, stop) = Coverage::together(&shards).expect("there are shards");
        assert!(all.is_complete(&stop));
        assert_eq!(
            all.sentences(&stop),
            "every reachable state visited by 3 shards: at most 25 states and 50 transitions, within 4 delays\n  each of the 3 shards knows its own states only: one that several visited is counted by each, but for the 10 states of the first 2 bounds, which all visited"
        );
        let off = shards.map(|(coverage, stop)| (Coverage { cache: Cache::Off, ..coverage }, stop));
        let (all, stop) = Coverage::together(&off).expect("there are shards");
        assert!(
            all.sentences(&stop).starts_with("every execution visited by 3 shards: 18 executions and 50 transitions")
        );
    }

    #[test]
    fn why_shards_were_executed_live_is_told_once_and_in_one_order() {
        let mut shards = [(1, 4), (2, 5), (3, 6)].map(|(number, more)| (exhaustive(number, more), Stop::Exhausted));
        shards[0].0.totals.beyond_learning = Beyond::Storage.bit();
        shards[2].0.totals.beyond_learning = Beyond::Nodes.bit() | Beyond::Storage.bit();
        let (all, stop) = Coverage::together(&shards).expect("there are shards");
        let text = all.sentences(&stop);
        assert!(text.ends_with("\n  executed live: learned execution does not cover nodes and storage"), "{text}");
        assert!(!shards[1].0.sentences(&stop).contains("executed live"));
    }

    #[test]
    fn one_shard_that_was_stopped_takes_the_claim_back() {
        let stopped = Coverage { completed_bound: Some(1), frontier: 7, ..exhaustive(2, 5) };
        let early = Coverage { shared: None, states: 4, transitions: 5, ..exhaustive(3, 0) };
        let shards = [(exhaustive(1, 4), Stop::Exhausted), (stopped, Stop::Time), (early, Stop::States)];
        let (all, stop) = Coverage::together(&shards).expect("there are shards");
        assert_eq!((all.states, all.transitions, &stop), (19, 38, &Stop::Time));
        let text = all.sentences(&stop);
        assert!(text.starts_with("at most 19 states and 38 transitions visited so far"), "{text}");
        assert!(text.contains("7 states left") && text.contains("stopped by its time budget"), "{text}");
    }

    #[test]
    fn a_search_that_ended_before_it_was_divided_is_done_by_each() {
        let alone =
            |number, states| Coverage { states, completed_bound: Some(2), ..coverage(Mode::Ses, shard(number, 2)) };
        let text = alone(1, 9).sentences(&Stop::Exhausted);
        assert!(text.starts_with("every reachable state visited: 9 states"), "{text}");
        assert!(text.contains("too small to be divided: each of the 2 shards has done all of it"), "{text}");
        let shards = [(alone(1, 5), Stop::Time), (alone(2, 9), Stop::Exhausted)];
        let (all, stop) = Coverage::together(&shards).expect("there are shards");
        assert_eq!((all.states, stop), (9, Stop::Exhausted), "one has done all there is");
        assert!(alone(1, 5).sentences(&Stop::Time).contains("shard 1 of 2: not divided yet"));
    }

    #[test]
    fn samples_add_up_and_with_them_what_they_say() {
        let sampled = |number, exact| Coverage {
            strata: vec![Stratum { delays: 1, samples: exact + 1, exact }],
            choices: 3 + number,
            met_choice: true,
            ..coverage(Mode::Ss, shard(number, 2))
        };
        let shards = [(sampled(1, 40), Stop::Samples), (sampled(2, 30), Stop::Samples)];
        let (all, stop) = Coverage::together(&shards).expect("there are shards");
        assert_eq!((all.strata.as_slice(), all.choices), (&[Stratum { delays: 1, samples: 72, exact: 70 }][..], 5));
        let text = all.sentences(&stop);
        assert!(text.contains("missed by these 70 samples with probability at most 1.6e-7"), "{text}");
        assert!(text.contains("samples of 2 shards"), "{text}");
        let one = shards[0].0.sentences(&Stop::Samples);
        assert!(one.contains("shard 1 of 2: one of 2 samples is its own"), "{one}");
    }

    #[test]
    fn the_only_shard_says_what_a_search_says_that_is_not_divided() {
        let only = (Coverage { states: 9, ..coverage(Mode::Ses, Shard::WHOLE) }, Stop::Exhausted);
        let (all, stop) = Coverage::together(std::slice::from_ref(&only)).expect("there is one");
        assert_eq!(all.sentences(&stop), only.0.sentences(&only.1));
    }
}

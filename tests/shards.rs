//! Shards of a search come to what the whole search comes to: the same samples, states, executions, outcomes and violations.

use delay::{Cache, Checker, Execution, Mode, Report, Stop, task};
use delay_core::coverage::{Coverage, Part, Stratum};
use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

#[path = "resume/fan_in.rs"]
mod fan_in;

/// Five tasks send a message each to one receiver, which tells in which order they came.
async fn fan_in_of_five(seen: &Mutex<BTreeSet<Vec<u32>>>) {
    let order = fan_in::order(5).await;
    seen.lock().unwrap_or_else(PoisonError::into_inner).insert(order);
}

/// A check, and all outcomes that were executed.
fn checked(checker: Checker) -> (Report, BTreeSet<Vec<u32>>) {
    let seen = Mutex::default();
    let report = checker.execution(Execution::Live).check(|| fan_in_of_five(&seen));
    report.assert_passed();
    (report, seen.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// All shards of a check, put together, and the outcomes of all.
fn in_shards(checker: Checker, of: u32) -> (Coverage, Stop, BTreeSet<Vec<u32>>) {
    let mut seen = BTreeSet::new();
    let mut parts = Vec::new();
    for number in 1..=of {
        let (report, outcomes) = checked(checker.shard(number, of));
        seen.extend(outcomes);
        parts.push((report.coverage, report.stop));
    }
    let (coverage, stop) = Coverage::together(&parts).expect("there are shards");
    (coverage, stop, seen)
}

/// The counts of samples, which have to be the same to the last one.
fn sampled(coverage: &Coverage) -> (Vec<Stratum>, [u64; 5]) {
    let mut strata = coverage.strata.clone();
    strata.sort_by_key(|stratum| stratum.delays);
    let Coverage { executions, transitions, longest, truncated, choices, .. } = *coverage;
    (strata, [executions, transitions, longest, truncated, u64::from(choices)])
}

#[test]
fn the_shards_take_the_samples_of_the_whole_search() {
    // Also where it ends by itself: after the first stratum without an execution of so many delays.
    for checker in [
        Checker::new().mode(Mode::Ss).samples(40).seed(5),
        Checker::new().mode(Mode::Ss).max_delays(3),
        Checker::new().mode(Mode::Ss).samples(2),
        Checker::new().mode(Mode::Random).samples(101).seed(1),
    ] {
        let (whole, _) = checked(checker);
        for of in [1, 2, 3, 7] {
            let (coverage, stop, _) = in_shards(checker, of);
            assert_eq!(sampled(&coverage), sampled(&whole.coverage), "{of} shards");
            assert_eq!((coverage.completed_bound, stop), (whole.coverage.completed_bound, whole.stop.clone()));
        }
    }
}

#[test]
fn the_shards_visit_what_the_whole_search_visits() {
    for cache in [Cache::State, Cache::StateExplorer] {
        let checker = Checker::new().cache(cache);
        let (whole, outcomes) = checked(checker);
        assert!(whole.is_complete());
        assert_eq!(outcomes.len(), 120);
        for of in [2, 3, 5] {
            let (coverage, stop, seen) = in_shards(checker, of);
            assert!(coverage.shared.is_some(), "{of} shards have something to divide");
            assert!(coverage.is_complete(&stop) && stop == Stop::Exhausted);
            assert_eq!(seen, outcomes, "{of} shards");
            assert!(coverage.states >= whole.coverage.states, "a state is counted by each that visits it");
            let text = coverage.sentences(&stop);
            assert!(text.starts_with(&format!("every reachable state visited by {of} shards: at most ")), "{text}");
        }
    }
}

#[test]
fn without_a_cache_every_execution_belongs_to_one_shard() {
    let checker = Checker::new().cache(Cache::Off).max_delays(5);
    let (whole, outcomes) = checked(checker);
    for of in [2, 3] {
        let (coverage, stop, seen) = in_shards(checker, of);
        assert!(coverage.shared.is_some());
        assert_eq!(
            (coverage.executions, coverage.transitions),
            (whole.coverage.executions, whole.coverage.transitions)
        );
        assert_eq!((coverage.states, coverage.frontier), (whole.coverage.states, whole.coverage.frontier));
        assert_eq!((stop, seen), (whole.stop.clone(), outcomes.clone()));
    }
}

#[test]
fn a_shard_claims_nothing_of_the_whole() {
    let (report, _) = checked(Checker::new().shard(2, 3));
    assert_eq!(report.stop, Stop::Exhausted);
    assert!(!report.is_complete() && matches!(report.coverage.part, Part::Of(_)));
    let text = report.sentences();
    assert!(!text.contains("every reachable state") && text.contains("nothing left to this shard"), "{text}");
    assert!(text.contains("shard 2 of 3: one of 3 of the "), "{text}");
}

#[test]
fn a_search_that_is_too_small_is_done_by_each_shard() {
    let two = || async {
        task::spawn(task::yield_now());
    };
    let whole = Checker::new().check(two);
    for number in [1, 2] {
        let report = Checker::new().shard(number, 2).check(two);
        assert!(report.is_complete());
        assert_eq!(report.coverage.states, whole.coverage.states);
        assert!(report.sentences().contains("too small to be divided: each of the 2 shards has done all of it"));
    }
}

/// What is wrong shows only if the last sender is heard first and the first one last.
async fn wrong_in_one_order() {
    let seen = Mutex::default();
    fan_in_of_five(&seen).await;
    let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(!seen.contains(&vec![4, 1, 2, 3, 0]), "in reverse");
}

#[test]
fn a_violation_is_found_by_some_shard_if_the_whole_search_finds_one() {
    for checker in [Checker::new(), Checker::new().mode(Mode::Ss).samples(300)] {
        assert!(checker.check(wrong_in_one_order).is_failure());
        let found = (1..=4).filter(|number| checker.shard(*number, 4).check(wrong_in_one_order).is_failure());
        assert!(found.count() >= 1);
    }
}

#[test]
#[should_panic(expected = "1 <= number <= of")]
fn there_is_no_shard_past_the_last() {
    let _ = Checker::new().shard(3, 2);
}

#[test]
#[should_panic(expected = "mode is \"ses+ss\", expected \"ses\", \"ss\" or \"random\"")]
fn what_depends_on_the_machine_is_not_divided() {
    checked(Checker::new().mode(Mode::SesSs).shard(1, 2));
}

//! Shards of exhaustive searches, by what they save: which states they have visited.

use crate::{
    Searched, Subject,
    programs::{self, Random},
    stopped::{in_parts, talk},
};
use delay::{Cache, Stop};
use delay_core::{
    harness::Erased,
    live::Options,
    search::{Settings, Shard, saved::Saved},
};
use std::{collections::BTreeSet, time::Duration};

fn visited(searched: &Searched) -> BTreeSet<u64> {
    let Some((_, Saved::Exhaustive(position))) = searched.saved.last() else { panic!("an exhaustive search is saved") };
    position.visited.states.iter().copied().collect()
}

/// The shards of a search, one after the other.
fn shards<'b>(subject: &Subject<'b>, of: u32) -> impl Iterator<Item = Subject<'b>> {
    (1..=of).filter_map(move |number| Shard::new(number, of)).map(|shard| {
        let settings = Settings { shard, ..subject.settings };
        Subject { settings, ..*subject }
    })
}

#[test]
fn together_the_shards_visit_just_the_states_of_the_whole_search() {
    let body = Erased(&talk);
    for (cache, seed) in [(Cache::State, 0), (Cache::State, 1), (Cache::StateExplorer, 0)] {
        let subject = Subject { settings: Settings { cache, seed, ..Settings::default() }, ..Subject::new(&body) };
        let whole = visited(&subject.whole());
        for of in [2, 5] {
            let parts: Vec<Searched> = shards(&subject, of).map(|shard| shard.whole()).collect();
            assert!(parts.iter().all(|part| part.outcome.stop == Stop::Exhausted));
            assert!(parts.iter().all(|part| part.outcome.coverage.shared.is_some()), "it is divided");
            let together: BTreeSet<u64> = parts.iter().flat_map(visited).collect();
            assert!(together == whole, "{cache:?} {seed}: {of} shards");
        }
    }
}

#[test]
fn random_programs_are_divided_without_a_loss() {
    let mut random = Random(31);
    let mut divided = 0;
    for number in 0..120 {
        let program = programs::program(&mut random);
        let body = || async { programs::start(&program) };
        let body = Erased(&body);
        let options = Options { granularity: program.granularity, seed: 3, ..Options::default() };
        let subject = Subject {
            options,
            settings: Settings { cache: program.cache, ..Settings::default() },
            ..Subject::new(&body)
        };
        let limit = 5_000;
        let whole = subject.search(Some(limit), Duration::MAX, None);
        if whole.outcome.coverage.states >= limit {
            continue;
        }
        let parts: Vec<Searched> = shards(&subject, 2).map(|shard| shard.whole()).collect();
        let together: BTreeSet<u64> = parts.iter().flat_map(visited).collect();
        assert!(together == visited(&whole), "{number}: {program:?}");
        divided += u32::from(parts[0].outcome.coverage.shared.is_some());
    }
    assert!(divided >= 4, "{divided} programs were large enough to be divided");
}

#[test]
fn a_shard_that_was_stopped_goes_on_with_its_own_part() {
    let body = Erased(&talk);
    let subject = Subject::new(&body);
    for shard in shards(&subject, 3) {
        let whole = shard.whole();
        // Before it is divided, and after.
        for states in [40, whole.outcome.coverage.states / 2] {
            let (stopped, took) = in_parts(&shard, states);
            assert!(took > 1 && stopped.end() == whole.end(), "{:?} stopped after {states}", shard.settings.shard);
        }
    }
}

//! State that tasks share through locks: searches find what depends on it, and miss nothing for having cached states.

mod broadcast;
mod locks;
mod signals;
#[path = "../verdicts/mod.rs"]
mod verdicts;

use delay::Cache;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};
use verdicts::{exhaustive, finds, passes};

/// Every outcome of a program, with this cache.
#[track_caller]
fn outcomes<T, F>(cache: Cache, body: impl Fn() -> F + Send + Sync + Clone + 'static) -> BTreeSet<T>
where
    T: Ord + Send + 'static,
    F: Future<Output = T> + 'static,
{
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let into = Arc::clone(&all);
    let report = exhaustive().cache(cache).check(move || {
        let (into, future) = (Arc::clone(&into), body());
        async move {
            let outcome = future.await;
            into.lock().expect("nobody panics in here").insert(outcome);
        }
    });
    passes(&report);
    std::mem::take(&mut *all.lock().expect("nobody panics in here"))
}

/// Visiting no state twice loses no outcome.
#[track_caller]
fn same_with_and_without_cache<T, F>(body: impl Fn() -> F + Send + Sync + Clone + 'static) -> BTreeSet<T>
where
    T: Ord + Send + std::fmt::Debug + 'static,
    F: Future<Output = T> + 'static,
{
    let cached = outcomes(Cache::State, body.clone());
    assert_eq!(cached, outcomes(Cache::Off, body));
    cached
}

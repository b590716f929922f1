//! A state first reached deep is cut early, and then prunes the shallow way to it. A search with cut executions claims
//! nothing, whatever its cache holds.

use crate::{exhaustive, finds};
use delay::{Cache, checkpoint, flip, sync::mpsc, task};

/// The bug is three steps away on one way and five on the other; both come by the same state.
async fn detour() {
    if !flip().await {
        task::yield_now().await;
        task::yield_now().await;
    }
    checkpoint("here");
    task::yield_now().await;
    task::yield_now().await;
    panic!("went wrong");
}

#[test]
fn a_cut_search_may_miss_a_bug_and_says_so() {
    for max_steps in [3, 4] {
        let report = exhaustive().max_steps(max_steps).check(detour);
        assert!(!report.is_failure(), "the state is in the cache");
        assert!(!report.is_complete());
        let sentences = report.sentences();
        assert!(report.coverage.truncated > 0 && sentences.contains("cut at max_steps"), "{sentences}");
        assert!(!sentences.contains("every"), "{sentences}");
        finds(&exhaustive().max_steps(max_steps).cache(Cache::Off).check(detour), "went wrong");
    }
    finds(&exhaustive().max_steps(5).check(detour), "went wrong");
}

/// A server that beats for ever.
async fn heartbeat() {
    let (sender, mut receiver) = mpsc::channel(1);
    task::spawn_named("heart", async move {
        loop {
            sender.send(()).await.expect("the watcher is there");
        }
    });
    task::spawn_named("watcher", async move { while receiver.recv().await.is_some() {} });
}

#[test]
fn a_program_that_never_ends_is_cut_and_never_complete() {
    for cache in [Cache::State, Cache::StateExplorer, Cache::Off] {
        let report = exhaustive().max_steps(8).cache(cache).check(heartbeat);
        assert!(!report.is_failure() && !report.is_complete() && report.coverage.truncated > 0, "{cache:?}");
        assert!(!report.sentences().contains("every"), "{cache:?}: {}", report.sentences());
    }
}

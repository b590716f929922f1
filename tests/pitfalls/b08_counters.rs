//! A checkpoint forgets what a process has seen, not what the engine counts for it: how often it drew or spawned.

use crate::{exhaustive, finds, misses};
use delay::{checkpoint, flip, rng, task};
use delay_core::world::masked::Part;
use rand::Rng;

/// The second draw is odd with this seed, the first is not.
const SEED: u64 = 1;

async fn draws_once_or_twice() {
    if flip().await {
        rng().next_u64();
    }
    checkpoint("drawn");
    task::yield_now().await;
    assert!(rng().next_u64().is_multiple_of(2), "drew an odd number");
}

#[test]
fn how_often_it_drew_outlives_a_checkpoint() {
    finds(&exhaustive().seed(SEED).check(draws_once_or_twice), "drew an odd number");
}

#[test]
fn without_counters_in_the_key_the_second_draw_is_missed() {
    misses(&exhaustive().seed(SEED).mask(Part::Counters).check(draws_once_or_twice));
}

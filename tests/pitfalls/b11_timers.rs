//! Pending timers are part of the state, by how much is left of them: absolute time would make every state a new one.

use crate::{exhaustive, finds, misses, passes};
use delay::{checkpoint, task, time};
use delay_core::world::masked::Part;
use std::time::Duration;

/// Whoever looks at the clock knows whether the long timer was set before the short one ran out, or after.
async fn two_timers() {
    let start = time::Instant::now();
    task::spawn_named("short", async { time::sleep(Duration::from_secs(3)).await });
    task::spawn_named("long", async move {
        task::yield_now().await;
        time::sleep(Duration::from_secs(5)).await;
        assert_ne!(start.elapsed(), Duration::from_secs(8), "set late");
    });
}

#[test]
fn what_is_left_of_a_timer_is_part_of_the_state() {
    finds(&exhaustive().check(two_timers), "set late");
}

#[test]
fn without_pending_timers_in_the_key_it_is_missed() {
    misses(&exhaustive().mask(Part::Timers).check(two_timers));
}

#[test]
fn a_timer_that_is_set_again_and_again_is_one_state() {
    let report = exhaustive().check(|| async {
        task::spawn(async {
            loop {
                checkpoint("beating");
                time::sleep(Duration::from_secs(1)).await;
            }
        });
    });
    passes(&report);
    assert_eq!((report.coverage.states, report.coverage.transitions), (1, 1));
}

//! A process is named by who spawned it, not by when: the same thing has the same name in every interleaving.

use crate::{exhaustive, passes};
use delay::{Granularity, Payload, flip, sync::mpsc, task};
use delay_core::world::masked::Part;

/// The notes' SPAWN(3).
async fn spawns_three() {
    let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::visible());
    task::spawn_named("parent", async move {
        for me in 1..=3 {
            let sender = sender.clone();
            task::yield_now().await;
            task::spawn(async move {
                task::yield_now().await;
                sender.send(me).expect("the parent receives");
            });
        }
        for _ in 0..3 {
            receiver.recv().await;
        }
        std::mem::forget((sender, receiver));
    });
}

/// Two parents, which may spawn their children in either order.
async fn two_parents() {
    for _ in 0..2 {
        task::spawn(async {
            task::yield_now().await;
            task::spawn(async { task::yield_now().await });
        });
    }
}

#[test]
fn spawning_has_the_tabulated_states() {
    for granularity in [Granularity::Send, Granularity::Op] {
        let report = exhaustive().granularity(granularity).check(spawns_three);
        passes(&report);
        assert_eq!((report.coverage.states, report.coverage.transitions), (57, 79), "{granularity:?}");
    }
}

#[test]
fn children_named_by_order_of_creation_are_more_states() {
    let canonical = exhaustive().check(two_parents);
    let by_order = exhaustive().mask(Part::Names).check(two_parents);
    passes(&canonical);
    // Each parent and child: before its spawn, after it, and the child done.
    assert_eq!(canonical.coverage.states, 9);
    assert!(by_order.coverage.states > 9, "{}", by_order.coverage.states);
}

#[test]
fn a_child_has_the_same_name_whoever_was_first() {
    let names = ["rtc", "rr", "prr"].map(|explorer| {
        let report = exhaustive().explorer(explorer).check(|| async {
            for parent in 0..2 {
                task::spawn(async move {
                    task::yield_now().await;
                    task::spawn(async move { assert!(parent == 0 || !flip().await, "the second parent's child") });
                });
            }
        });
        report.failure.expect("it is found").violation.to_string()
    });
    assert_eq!(names, ["panic in main.2.1: the second parent's child"; 3]);
}

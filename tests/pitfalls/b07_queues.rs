//! What is queued, how often, and in a FIFO queue in which order.

use crate::{exhaustive, finds, misses};
use delay::{Payload, checkpoint, sync::mpsc, task};
use delay_core::world::masked::Part;

/// The body receives when both have sent; only the queue knows who was first.
async fn two_in_a_queue() {
    let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::visible());
    let senders = ["first", "second"].map(|name| {
        let sender = sender.clone();
        task::spawn(async move {
            task::yield_now().await;
            sender.send(name).expect("the body receives");
        })
    });
    for sender in senders {
        sender.await.expect("it ends");
    }
    assert_ne!(receiver.recv().await, Some("second"));
}

#[test]
fn an_order_that_only_the_queue_knows_is_found() {
    for explorer in ["rtc", "rr"] {
        finds(&exhaustive().explorer(explorer).check(two_in_a_queue), "second");
    }
}

#[test]
fn without_the_order_in_the_key_it_is_missed() {
    // One of the explorers begins with the bug.
    let missed = |explorer| !exhaustive().explorer(explorer).mask(Part::Order).check(two_in_a_queue).is_failure();
    assert!(missed("rtc") || missed("rr"));
}

/// Two equal votes; the counter has forgotten all but where it stands, and minds two votes at once.
async fn two_equal_votes() {
    let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::visible());
    task::spawn_named("counter", async move {
        loop {
            checkpoint("counting");
            let Some(_) = receiver.recv().await else { return };
            assert!(receiver.try_recv().is_err(), "two votes at once");
        }
    });
    for _ in 0..2 {
        let sender = sender.clone();
        task::spawn(async move {
            task::yield_now().await;
            sender.send("yes").expect("the counter counts");
            std::future::pending::<()>().await;
        });
    }
    std::mem::forget(sender);
}

#[test]
fn two_equal_messages_are_two() {
    finds(&exhaustive().check(two_equal_votes), "two votes at once");
}

#[test]
fn with_contents_combined_by_xor_they_are_none() {
    misses(&exhaustive().mask(Part::Multiplicity).check(two_equal_votes));
}

//! A message is known by its content where that is given, else by its origin: who sent it, after having seen what.

use crate::{exhaustive, finds, misses, passes};
use delay::{Payload, checkpoint, flip, sync::mpsc, task};
use delay_core::world::masked::Part;

/// The sender forgets what it sent; the message in the queue is all that tells.
async fn sends_and_forgets(payload: Payload<bool>) {
    let (sender, mut receiver) = mpsc::unbounded_channel_with(payload);
    let sent = task::spawn(async move {
        let value = flip().await;
        task::yield_now().await;
        sender.send(value).expect("the body receives");
        checkpoint("sent");
        std::mem::forget(sender);
    });
    sent.await.expect("it ends");
    assert_ne!(receiver.recv().await, Some(true), "it was true");
}

#[test]
fn messages_differ_by_content_and_by_origin() {
    finds(&exhaustive().check(|| sends_and_forgets(Payload::visible())), "it was true");
    finds(&exhaustive().check(|| sends_and_forgets(Payload::opaque())), "it was true");
}

#[test]
fn without_the_senders_history_opaque_messages_are_all_one() {
    misses(&exhaustive().mask(Part::Origin).check(|| sends_and_forgets(Payload::opaque())));
}

/// Equal contents of different senders are one message in a state, and several opaque ones.
fn three_equal(payload: Payload<u8>) {
    let (sender, mut receiver) = mpsc::unbounded_channel_with(payload);
    for _ in 0..3 {
        let sender = sender.clone();
        task::spawn(async move {
            task::yield_now().await;
            sender.send(0).expect("the receiver receives");
            std::mem::forget(sender);
        });
    }
    task::spawn(async move {
        for _ in 0..3 {
            receiver.recv().await;
        }
        std::mem::forget((sender, receiver));
    });
}

#[test]
fn equal_contents_merge_and_equal_origins_do_not() {
    let states = |payload: fn() -> Payload<u8>| {
        let report = exhaustive().check(|| async { three_equal(payload()) });
        passes(&report);
        (report.coverage.states, report.coverage.transitions)
    };
    assert_eq!(states(Payload::visible), (20, 36));
    assert_eq!(states(Payload::opaque), (49, 66));
}

//! That a channel is closed enables its receiver and makes its senders fail: it is part of the state.

use crate::{exhaustive, finds, misses};
use delay::{Payload, checkpoint, sync::mpsc, task};
use delay_core::world::masked::Part;

/// The holder forgets whether it dropped the only sender; the channel knows.
async fn dropped_or_not() {
    let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::<u8>::visible());
    task::spawn_named("receiver", async move {
        assert!(receiver.recv().await.is_some(), "the sender is gone");
    });
    task::spawn_named("holder", async move {
        if delay::flip().await {
            drop(sender);
        } else {
            std::mem::forget(sender);
        }
        checkpoint("done");
    });
}

#[test]
fn a_closed_channel_wakes_its_receiver() {
    finds(&exhaustive().check(dropped_or_not), "the sender is gone");
}

#[test]
fn without_it_in_the_key_the_end_is_missed() {
    misses(&exhaustive().mask(Part::Closed).check(dropped_or_not));
}

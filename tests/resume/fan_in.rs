//! The program of the tests of divided and of resumed searches.

use delay::{Payload, sync::mpsc, task};

/// So many tasks send a message each; in which order they came.
pub(crate) async fn order(senders: u32) -> Vec<u32> {
    let (to_all, mut received) = mpsc::unbounded_channel_with::<u32>(Payload::visible());
    for sender in 0..senders {
        let to_all = to_all.clone();
        task::spawn(async move {
            task::yield_now().await;
            let _ = to_all.send(sender);
        });
    }
    drop(to_all);
    let mut order = Vec::new();
    while let Some(sender) = received.recv().await {
        order.push(sender);
    }
    order
}

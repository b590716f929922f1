//! The abstraction of all that replicates: one node that never crashes and carries out requests in the order in which it happens to hear of
//! them.
//!
//! It stands where clients have their dispatcher. Source: listing 9 of the P report.

use super::{
    MessageOf,
    machine::{Machine, Sessions},
};
use delay::{checkpoint, net::Endpoint};

/// Serves the clients.
pub async fn serve<M: Machine>(mut endpoint: Endpoint<MessageOf<M>>) {
    let mut sessions = Sessions::<M>::default();
    loop {
        checkpoint(&sessions);
        let envelope = endpoint.recv().await;
        if let MessageOf::<M>::Request(request) = envelope.message
            && let Some(answer) = sessions.apply(&request)
        {
            // A client that is gone does not wait.
            let _ = endpoint.send(envelope.from, MessageOf::<M>::Answer(answer)).await;
        }
    }
}

//! A timer on a clock.

use super::{Message, Progress};
use delay::{
    announce, checkpoint,
    net::Endpoint,
    time::{Duration, timeout},
};

/// Fires so long after each start, unless it is cancelled before.
pub async fn serve(mut endpoint: Endpoint<Message>, after: Duration) {
    let mut starts = 0;
    loop {
        checkpoint(&starts);
        let request = endpoint.recv().await;
        let answer = match request.message {
            Message::Start => {
                starts += 1;
                if timeout(after, cancelled(&mut endpoint)).await.is_ok() {
                    Message::CancelSucceeded
                } else {
                    announce(Progress::Fired(starts));
                    Message::Timeout
                }
            }
            // It is at rest.
            Message::Cancel => Message::CancelFailed,
            _ => continue,
        };
        // A client that is gone does not need to know.
        let _ = endpoint.send(request.from, answer).await;
    }
}

async fn cancelled(endpoint: &mut Endpoint<Message>) {
    while endpoint.recv().await.message != Message::Cancel {}
}

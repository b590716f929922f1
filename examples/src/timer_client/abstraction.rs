//! All that a client may rely on, of timer and server.

use super::{Message, Progress};
use delay::{announce, checkpoint, flip, net::Endpoint, task};

/// A timer that knows no time: it may fire whenever it has been started, and whether a cancellation comes too late is
/// anybody's guess.
pub async fn timer(mut endpoint: Endpoint<Message>) {
    let mut starts = 0;
    loop {
        checkpoint(&starts);
        let request = endpoint.recv().await;
        let answers: &[Message] = match request.message {
            Message::Cancel => &[Message::CancelFailed],
            Message::Start => {
                starts += 1;
                let is_cancelled = tokio::select! {
                    () = task::yield_now() => false,
                    _ = endpoint.recv() => true,
                };
                if is_cancelled && flip().await {
                    &[Message::CancelSucceeded]
                } else {
                    announce(Progress::Fired(starts));
                    if is_cancelled { &[Message::CancelFailed, Message::Timeout] } else { &[Message::Timeout] }
                }
            }
            _ => &[],
        };
        for answer in answers {
            // A client that is gone does not need to know.
            let _ = endpoint.send(request.from, *answer).await;
        }
    }
}

/// A server that may answer a request or not.
pub async fn server(mut endpoint: Endpoint<Message>) {
    loop {
        checkpoint(&());
        let request = endpoint.recv().await;
        if let Message::Request(number) = request.message
            && flip().await
        {
            let _ = endpoint.send(request.from, Message::Answer(number)).await;
        }
    }
}

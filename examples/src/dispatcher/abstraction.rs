//! All that a client may rely on: somebody answers each request, once, and not in order.

use super::Message;
use delay::{checkpoint, net::Endpoint};

/// The dispatcher with all that is behind it.
pub async fn serve(mut endpoint: Endpoint<Message>) {
    loop {
        checkpoint(&());
        let request = endpoint.recv().await;
        if let Message::Request(number) = request.message {
            // A client that is gone does not need to know.
            let _ = endpoint.send(request.from, Message::Answer(number)).await;
        }
    }
}

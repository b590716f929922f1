//! What the client does.
//!
//! Messages of one sender arrive in order and are not lost. The server may keep silent. The timer says nothing of which
//! request it was set for.

use super::{Bug, Progress};
use delay::{
    announce,
    inbox::Inbox,
    net::{Address, Endpoint, Envelope},
    receive,
};

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Message {
    /// To the timer: fire some time.
    Start,
    /// To the timer: do not fire.
    Cancel,
    /// To the client: the timer has fired.
    Timeout,
    /// To the client: the timer will not fire.
    CancelSucceeded,
    /// To the client: too late, the timer has fired. The news of that may come before or after.
    CancelFailed,
    /// To the server.
    Request(u32),
    /// To the client: what the server says to this request.
    Answer(u32),
}

/// Asks the server, and gives a request up when its timer fires.
#[derive(Debug)]
pub struct Client {
    inbox: Inbox<Endpoint<Message>>,
    timer: Address,
    server: Address,
    bug: Bug,
}

impl Client {
    /// A client of a server, with a timer of its own.
    pub fn new(endpoint: Endpoint<Message>, timer: Address, server: Address, bug: Bug) -> Self {
        Self { inbox: Inbox::new(endpoint), timer, server, bug }
    }

    /// Whether the server answers the request in time. The timer is at rest when this returns.
    pub async fn ask(&mut self, request: u32) -> bool {
        announce(Progress::Asked(request));
        self.send(self.timer, Message::Start).await;
        self.send(self.server, Message::Request(request)).await;
        let is_answered = receive!(self.inbox, "waiting for an answer", {
            // To a request that was given up.
            ignore Envelope { message: Message::Answer(of), .. } if of != request,
            Envelope { message: Message::Answer(_), .. } => true,
            Envelope { message: Message::Timeout, .. } => false,
        });
        if is_answered {
            self.cancel().await;
        } else {
            announce(Progress::GaveUp(request));
        }
        announce(Progress::AtRest(request));
        is_answered
    }

    /// Brings the timer to rest.
    async fn cancel(&mut self) {
        self.send(self.timer, Message::Cancel).await;
        let has_fired = receive!(self.inbox, "cancelling", {
            Envelope { message: Message::CancelSucceeded, .. } => false,
            Envelope { message: Message::CancelFailed, .. } => true,
            ignore Envelope { message: Message::Timeout, .. } if self.bug == Bug::DropsTimeout,
            defer Envelope { message: Message::Timeout, .. } if self.bug != Bug::CannotFireNow,
            ignore Envelope { message: Message::Answer(_), .. },
        });
        if has_fired && self.bug != Bug::LeavesTimeout {
            receive!(self.inbox, "draining", {
                Envelope { message: Message::Timeout, .. } => {}
                ignore Envelope { message: Message::Answer(_), .. },
            });
        }
    }

    async fn send(&self, to: Address, message: Message) {
        self.inbox.source().send(to, message).await.expect("timer and server do not fail");
    }
}

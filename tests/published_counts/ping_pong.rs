//! Ping-pong: two actors count together, one message after the other.
//!
//! The published model cuts states in which somebody has counted past the limit. Here such a message is ignored, which
//! is the same: it leads nowhere.

use crate::actors::{Out, Protocol};

#[derive(Clone, Copy)]
pub(crate) struct PingPong {
    /// How far they count.
    pub(crate) limit: u32,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Message {
    Ping(u32),
    Pong(u32),
}

impl Protocol for PingPong {
    type State = u32;
    type Message = Message;

    fn start(self) -> Vec<(u32, Out<Message>)> {
        vec![(0, vec![(1, Message::Ping(0))]), (0, Vec::new())]
    }

    fn react(self, _me: usize, count: &mut u32, from: usize, message: &Message) -> Option<Out<Message>> {
        let (Message::Ping(said) | Message::Pong(said)) = message;
        if said != count || *count == self.limit {
            return None;
        }
        *count += 1;
        let answer = match message {
            Message::Ping(said) => Message::Pong(*said),
            Message::Pong(said) => Message::Ping(said + 1),
        };
        Some(vec![(from, answer)])
    }
}

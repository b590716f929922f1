//! The abstraction: one node that never crashes, and carries out operations in the order in which it happens to hear of
//! them.

use super::{Machine, Replicated};
use delay::{
    checkpoint,
    net::{Address, Endpoint},
};

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Message<Op, Ret> {
    /// To the node.
    Request(Op),
    /// To a client.
    Reply(Ret),
}

/// What is sent to and from a machine.
pub type MessageOf<M> = Message<<M as Machine>::Op, <M as Machine>::Ret>;

/// Serves the clients.
pub async fn serve<M: Machine>(mut endpoint: Endpoint<MessageOf<M>>, mut machine: M) {
    loop {
        checkpoint(&machine);
        let request = endpoint.recv().await;
        if let Message::Request(op) = request.message {
            // A client that is gone does not need to know.
            let _ = endpoint.send(request.from, Message::Reply(machine.apply(op))).await;
        }
    }
}

/// A client of a single node.
#[derive(Debug)]
pub struct Client<M: Machine> {
    endpoint: Endpoint<MessageOf<M>>,
    node: Address,
}

impl<M: Machine> Client<M> {
    /// A client of the node at this address.
    pub fn new(endpoint: Endpoint<MessageOf<M>>, node: Address) -> Self {
        Self { endpoint, node }
    }
}

impl<M: Machine> Replicated<M> for Client<M> {
    async fn submit(&mut self, op: M::Op) -> M::Ret {
        self.endpoint.send(self.node, Message::Request(op)).await.expect("it does not fail");
        loop {
            if let Message::Reply(ret) = self.endpoint.recv().await.message {
                return ret;
            }
        }
    }
}

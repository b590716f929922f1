//! The implementation: a primary that may crash, and a backup that knows all that the primary has answered.
//!
//! Messages may be reordered and are lost with the primary only. A failure detector that is never wrong tells the clients
//! of the primary's crash; they turn to the backup then, and ask again what was not answered.

use super::{Bug, Machine, Replicated};
use delay::{
    checkpoint,
    inbox::Inbox,
    net::{Address, Endpoint, Envelope},
    receive,
};
use std::collections::BTreeMap;

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Message<Op, Ret> {
    /// To a replica: the client's operation with this number.
    Request(u32, Op),
    /// To a client: what came of that.
    Reply(u32, Ret),
    /// To the backup: this client's operation with this number.
    Replicate(Address, u32, Op),
    /// To the primary: the backup knows.
    Replicated,
    /// To a client: the primary is down.
    Failed,
}

/// What is sent for a machine.
pub type MessageOf<M> = Message<<M as Machine>::Op, <M as Machine>::Ret>;

/// A machine, and what it answered each client last.
#[derive(Hash, Debug)]
struct Replica<M: Machine> {
    machine: M,
    last: BTreeMap<Address, (u32, M::Ret)>,
    bug: Bug,
}

impl<M: Machine> Replica<M> {
    fn new(machine: M, bug: Bug) -> Self {
        Self { machine, last: BTreeMap::new(), bug }
    }

    /// Carries the operation out, if it has not before.
    fn apply(&mut self, client: Address, number: u32, op: M::Op) -> M::Ret {
        match self.last.get(&client) {
            Some((last, ret)) if *last >= number && self.bug != Bug::AppliesAgain => *ret,
            _ => {
                let ret = self.machine.apply(op);
                self.last.insert(client, (number, ret));
                ret
            }
        }
    }
}

/// Serves the clients until it crashes.
pub async fn primary<M: Machine>(endpoint: Endpoint<MessageOf<M>>, backup: Address, machine: M, bug: Bug) {
    let mut inbox = Inbox::new(endpoint);
    let mut replica = Replica::new(machine, bug);
    loop {
        checkpoint(&(&replica, &inbox));
        let (client, number, op) = receive!(inbox, "serving", {
            Envelope { from, message: Message::Request(number, op) } => (from, number, op),
            ignore Envelope { message: Message::Replicated, .. },
        });
        inbox.source().send(backup, Message::Replicate(client, number, op)).await.expect("the backup does not fail");
        if bug != Bug::AnswersFirst {
            receive!(inbox, "replicating", {
                Envelope { message: Message::Replicated, .. } => {}
                defer Envelope { message: Message::Request(..), .. },
            });
        }
        let ret = replica.apply(client, number, op);
        // A client that is gone does not need to know.
        let _ = inbox.source().send(client, Message::Reply(number, ret)).await;
    }
}

/// Follows the primary, and serves the clients that have lost it.
pub async fn backup<M: Machine>(mut endpoint: Endpoint<MessageOf<M>>, machine: M, bug: Bug) {
    let mut replica = Replica::new(machine, bug);
    loop {
        checkpoint(&replica);
        let request = endpoint.recv().await;
        let answer = match request.message {
            Message::Replicate(client, number, op) => {
                replica.apply(client, number, op);
                Message::Replicated
            }
            Message::Request(number, op) => Message::Reply(number, replica.apply(request.from, number, op)),
            // Not for a backup.
            Message::Reply(..) | Message::Replicated | Message::Failed => continue,
        };
        // One that is gone does not need to know.
        let _ = endpoint.send(request.from, answer).await;
    }
}

/// A client of primary and backup.
#[derive(Debug)]
pub struct Client<M: Machine> {
    endpoint: Endpoint<MessageOf<M>>,
    /// The replica to ask, and before the crash the one after it.
    replica: Address,
    backup: Address,
    /// Of the last operation.
    number: u32,
}

impl<M: Machine> Client<M> {
    /// A client of these two.
    pub fn new(endpoint: Endpoint<MessageOf<M>>, primary: Address, backup: Address) -> Self {
        Self { endpoint, replica: primary, backup, number: 0 }
    }
}

impl<M: Machine> Replicated<M> for Client<M> {
    async fn submit(&mut self, op: M::Op) -> M::Ret {
        self.number += 1;
        loop {
            // If it is gone, there will be news of that.
            let _ = self.endpoint.send(self.replica, Message::Request(self.number, op)).await;
            loop {
                match self.endpoint.recv().await.message {
                    Message::Reply(number, ret) if number == self.number => return ret,
                    Message::Failed => break,
                    // What the primary and then the backup answered.
                    _ => {}
                }
            }
            self.replica = self.backup;
        }
    }
}

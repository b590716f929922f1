//! What an acceptor does, from its first start and after each crash.

use super::Bug;
use crate::paxos::{Ballot, Message, Progress, Value};
use delay::{Payload, announce, checkpoint, net::Endpoint, storage::Cell};

/// What an acceptor must not forget.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Memory {
    /// Invariant: never falls.
    promised: Option<Ballot>,
    /// Invariant: never above `promised`.
    accepted: Option<(Ballot, Value)>,
}

impl Memory {
    fn allows(self, ballot: Ballot) -> bool {
        self.promised.is_none_or(|promised| promised <= ballot)
    }
}

/// Serves the proposers, from what the node it runs on has stored.
pub async fn serve(mut endpoint: Endpoint<Message>, bug: Bug) {
    let store = Cell::with_payload("memory", Payload::visible());
    let mut memory: Memory = store.read().await.unwrap_or_default();
    loop {
        checkpoint(&(memory, bug));
        let request = endpoint.recv().await;
        let answer = match request.message {
            Message::Prepare(ballot) if memory.allows(ballot) => {
                memory.promised = Some(ballot);
                Message::Promise(ballot, memory.accepted)
            }
            Message::Accept(ballot, value) if memory.allows(ballot) => {
                memory = Memory { promised: Some(ballot), accepted: Some((ballot, value)) };
                Message::Accepted(ballot)
            }
            Message::Prepare(ballot) | Message::Accept(ballot, _) => Message::Refused(ballot),
            // Not for an acceptor.
            Message::Promise(..) | Message::Accepted(_) | Message::Refused(_) => continue,
        };
        let has_to_last = !matches!(
            (answer, bug),
            (Message::Refused(_), _)
                | (Message::Promise(..), Bug::PromiseNotSynced)
                | (Message::Accepted(_), Bug::AcceptanceNotSynced)
        );
        let stored = if bug == Bug::StoresPromisesOnly { Memory { accepted: None, ..memory } } else { memory };
        store.write(stored).await;
        if has_to_last {
            store.sync().await;
        }
        if let Some((ballot, value)) = memory.accepted.filter(|_| matches!(answer, Message::Accepted(_))) {
            announce(Progress::Accepted { acceptor: endpoint.address(), ballot, value });
        }
        // A proposer that is gone does not need the answer.
        let _ = endpoint.send(request.from, answer).await;
    }
}

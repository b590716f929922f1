//! A bank on two-phase commit: each account takes part in the transfers that touch it.
//!
//! Nothing here knows whether it is under test: [`transfer`] runs in a `#[delay_test]` and under `#[tokio::main]`.

use super::{
    Bug, Decision, Resource, Transaction, Vote,
    protocol::{Message, start},
};
use delay::{
    Payload,
    net::{Delivery, Network},
};

/// An account that is to change by some amount.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Account {
    balance: i64,
    change: i64,
}

impl Account {
    /// One that holds `balance`, for a transfer that changes it.
    pub fn new(balance: i64, change: i64) -> Self {
        Self { balance, change }
    }
}

impl Resource for Account {
    async fn prepare(&mut self, _transaction: Transaction) -> Vote {
        if self.balance + self.change >= 0 { Vote::Yes } else { Vote::No }
    }

    fn finish(&mut self, _transaction: Transaction, decision: Decision) {
        if decision == Decision::Commit {
            self.balance += self.change;
        }
    }
}

/// Takes `amount` from an account that holds `balance` and gives it to an empty one, or neither.
pub async fn transfer(balance: i64, amount: i64) -> Decision {
    let net = Network::<Message>::with_payload(Delivery::Unordered, Payload::visible());
    let from = Account::new(balance, -amount);
    let to = Account::new(0, amount);
    start(&net, [("from", from), ("to", to)], Bug::None).decide(1).await
}

//! A client of reliable channels: payments that are booked far away.
//!
//! It knows [`Channel`] and nothing else, so it can be tested over the abstraction and run over the implementation.

use super::{Channel, Value};
use delay::{announce, monitor::Monitor, sync::mpsc};

/// What payer and ledger announce.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Payment {
    /// The payer is about to pay so much.
    Attempted(Value),
    /// The payer takes it for paid.
    Confirmed(Value),
    /// The ledger knows of it.
    Booked(Value),
}

/// Pays these amounts one after the other, until the channel breaks; how much is paid for certain.
pub async fn pay(mut channel: impl Channel, amounts: &[Value]) -> Value {
    let mut paid = 0;
    for amount in amounts {
        announce(Payment::Attempted(*amount));
        if channel.send(*amount).await.is_err() {
            break;
        }
        announce(Payment::Confirmed(*amount));
        paid += amount;
    }
    paid
}

/// Books what arrives.
pub async fn book(mut arriving: mpsc::UnboundedReceiver<Value>) {
    while let Some(amount) = arriving.recv().await {
        announce(Payment::Booked(amount));
    }
}

/// Safety: nothing is booked that was not paid. Liveness: what the payer takes for paid is booked.
#[derive(Clone, Hash, Debug, Default)]
pub struct Books {
    attempted: Value,
    confirmed: Value,
    booked: Value,
}

impl Monitor for Books {
    type Event = Payment;

    fn on(&mut self, event: &Payment) -> Result<(), String> {
        match *event {
            Payment::Attempted(amount) => self.attempted += amount,
            Payment::Confirmed(amount) => self.confirmed += amount,
            Payment::Booked(amount) => self.booked += amount,
        }
        let Self { attempted, booked, .. } = self;
        if booked > attempted {
            return Err(format!("{booked} are booked, but only {attempted} were paid"));
        }
        Ok(())
    }

    fn is_hot(&self) -> bool {
        self.booked < self.confirmed
    }
}

//! What sender and receiver do.
//!
//! Packets may be lost, repeated and reordered. The sender repeats a packet until it is acknowledged, and sends the next only
//! then; numbers tell the receiver which packets it has seen.

use super::{Broken, Bug, Channel, Progress, Value};
use delay::{
    announce, checkpoint,
    net::{Address, Endpoint},
    sync::mpsc,
    time::{Duration, timeout},
};

/// How often a packet is sent before the sender gives up.
const ATTEMPTS: u32 = 2;

/// How long the sender waits for an acknowledgement.
const PATIENCE: Duration = Duration::from_secs(1);

/// What goes over the network.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Packet {
    /// To the receiver: the value with this number, from 0.
    Data(u32, Value),
    /// To the sender: the value with this number has arrived.
    Ack(u32),
}

/// The sending end.
#[derive(Debug)]
pub struct Sender {
    endpoint: Endpoint<Packet>,
    to: Address,
    /// Of the next value.
    number: u32,
    is_broken: bool,
    bug: Bug,
}

impl Sender {
    /// A sender to the receiver at `to`, which has no other.
    pub fn new(endpoint: Endpoint<Packet>, to: Address, bug: Bug) -> Self {
        Self { endpoint, to, number: 0, is_broken: false, bug }
    }

    /// Sends the packet again and again; whether it is known to have arrived.
    async fn deliver(&mut self, value: Value) -> bool {
        for _ in 0..ATTEMPTS {
            // A receiver that is gone is one that does not answer.
            let _ = self.endpoint.send(self.to, Packet::Data(self.number, value)).await;
            if timeout(PATIENCE, self.acknowledged()).await.is_ok() {
                return true;
            }
        }
        false
    }

    async fn acknowledged(&mut self) {
        loop {
            match self.endpoint.recv().await.message {
                Packet::Ack(number) if number == self.number || self.bug == Bug::CountsStaleAcks => return,
                // Once more for an earlier packet, or not for a sender.
                Packet::Ack(_) | Packet::Data(..) => {}
            }
        }
    }
}

impl Channel for Sender {
    async fn send(&mut self, value: Value) -> Result<(), Broken> {
        if self.is_broken {
            return Err(Broken);
        }
        announce(Progress::Sent(value));
        if self.deliver(value).await || self.bug == Bug::GivesUpSilently {
            self.number += 1;
            return Ok(());
        }
        self.is_broken = true;
        announce(Progress::GaveUp);
        Err(Broken)
    }
}

/// The receiving end: delivers to its host until that is gone.
pub async fn receive(mut endpoint: Endpoint<Packet>, host: mpsc::UnboundedSender<Value>, bug: Bug) {
    let mut expected = 0;
    loop {
        checkpoint(&(expected, bug));
        let packet = endpoint.recv().await;
        let Packet::Data(number, value) = packet.message else { continue };
        if number == expected || bug == Bug::DeliversAgain {
            announce(Progress::Delivered(value));
            if host.send(value).is_err() {
                return;
            }
            expected = number + 1;
        }
        if number < expected {
            // It may be the acknowledgement that was lost. A sender that is gone needs none.
            let _ = endpoint.send(packet.from, Packet::Ack(number)).await;
        }
    }
}

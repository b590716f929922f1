//! All that a client of a reliable channel may rely on, and nothing of how it is done.

use super::{Broken, Channel, Progress, Value};
use delay::{announce, choose, sync::mpsc, task};

/// A channel without a network: what is sent is delivered in the same moment, or the channel breaks.
#[derive(Debug)]
pub struct Abstraction {
    host: mpsc::UnboundedSender<Value>,
    is_broken: bool,
}

impl Abstraction {
    /// A channel to this host.
    pub fn new(host: mpsc::UnboundedSender<Value>) -> Self {
        Self { host, is_broken: false }
    }

    fn give_up(&mut self) -> Broken {
        self.is_broken = true;
        announce(Progress::GaveUp);
        Broken
    }
}

impl Channel for Abstraction {
    async fn send(&mut self, value: Value) -> Result<(), Broken> {
        if self.is_broken {
            return Err(Broken);
        }
        announce(Progress::Sent(value));
        match choose(4).await {
            0 => {
                deliver(&self.host, value);
                Ok(())
            }
            1 => Err(self.give_up()),
            // It has arrived, and nobody knows.
            2 => {
                deliver(&self.host, value);
                Err(self.give_up())
            }
            // It arrives when nobody expects it any more.
            _ => {
                let host = self.host.clone();
                task::spawn_named("the last packet", async move { deliver(&host, value) });
                Err(self.give_up())
            }
        }
    }
}

fn deliver(host: &mpsc::UnboundedSender<Value>, value: Value) {
    announce(Progress::Delivered(value));
    // A host that is gone misses nothing.
    let _ = host.send(value);
}

//! What waits to be sent to another node: bounded by bytes, in order.
//!
//! Invariant: a send waits only while the node is connected, and a connection through which nothing can be written is given up; so no
//! send waits for ever. What finds no room in the queue of a node that is not connected is lost, as a partition loses it.

use super::{Limits, wire};
use crate::api::net::{Address, Envelope, Unsent};
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

/// A frame on its way. It keeps its room until it is written.
pub(super) struct Outgoing {
    pub(super) frame: Vec<u8>,
    pub(super) room: OwnedSemaphorePermit,
}

/// The sending end of the queue to a node.
pub(super) struct Queue {
    node: String,
    room: Arc<Semaphore>,
    frames: mpsc::UnboundedSender<Outgoing>,
    frame_bytes_max: Arc<AtomicUsize>,
    connected: watch::Receiver<bool>,
    /// How many messages were lost since the node was last connected.
    lost: Arc<AtomicU64>,
}

/// The other end.
pub(super) struct Drain {
    pub(super) frames: mpsc::UnboundedReceiver<Outgoing>,
    pub(super) connected: watch::Sender<bool>,
    pub(super) lost: Arc<AtomicU64>,
    /// What the node was last known to accept, and we may send.
    pub(super) frame_bytes_max: Arc<AtomicUsize>,
    room: Arc<Semaphore>,
}

impl Drain {
    /// Takes nothing more; what is queued can still be had.
    pub(super) fn close(&mut self) {
        self.room.close();
        self.frames.close();
    }
}

impl Queue {
    pub(super) fn new(node: &str, limits: &Limits) -> (Arc<Self>, Drain) {
        let (sender, frames) = mpsc::unbounded_channel();
        let (up, connected) = watch::channel(false);
        let lost = Arc::new(AtomicU64::new(0));
        let room = Arc::new(Semaphore::new(limits.queue_bytes_max));
        let frame_bytes_max = Arc::new(AtomicUsize::new(limits.frame_bytes_max));
        let drain = Drain {
            frames,
            connected: up,
            lost: Arc::clone(&lost),
            frame_bytes_max: Arc::clone(&frame_bytes_max),
            room: Arc::clone(&room),
        };
        (Arc::new(Self { node: node.to_owned(), room, frames: sender, frame_bytes_max, connected, lost }), drain)
    }

    fn put(self: &Arc<Self>, frame: Vec<u8>) -> Put {
        let cost = Limits::cost(frame.len());
        if let Ok(room) = Arc::clone(&self.room).try_acquire_many_owned(cost) {
            self.push(frame, room);
            return Put::Done;
        }
        if !*self.connected.borrow() || self.room.is_closed() {
            self.lose();
            return Put::Done;
        }
        let queue = Arc::clone(self);
        Put::Waits(Box::pin(async move {
            let mut connected = queue.connected.clone();
            let room = tokio::select! {
                biased;
                room = Arc::clone(&queue.room).acquire_many_owned(cost) => room.ok(),
                _ = connected.wait_for(|connected| !*connected) => None,
            };
            match room {
                Some(room) => queue.push(frame, room),
                None => queue.lose(),
            }
        }))
    }

    fn push(&self, frame: Vec<u8>, room: OwnedSemaphorePermit) {
        if self.frames.send(Outgoing { frame, room }).is_err() {
            self.lose();
        }
    }

    fn lose(&self) {
        // One event for each time the node is away: a flood of messages is no flood of events.
        if self.lost.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!(
                node = self.node,
                "messages are lost: the node is not connected and its queue is full, or closed"
            );
        }
    }
}

/// What became of a message.
pub(in crate::api::net) enum Put {
    /// It is queued, or lost.
    Done,
    /// It waits for room.
    Waits(Pin<Box<dyn Future<Output = ()> + Send + Sync>>),
}

/// What leads to an endpoint of another node.
pub(in crate::api::net) struct Lane<M> {
    pub(super) queue: Arc<Queue>,
    pub(super) to: Address,
    /// Knows how a message is serialised, which the network's type does not.
    pub(super) encode: Encode<M>,
}

/// Makes a frame of at most so many bytes.
type Encode<M> = fn(&str, &str, &M, usize) -> Result<Vec<u8>, Unsent>;

impl<M> Lane<M> {
    /// Which node it leads to.
    pub(in crate::api::net) fn node(&self) -> &str {
        &self.queue.node
    }

    /// Queues a message.
    pub(in crate::api::net) fn put(&self, envelope: &Envelope<M>) -> Result<Put, Unsent> {
        let Envelope { from, message } = envelope;
        let bytes_max = self.queue.frame_bytes_max.load(Ordering::Relaxed);
        Ok(self.queue.put((self.encode)(from.name(), self.to.name(), message, bytes_max)?))
    }
}

impl<M: serde::Serialize> Lane<M> {
    pub(super) fn new(queue: &Arc<Queue>, to: Address) -> Self {
        Self { queue: Arc::clone(queue), to, encode: wire::frame::<M> }
    }
}

//! Every value to every receiver that keeps up. Mirrors `tokio::sync::broadcast`.
//!
//! Receiving, and waiting for the receivers to be gone, are awaited ops; everything else is immediate. Invariant: the
//! values here are those of the messages that the World keeps, and a value is dropped once no receiver can get it.

use super::weak::Weak;
use crate::{
    api::{
        backend::{self, Side},
        leaf::Leaf,
        payload::{Payload, View},
    },
    ids::{Message, Object},
    world::{
        World,
        op::{Op, Site},
        shared::{Ask, again::SharedLook},
    },
};
use error::SendError;
use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    panic::Location,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::broadcast as theirs;

/// What can go wrong.
pub mod error {
    pub use tokio::sync::broadcast::error::{RecvError, SendError, TryRecvError};
}

mod receiver;

use receiver::Listener;
pub use receiver::Receiver;

/// A broadcast of values that are opaque to the engine, which keeps the last `capacity`, rounded up to a power of two.
///
/// # Panics
/// If `capacity` is 0 or more than half of `usize::MAX`, as tokio's.
///
/// ```
/// # use delay_core::api::sync::broadcast;
/// async fn body() {
///     let (sender, mut one) = broadcast::channel(2);
///     let mut other = sender.subscribe();
///     assert_eq!(sender.send(1).ok(), Some(2));
///     assert_eq!((one.recv().await, other.recv().await), (Ok(1), Ok(1)));
/// }
/// ```
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    channel_with(capacity, Payload::opaque())
}

/// A broadcast, and what the engine may know of its values.
///
/// # Panics
/// As [`channel`].
#[track_caller]
pub fn channel_with<T: Clone>(capacity: usize, payload: Payload<T>) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::with_payload(capacity, payload);
    let receiver = sender.subscribe();
    (sender, receiver)
}

/// The values and what the engine knows of them. Shared by all handles.
struct Core<T> {
    object: Object,
    execution: u64,
    payload: Payload<T>,
    values: Mutex<VecDeque<(Message, T)>>,
    weak_senders: Weak,
}

impl<T> Core<T> {
    #[track_caller]
    fn now<R>(&self, op: impl FnOnce(&mut World, Object) -> R) -> R {
        backend::within(self.execution, |context| op(&mut context.world, self.object))
    }

    #[track_caller]
    fn look(&self, look: SharedLook) -> usize {
        self.now(|world, object| world.look_at_shared(object, look)) as usize
    }

    fn add_sender(&self) {
        backend::within_if(self.execution, |context| context.world.add_shared_sender(self.object));
    }

    fn values(&self) -> MutexGuard<'_, VecDeque<(Message, T)>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[track_caller]
    fn sender_count(&self) -> usize {
        self.look(SharedLook::Senders)
    }

    #[track_caller]
    fn weak_sender_count(&self) -> usize {
        let count = self.weak_senders.count();
        self.now(|world, object| world.look_beyond_shared(object, count)) as usize
    }

    /// Drops the values that no receiver can get any more.
    fn trim(&self) {
        let Some(kept) = backend::within_if(self.execution, |context| context.world.broadcast(self.object).kept())
        else {
            return;
        };
        let mut values = self.values();
        let over = values.len().saturating_sub(kept);
        let gone: Vec<_> = values.drain(..over).collect();
        drop(values);
        // Dropped outside the lock: a value's destructor is the user's code.
        drop(gone);
    }

    #[track_caller]
    fn send(&self, value: T, site: Site) -> Result<usize, SendError<T>> {
        let content = self.payload.content(&value);
        let sent = self.now(|world, object| world.send_to_all(object, content));
        let Some((message, receivers)) = sent else {
            self.record(site, || format!("cannot send {} to", self.payload.text(&value)));
            return Err(SendError(value));
        };
        self.record(site, || format!("sends {} to", self.payload.text(&value)));
        self.values().push_back((message, value));
        self.trim();
        Ok(receivers)
    }

    #[track_caller]
    fn record(&self, site: Site, what: impl FnOnce() -> String) {
        if !backend::within(self.execution, |context| context.recorder.is_some()) {
            return;
        }
        // The value's `Debug` is the user's code, which runs outside.
        let what = what();
        backend::within(self.execution, |context| {
            context.record(site, |context| format!("{what} {}", context.labels.object(&context.world, self.object)));
        });
    }
}

impl<T: Clone> Core<T> {
    fn copy(&self, message: Message) -> T {
        let values = self.values();
        let found = values.iter().find(|(other, _)| *other == message);
        found.map_or_else(|| crate::bug!("message {message:?} has no value"), |(_, value)| value.clone())
    }
}

/// Sends to every receiver.
///
/// ```
/// # use delay_core::api::sync::broadcast::Sender;
/// async fn body() {
///     let sender = Sender::new(4);
///     assert!(sender.send(1).is_err(), "nobody receives");
///     let mut receiver = sender.subscribe();
///     assert_eq!(sender.send(2).ok(), Some(1));
///     assert_eq!(receiver.recv().await, Ok(2));
/// }
/// ```
pub struct Sender<T> {
    inner: Side<Arc<Core<T>>, theirs::Sender<T>>,
}

impl<T> Sender<T> {
    /// A sender without a receiver.
    ///
    /// # Panics
    /// As [`channel`].
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        Self::with_payload(capacity, Payload::opaque())
    }

    #[track_caller]
    fn with_payload(capacity: usize, payload: Payload<T>) -> Self {
        assert!(capacity > 0, "broadcast channel capacity cannot be zero");
        assert!(capacity <= usize::MAX >> 1, "broadcast channel capacity exceeded `usize::MAX / 2`");
        let made = backend::choose(
            |context| {
                let object = context.world.create_broadcast(capacity.next_power_of_two() as u64);
                context.labels.name_object(object, "broadcast", None);
                (object, context.execution)
            },
            || theirs::Sender::new(capacity),
        );
        let inner = match made {
            Side::Controlled((object, execution)) => {
                let (values, weak_senders) = (Mutex::new(VecDeque::new()), Weak::new());
                Side::Controlled(Arc::new(Core { object, execution, payload, values, weak_senders }))
            }
            Side::Tokio(sender) => Side::Tokio(sender),
        };
        Self { inner }
    }

    /// Sends to every receiver there is; returns how many there are.
    ///
    /// # Errors
    /// The value, if there is no receiver.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        match &self.inner {
            Side::Controlled(core) => core.send(value, Location::caller()),
            Side::Tokio(sender) => sender.send(value),
        }
    }

    /// Another receiver, which gets what is sent from now on.
    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        let inner = match &self.inner {
            Side::Controlled(core) => Side::Controlled(Listener::new(core)),
            Side::Tokio(sender) => Side::Tokio(sender.subscribe()),
        };
        Receiver { inner }
    }

    /// How many values some receiver can still get. An observation.
    #[track_caller]
    pub fn len(&self) -> usize {
        match &self.inner {
            Side::Controlled(core) => core.look(SharedLook::Kept),
            Side::Tokio(sender) => sender.len(),
        }
    }

    /// Whether there is no value that some receiver can still get. An observation.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many receivers there are. An observation.
    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        match &self.inner {
            Side::Controlled(core) => core.look(SharedLook::Receivers),
            Side::Tokio(sender) => sender.receiver_count(),
        }
    }

    /// A sender that does not keep the broadcast open.
    #[must_use = "a weak sender that is dropped does nothing"]
    pub fn downgrade(&self) -> WeakSender<T> {
        let inner = match &self.inner {
            Side::Controlled(core) => {
                core.weak_senders.add();
                Side::Controlled(Arc::clone(core))
            }
            Side::Tokio(sender) => Side::Tokio(sender.downgrade()),
        };
        WeakSender { inner }
    }

    /// How many senders there are. An observation.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        match &self.inner {
            Side::Controlled(core) => core.sender_count(),
            Side::Tokio(sender) => sender.strong_count(),
        }
    }

    /// How many weak senders there are. An observation.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        match &self.inner {
            Side::Controlled(core) => core.weak_sender_count(),
            Side::Tokio(sender) => sender.weak_count(),
        }
    }

    /// Whether both send to the same receivers.
    pub fn same_channel(&self, other: &Self) -> bool {
        match (&self.inner, &other.inner) {
            (Side::Controlled(one), Side::Controlled(two)) => Arc::ptr_eq(one, two),
            (Side::Tokio(one), Side::Tokio(two)) => one.same_channel(two),
            (Side::Controlled(_), Side::Tokio(_)) | (Side::Tokio(_), Side::Controlled(_)) => false,
        }
    }

    /// Waits until there is no receiver. A scheduling point.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> + use<'_, T> {
        let site = Location::caller();
        async move {
            match &self.inner {
                Side::Controlled(core) => {
                    let mut leaf = Leaf::new(core.execution, site);
                    let op = || Op::Shared { object: core.object, ask: Ask::Deserted };
                    poll_fn(|cx| leaf.poll_with(cx, op, |_, _| ())).await;
                }
                Side::Tokio(sender) => sender.closed().await,
            }
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        let inner = match &self.inner {
            Side::Controlled(core) => {
                core.add_sender();
                Side::Controlled(Arc::clone(core))
            }
            Side::Tokio(sender) => Side::Tokio(sender.clone()),
        };
        Self { inner }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if let Side::Controlled(core) = &self.inner {
            backend::within_if(core.execution, |context| context.world.drop_shared_sender(core.object));
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// A sender that does not keep the broadcast open.
pub struct WeakSender<T> {
    inner: Side<Arc<Core<T>>, theirs::WeakSender<T>>,
}

impl<T> WeakSender<T> {
    /// A sender, unless every one is gone. An observation.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        let inner = match &self.inner {
            Side::Controlled(core) => {
                if !core.now(World::revive_shared_sender) {
                    return None;
                }
                Side::Controlled(Arc::clone(core))
            }
            Side::Tokio(sender) => Side::Tokio(sender.upgrade()?),
        };
        Some(Sender { inner })
    }

    /// How many senders there are. An observation.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        match &self.inner {
            Side::Controlled(core) => core.sender_count(),
            Side::Tokio(sender) => sender.strong_count(),
        }
    }

    /// How many weak senders there are. An observation.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        match &self.inner {
            Side::Controlled(core) => core.weak_sender_count(),
            Side::Tokio(sender) => sender.weak_count(),
        }
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        let inner = match &self.inner {
            Side::Controlled(core) => {
                core.weak_senders.add();
                Side::Controlled(Arc::clone(core))
            }
            Side::Tokio(sender) => Side::Tokio(sender.clone()),
        };
        Self { inner }
    }
}

impl<T> Drop for WeakSender<T> {
    fn drop(&mut self) {
        if let Side::Controlled(core) = &self.inner {
            core.weak_senders.remove();
        }
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender").finish_non_exhaustive()
    }
}

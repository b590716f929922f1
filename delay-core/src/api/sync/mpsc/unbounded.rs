//! Unbounded channels: a send never waits, so it is immediate, as tokio's.

use super::{
    ReceiverCore, Receiving, Recv, RecvMany, SenderCore, WeakCore, create,
    error::{SendError, TryRecvError},
    theirs,
};
use crate::{
    api::{
        backend::{self, Side},
        payload::Payload,
    },
    world::op::Site,
};
use std::{
    fmt,
    future::Future,
    panic::Location,
    sync::Arc,
    task::{self, Poll},
};

/// An unbounded channel; its values are opaque to the engine.
///
/// ```
/// # use delay_core::api::{sync::mpsc, task};
/// async fn body() {
///     let (sender, mut receiver) = mpsc::unbounded_channel();
///     for producer in 0..2 {
///         let sender = sender.clone();
///         task::spawn(async move { sender.send(producer).expect("the receiver is there") });
///     }
///     drop(sender);
///     let mut seen = Vec::new();
///     while let Some(producer) = receiver.recv().await {
///         seen.push(producer);
///     }
///     seen.sort();
///     assert_eq!(seen, [0, 1]);
/// }
/// ```
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    unbounded_channel_with(Payload::opaque())
}

/// An unbounded channel, and what the engine may know of its values.
#[track_caller]
pub fn unbounded_channel_with<T>(payload: Payload<T>) -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    match backend::choose(|context| create(context, u32::MAX, payload), theirs::unbounded_channel) {
        Side::Controlled((sender, receiver)) => (
            UnboundedSender { inner: Side::Controlled(sender) },
            UnboundedReceiver { inner: Side::Controlled(receiver) },
        ),
        Side::Tokio((sender, receiver)) => {
            (UnboundedSender { inner: Side::Tokio(sender) }, UnboundedReceiver { inner: Side::Tokio(receiver) })
        }
    }
}

/// Sends to an unbounded channel.
pub struct UnboundedSender<T> {
    inner: Side<SenderCore<T>, theirs::UnboundedSender<T>>,
}

impl<T> Clone for UnboundedSender<T> {
    fn clone(&self) -> Self {
        let inner = match &self.inner {
            Side::Controlled(sender) => Side::Controlled(sender.clone()),
            Side::Tokio(sender) => Side::Tokio(sender.clone()),
        };
        Self { inner }
    }
}

impl<T> fmt::Debug for UnboundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnboundedSender").finish_non_exhaustive()
    }
}

impl<T> UnboundedSender<T> {
    /// Sends a value: immediate, part of the running step.
    ///
    /// # Errors
    /// The value, if the receiver is gone.
    #[track_caller]
    #[inline]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        match &self.inner {
            Side::Controlled(SenderCore(core)) => {
                core.send_now(value, Location::caller()).map_err(|(value, _)| SendError(value))
            }
            Side::Tokio(sender) => sender.send(value),
        }
    }

    /// Waits until the receiver is closed or dropped. A scheduling point.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> + use<'_, T> {
        closed_on(&self.inner, Location::caller())
    }

    /// Whether the receiver was closed or dropped. An observation.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        match &self.inner {
            Side::Controlled(sender) => sender.is_closed(),
            Side::Tokio(sender) => sender.is_closed(),
        }
    }

    /// Whether both send to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        match (&self.inner, &other.inner) {
            (Side::Controlled(one), Side::Controlled(two)) => Arc::ptr_eq(&one.0, &two.0),
            (Side::Tokio(one), Side::Tokio(two)) => one.same_channel(two),
            (Side::Controlled(_), Side::Tokio(_)) | (Side::Tokio(_), Side::Controlled(_)) => false,
        }
    }

    /// A sender that does not keep the channel open.
    pub fn downgrade(&self) -> WeakUnboundedSender<T> {
        let inner = match &self.inner {
            Side::Controlled(sender) => Side::Controlled(sender.downgrade()),
            Side::Tokio(sender) => Side::Tokio(sender.downgrade()),
        };
        WeakUnboundedSender { inner }
    }

    /// How many senders there are. An observation.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        match &self.inner {
            Side::Controlled(sender) => sender.0.sender_count(),
            Side::Tokio(sender) => sender.strong_count(),
        }
    }

    /// How many weak senders there are. An observation.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        match &self.inner {
            Side::Controlled(sender) => sender.0.weak_sender_count(),
            Side::Tokio(sender) => sender.weak_count(),
        }
    }
}

async fn closed_on<T>(inner: &Side<SenderCore<T>, theirs::UnboundedSender<T>>, site: Site) {
    match inner {
        Side::Controlled(sender) => sender.closed(site).await,
        Side::Tokio(sender) => sender.closed().await,
    }
}

/// A sender of an unbounded channel that does not keep it open.
pub struct WeakUnboundedSender<T> {
    inner: Side<WeakCore<T>, theirs::WeakUnboundedSender<T>>,
}

impl<T> Clone for WeakUnboundedSender<T> {
    fn clone(&self) -> Self {
        let inner = match &self.inner {
            Side::Controlled(sender) => Side::Controlled(sender.clone()),
            Side::Tokio(sender) => Side::Tokio(sender.clone()),
        };
        Self { inner }
    }
}

impl<T> fmt::Debug for WeakUnboundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakUnboundedSender").finish_non_exhaustive()
    }
}

impl<T> WeakUnboundedSender<T> {
    /// A sender, unless every one is gone. An observation.
    #[track_caller]
    pub fn upgrade(&self) -> Option<UnboundedSender<T>> {
        let inner = match &self.inner {
            Side::Controlled(sender) => Side::Controlled(sender.upgrade()?),
            Side::Tokio(sender) => Side::Tokio(sender.upgrade()?),
        };
        Some(UnboundedSender { inner })
    }

    /// How many senders there are. An observation.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        match &self.inner {
            Side::Controlled(sender) => sender.0.sender_count(),
            Side::Tokio(sender) => sender.strong_count(),
        }
    }

    /// How many weak senders there are. An observation.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        match &self.inner {
            Side::Controlled(sender) => sender.0.weak_sender_count(),
            Side::Tokio(sender) => sender.weak_count(),
        }
    }
}

/// Receives from an unbounded channel.
pub struct UnboundedReceiver<T> {
    inner: Side<ReceiverCore<T>, theirs::UnboundedReceiver<T>>,
}

impl<T> fmt::Debug for UnboundedReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnboundedReceiver").finish_non_exhaustive()
    }
}

impl<T> UnboundedReceiver<T> {
    #[inline]
    fn start(&mut self, site: Site) -> Receiving<'_, T, theirs::UnboundedReceiver<T>> {
        match &mut self.inner {
            Side::Controlled(receiver) => Side::Controlled(receiver.start(site)),
            Side::Tokio(receiver) => Side::Tokio(receiver),
        }
    }

    super::receiver_methods!(theirs::UnboundedReceiver<T>);
}

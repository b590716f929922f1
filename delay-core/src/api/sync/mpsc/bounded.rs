//! Bounded channels: a send waits for room.

use super::{
    OwnedPermit, Permit, ReceiverCore, Receiving, Recv, RecvMany, SenderCore, WeakCore, create,
    error::{SendError, SendTimeoutError, TryRecvError, TrySendError},
    permit::{reserve, reserve_on, reserve_owned_on},
    theirs,
};
use crate::{
    api::{
        backend::{self, Side},
        leaf::Leaf,
        payload::{Payload, View},
        sync::mailbox::{Core, Parcel},
        time::{self, Duration},
    },
    world::{
        look::Look,
        op::{Immediate, Site},
    },
};
use std::{
    fmt,
    future::Future,
    panic::Location,
    pin::Pin,
    sync::Arc,
    task::{self, Poll},
};

/// A bounded channel; its values are opaque to the engine.
///
/// # Panics
/// If `buffer` is 0, as tokio's.
///
/// ```
/// # use delay_core::api::{sync::mpsc, task};
/// async fn body() {
///     let (sender, mut receiver) = mpsc::channel(1);
///     task::spawn(async move {
///         sender.send("one").await.expect("the receiver is there");
///         sender.send("two").await.expect("the receiver is there");
///     });
///     assert_eq!(receiver.recv().await, Some("one"));
///     assert_eq!(receiver.recv().await, Some("two"));
///     assert_eq!(receiver.recv().await, None);
/// }
/// ```
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    channel_with(buffer, Payload::opaque())
}

/// A bounded channel, and what the engine may know of its values.
///
/// # Panics
/// If `buffer` is 0, as tokio's.
#[track_caller]
pub fn channel_with<T>(buffer: usize, payload: Payload<T>) -> (Sender<T>, Receiver<T>) {
    assert!(buffer > 0, "mpsc bounded channel requires buffer > 0");
    // u32::MAX means unbounded; nobody fills a channel of four billion.
    let capacity = u32::try_from(buffer).unwrap_or(u32::MAX).min(u32::MAX - 1);
    match backend::choose(|context| create(context, capacity, payload), || theirs::channel(buffer)) {
        Side::Controlled((sender, receiver)) => {
            (Sender { inner: Side::Controlled(sender) }, Receiver { inner: Side::Controlled(receiver) })
        }
        Side::Tokio((sender, receiver)) => {
            (Sender { inner: Side::Tokio(sender) }, Receiver { inner: Side::Tokio(receiver) })
        }
    }
}

/// Sends to a bounded channel.
pub struct Sender<T> {
    inner: Side<SenderCore<T>, theirs::Sender<T>>,
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        let inner = match &self.inner {
            Side::Controlled(sender) => Side::Controlled(sender.clone()),
            Side::Tokio(sender) => Side::Tokio(sender.clone()),
        };
        Self { inner }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> Sender<T> {
    pub(super) fn controlled(sender: SenderCore<T>) -> Self {
        Self { inner: Side::Controlled(sender) }
    }

    pub(super) fn tokio(sender: theirs::Sender<T>) -> Self {
        Self { inner: Side::Tokio(sender) }
    }

    pub(super) fn side(&self) -> &Side<SenderCore<T>, theirs::Sender<T>> {
        &self.inner
    }

    /// Sends a value, waiting for room. A scheduling point.
    ///
    /// # Errors
    /// The value, if the receiver is gone.
    #[track_caller]
    #[inline]
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> + use<'_, T> {
        send_on(&self.inner, value, Location::caller())
    }

    /// Sends without waiting: immediate.
    ///
    /// # Errors
    /// The value, if there is no room or the receiver is gone.
    #[track_caller]
    #[inline]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        match &self.inner {
            Side::Controlled(SenderCore(core)) => {
                core.send_now(value, Location::caller()).map_err(|(value, why)| refused(why, value))
            }
            Side::Tokio(sender) => sender.try_send(value),
        }
    }

    /// Sends a value, waiting for room, but not longer than this. A scheduling point.
    ///
    /// # Errors
    /// The value, if the time is up or the receiver is gone.
    #[track_caller]
    pub fn send_timeout(
        &self,
        value: T,
        timeout: Duration,
    ) -> impl Future<Output = Result<(), SendTimeoutError<T>>> + use<'_, T> {
        send_timeout_on(&self.inner, value, timeout, Location::caller())
    }

    /// Sends from code that is not async, blocking the thread.
    ///
    /// # Errors
    /// The value, if the receiver is gone.
    ///
    /// # Panics
    /// In a controlled execution, and on a thread of a tokio runtime.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        backend::refuse_blocking("blocking_send", "send(..).await");
        match &self.inner {
            Side::Controlled(_) => backend::misplaced(),
            Side::Tokio(sender) => sender.blocking_send(value),
        }
    }

    /// Waits for room and holds it. A scheduling point.
    ///
    /// # Errors
    /// If the receiver is gone.
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> + use<'_, T> {
        reserve_on(&self.inner, Location::caller())
    }

    /// Takes room without waiting: immediate.
    ///
    /// # Errors
    /// If there is no room or the receiver is gone.
    #[track_caller]
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        match &self.inner {
            Side::Controlled(sender) => match sender.0.reserve_now(Location::caller()) {
                Ok(()) => Ok(Permit::controlled(&sender.0)),
                Err(why) => Err(refused(why, ())),
            },
            Side::Tokio(sender) => sender.try_reserve().map(Permit::tokio),
        }
    }

    /// Waits for room and holds it together with the sender. A scheduling point.
    ///
    /// # Errors
    /// If the receiver is gone.
    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> + use<T> {
        reserve_owned_on(self.inner, Location::caller())
    }

    /// As [`Sender::reserve_owned`], asked for at `site`.
    pub(crate) fn reserve_owned_at(
        self,
        site: Site,
    ) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> + use<T> {
        reserve_owned_on(self.inner, site)
    }

    /// Takes room without waiting and holds it together with the sender: immediate.
    ///
    /// # Errors
    /// The sender, if there is no room or the receiver is gone.
    #[track_caller]
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        match self.inner {
            Side::Controlled(sender) => match sender.0.reserve_now(Location::caller()) {
                Ok(()) => Ok(OwnedPermit::controlled(sender)),
                Err(why) => Err(refused(why, Self { inner: Side::Controlled(sender) })),
            },
            Side::Tokio(sender) => match sender.try_reserve_owned() {
                Ok(permit) => Ok(OwnedPermit::tokio(permit)),
                Err(TrySendError::Full(sender)) => Err(TrySendError::Full(Self { inner: Side::Tokio(sender) })),
                Err(TrySendError::Closed(sender)) => Err(TrySendError::Closed(Self { inner: Side::Tokio(sender) })),
            },
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

    /// How many values could be sent without waiting. An observation.
    #[track_caller]
    pub fn capacity(&self) -> usize {
        match &self.inner {
            Side::Controlled(sender) => sender.0.look(Look::Room) as usize,
            Side::Tokio(sender) => sender.capacity(),
        }
    }

    /// How many values the channel holds at most.
    #[track_caller]
    pub fn max_capacity(&self) -> usize {
        match &self.inner {
            Side::Controlled(sender) => sender.0.capacity(),
            Side::Tokio(sender) => sender.max_capacity(),
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
    pub fn downgrade(&self) -> WeakSender<T> {
        let inner = match &self.inner {
            Side::Controlled(sender) => Side::Controlled(sender.downgrade()),
            Side::Tokio(sender) => Side::Tokio(sender.downgrade()),
        };
        WeakSender { inner }
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

/// Why an immediate send was refused, in tokio's words.
fn refused<E>(why: Immediate, what: E) -> TrySendError<E> {
    match why {
        Immediate::Closed => TrySendError::Closed(what),
        Immediate::Done(_) | Immediate::Empty | Immediate::Full => TrySendError::Full(what),
    }
}

async fn send_on<T>(inner: &Side<SenderCore<T>, theirs::Sender<T>>, value: T, site: Site) -> Result<(), SendError<T>> {
    match inner {
        Side::Controlled(SenderCore(core)) => Sending::new(core, value, site).await.map_err(SendError),
        // What tokio's `send` does: to await that would be one future more within this one, for each message.
        Side::Tokio(sender) => match sender.reserve().await {
            Ok(permit) => {
                permit.send(value);
                Ok(())
            }
            Err(SendError(())) => Err(SendError(value)),
        },
    }
}

async fn send_timeout_on<T>(
    inner: &Side<SenderCore<T>, theirs::Sender<T>>,
    value: T,
    timeout: Duration,
    site: Site,
) -> Result<(), SendTimeoutError<T>> {
    match inner {
        // The value stays here until there is room, so that it can be given back.
        Side::Controlled(sender) => match time::timeout(timeout, reserve(&sender.0, site)).await {
            Ok(Ok(())) => {
                sender.0.send_reserved(value, site);
                Ok(())
            }
            Ok(Err(SendError(()))) => Err(SendTimeoutError::Closed(value)),
            Err(_) => Err(SendTimeoutError::Timeout(value)),
        },
        Side::Tokio(sender) => sender.send_timeout(value, timeout).await,
    }
}

async fn closed_on<T>(inner: &Side<SenderCore<T>, theirs::Sender<T>>, site: Site) {
    match inner {
        Side::Controlled(sender) => sender.closed(site).await,
        Side::Tokio(sender) => sender.closed().await,
    }
}

/// A sender of a bounded channel that does not keep it open.
pub struct WeakSender<T> {
    inner: Side<WeakCore<T>, theirs::WeakSender<T>>,
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        let inner = match &self.inner {
            Side::Controlled(sender) => Side::Controlled(sender.clone()),
            Side::Tokio(sender) => Side::Tokio(sender.clone()),
        };
        Self { inner }
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender").finish_non_exhaustive()
    }
}

impl<T> WeakSender<T> {
    /// A sender, unless every one is gone. An observation.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        match &self.inner {
            Side::Controlled(sender) => sender.upgrade().map(Sender::controlled),
            Side::Tokio(sender) => sender.upgrade().map(Sender::tokio),
        }
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

/// Receives from a bounded channel.
pub struct Receiver<T> {
    inner: Side<ReceiverCore<T>, theirs::Receiver<T>>,
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

impl<T> Receiver<T> {
    #[inline]
    fn start(&mut self, site: Site) -> Receiving<'_, T, theirs::Receiver<T>> {
        match &mut self.inner {
            Side::Controlled(receiver) => Side::Controlled(receiver.start(site)),
            Side::Tokio(receiver) => Side::Tokio(receiver),
        }
    }

    /// How many values could be sent without waiting. An observation.
    #[track_caller]
    pub fn capacity(&self) -> usize {
        match &self.inner {
            Side::Controlled(receiver) => receiver.core.look(Look::Room) as usize,
            Side::Tokio(receiver) => receiver.capacity(),
        }
    }

    /// How many values the channel holds at most.
    #[track_caller]
    pub fn max_capacity(&self) -> usize {
        match &self.inner {
            Side::Controlled(receiver) => receiver.core.capacity(),
            Side::Tokio(receiver) => receiver.max_capacity(),
        }
    }

    super::receiver_methods!(theirs::Receiver<T>);
}

/// An awaited send. `Err` gives the value back.
struct Sending<'a, T, V = Payload<T>> {
    core: &'a Core<T, V>,
    leaf: Leaf,
    parcel: Parcel<T>,
}

// The value is moved out, never pinned.
impl<T, V> Unpin for Sending<'_, T, V> {}

impl<'a, T, V: View<T>> Sending<'a, T, V> {
    fn new(core: &'a Core<T, V>, value: T, site: Site) -> Self {
        Self { core, leaf: Leaf::new(core.execution, site), parcel: Parcel::new(value) }
    }
}

impl<T, V: View<T>> Future for Sending<'_, T, V> {
    type Output = Result<(), T>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        let Self { core, leaf, parcel } = self.get_mut();
        core.poll_send(leaf, parcel, cx)
    }
}

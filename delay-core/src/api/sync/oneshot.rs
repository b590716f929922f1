//! One value from one task to another. Mirrors `tokio::sync::oneshot`.
//!
//! Sending is immediate; receiving, and waiting for the receiver to go away, are awaited ops.

use super::mailbox::{Core, Kind};
use crate::{
    api::{
        backend::{self, Side},
        leaf::Leaf,
        payload::Payload,
    },
    world::{
        look::Look,
        mailbox::Reception,
        op::{Immediate, Site},
        words::Delivery,
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
use tokio::sync::oneshot as theirs;

/// What can go wrong.
pub mod error {
    use std::fmt;

    /// The sender was dropped without sending.
    #[derive(Debug, Eq, PartialEq, Clone)]
    pub struct RecvError(pub(super) ());

    impl fmt::Display for RecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }

    impl std::error::Error for RecvError {}

    /// Why nothing was received without waiting.
    #[derive(Debug, Eq, PartialEq, Clone)]
    pub enum TryRecvError {
        /// Nothing was sent yet.
        Empty,
        /// Nothing will be sent any more, or the value was received before.
        Closed,
    }

    impl fmt::Display for TryRecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(match self {
                Self::Empty => "channel empty",
                Self::Closed => "channel closed",
            })
        }
    }

    impl std::error::Error for TryRecvError {}
}

use error::{RecvError, TryRecvError};

/// A channel for one value, opaque to the engine.
///
/// ```
/// # use delay_core::api::{sync::oneshot, task};
/// async fn body() {
///     let (reply, answer) = oneshot::channel();
///     task::spawn(async move { reply.send(42).expect("somebody waits for it") });
///     assert_eq!(answer.await, Ok(42));
/// }
/// ```
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    channel_with(Payload::opaque())
}

/// A channel for one value, and what the engine may know of it.
#[track_caller]
pub fn channel_with<T>(payload: Payload<T>) -> (Sender<T>, Receiver<T>) {
    let site = Location::caller();
    // Never full, so its capacity decides nothing.
    let kind =
        Kind { delivery: Delivery::Fifo, capacity: u32::MAX, word: "oneshot", one_message: true, is_networked: false };
    match backend::choose(|context| Core::create(context, &kind, payload, None), theirs::channel) {
        Side::Controlled(core) => {
            let (execution, sending) = (core.execution, SenderCore { core: Arc::clone(&core), leaf: None });
            let receiving = ReceiverCore { core, leaf: Leaf::new(execution, site), site, over: false };
            (Sender { inner: Side::Controlled(sending) }, Receiver { inner: Side::Controlled(receiving) })
        }
        Side::Tokio((sender, receiver)) => {
            (Sender { inner: Side::Tokio(sender) }, Receiver { inner: Side::Tokio(receiver) })
        }
    }
}

struct SenderCore<T> {
    core: Arc<Core<T>>,
    /// Waiting for the receiver to go away, begun by `poll_closed`.
    leaf: Option<Leaf>,
}

impl<T> Drop for SenderCore<T> {
    fn drop(&mut self) {
        self.leaf = None;
        self.core.drop_sender();
    }
}

/// Sends the value.
pub struct Sender<T> {
    inner: Side<SenderCore<T>, theirs::Sender<T>>,
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> Sender<T> {
    /// Sends the value: immediate.
    ///
    /// # Errors
    /// The value, if the receiver is closed or dropped.
    #[track_caller]
    #[inline]
    pub fn send(self, value: T) -> Result<(), T> {
        match self.inner {
            Side::Controlled(sender) => sender.core.send_now(value, Location::caller()).map_err(|(value, _)| value),
            Side::Tokio(sender) => sender.send(value),
        }
    }

    /// Waits until the receiver is closed or dropped. A scheduling point.
    #[track_caller]
    pub fn closed(&mut self) -> Closed<'_, T> {
        Closed { sender: self, site: Location::caller() }
    }

    /// Whether the receiver was closed or dropped. An observation.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        match &self.inner {
            Side::Controlled(sender) => sender.core.look(Look::IsClosed) != 0,
            Side::Tokio(sender) => sender.is_closed(),
        }
    }

    /// Polls until the receiver is closed or dropped, for hand-written futures.
    #[track_caller]
    pub fn poll_closed(&mut self, cx: &mut task::Context<'_>) -> Poll<()> {
        self.poll_closed_at(cx, Location::caller())
    }

    fn poll_closed_at(&mut self, cx: &mut task::Context<'_>, site: Site) -> Poll<()> {
        match &mut self.inner {
            Side::Controlled(SenderCore { core, leaf }) => {
                let waiting = leaf.get_or_insert_with(|| Leaf::new(core.execution, site));
                task::ready!(core.poll_closed(waiting, cx));
                *leaf = None;
                Poll::Ready(())
            }
            Side::Tokio(sender) => sender.poll_closed(cx),
        }
    }
}

/// Future of [`Sender::closed`].
#[must_use = "futures do nothing unless awaited"]
pub struct Closed<'a, T> {
    sender: &'a mut Sender<T>,
    site: Site,
}

impl<T> fmt::Debug for Closed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closed").finish_non_exhaustive()
    }
}

impl<T> Future for Closed<'_, T> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let Self { sender, site } = self.get_mut();
        sender.poll_closed_at(cx, site)
    }
}

impl<T> Drop for Closed<'_, T> {
    fn drop(&mut self) {
        if let Side::Controlled(sender) = &mut self.sender.inner {
            sender.leaf = None;
        }
    }
}

struct ReceiverCore<T> {
    core: Arc<Core<T>>,
    leaf: Leaf,
    site: Site,
    /// The result was seen: as a future it is complete.
    over: bool,
}

impl<T> Drop for ReceiverCore<T> {
    fn drop(&mut self) {
        self.give_up();
        self.core.drop_receiver(if self.over { Reception::Over } else { Reception::Open });
    }
}

impl<T> ReceiverCore<T> {
    /// Stops waiting; a value that was granted and not looked at goes back.
    fn give_up(&mut self) {
        self.leaf = Leaf::new(self.core.execution, self.site);
    }
}

/// Receives the value: a future.
#[must_use = "futures do nothing unless awaited"]
pub struct Receiver<T> {
    inner: Side<ReceiverCore<T>, theirs::Receiver<T>>,
}

// The value comes out of the channel; nothing is pinned.
impl<T> Unpin for Receiver<T> {}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

impl<T> Receiver<T> {
    /// Receives without waiting: immediate.
    ///
    /// # Errors
    /// If nothing was sent yet, or nothing can come any more.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        match &mut self.inner {
            Side::Controlled(receiver) => {
                receiver.give_up();
                let received = receiver.core.receive_now(Location::caller());
                receiver.over = !matches!(received, Err(Immediate::Empty));
                received.map_err(|nothing| match nothing {
                    Immediate::Closed => TryRecvError::Closed,
                    Immediate::Done(_) | Immediate::Empty | Immediate::Full => TryRecvError::Empty,
                })
            }
            Side::Tokio(receiver) => receiver.try_recv().map_err(|error| match error {
                theirs::error::TryRecvError::Empty => TryRecvError::Empty,
                theirs::error::TryRecvError::Closed => TryRecvError::Closed,
            }),
        }
    }

    /// Lets no value in any more. One that was sent before can still be received.
    #[track_caller]
    pub fn close(&mut self) {
        match &mut self.inner {
            Side::Controlled(receiver) => receiver.core.close(),
            Side::Tokio(receiver) => receiver.close(),
        }
    }

    /// Whether the result was received: then it must not be awaited again.
    pub fn is_terminated(&self) -> bool {
        match &self.inner {
            Side::Controlled(receiver) => receiver.over,
            Side::Tokio(receiver) => receiver.is_terminated(),
        }
    }

    /// Whether no value is there now. An observation.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        match &self.inner {
            Side::Controlled(receiver) => receiver.core.look(Look::IsEmpty) != 0,
            Side::Tokio(receiver) => receiver.is_empty(),
        }
    }

    /// Receives in code that is not async, blocking the thread.
    ///
    /// # Errors
    /// If the sender was dropped without sending.
    ///
    /// # Panics
    /// In a controlled execution, and on a thread of a tokio runtime.
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, RecvError> {
        backend::refuse_blocking("blocking_recv", "the receiver's await");
        match self.inner {
            Side::Controlled(_) => backend::misplaced(),
            Side::Tokio(receiver) => receiver.blocking_recv().map_err(|_| RecvError(())),
        }
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        match &mut self.get_mut().inner {
            Side::Controlled(ReceiverCore { core, leaf, over, .. }) => {
                assert!(!*over, "called after complete");
                let received = task::ready!(core.poll_receive(leaf, cx));
                *over = true;
                Poll::Ready(received.ok_or(RecvError(())))
            }
            Side::Tokio(receiver) => Pin::new(receiver).poll(cx).map_err(|_| RecvError(())),
        }
    }
}

//! Multi-producer, single-consumer channels. Mirrors `tokio::sync::mpsc`.
//!
//! A channel asks nothing of its values: neither `Debug` nor `Hash` nor `Clone`. Where they have them, the `_with`
//! constructors take a [`Payload`], and traces show values and more states count as equal.
//!
//! Invariants: sends, receives, permits and waiting for the end are awaited ops; everything without `async` in tokio
//! is immediate. Futures and handles are `Send` and `Sync` exactly where tokio's are.

mod bounded;
mod methods;
mod permit;
mod unbounded;

use super::mailbox::{Core, Kind};
use crate::{
    api::{backend::Side, inbox::Source, leaf::Leaf, payload::Payload},
    world::{
        look::Look,
        mailbox::Reception,
        op::{Immediate, Site},
        words::Delivery,
    },
};
pub use bounded::{Receiver, Sender, WeakSender, channel, channel_with};
use methods::receiver_methods;
pub use permit::{OwnedPermit, Permit};
use std::{
    fmt,
    future::Future,
    panic::Location,
    pin::Pin,
    sync::Arc,
    task::{self, Poll},
};
pub use tokio::sync::mpsc::error;
use tokio::sync::mpsc::{self as theirs, error::TryRecvError};
pub use unbounded::{
    UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel, unbounded_channel_with,
};

fn create<T>(
    context: &mut crate::live::context::Context,
    capacity: u32,
    payload: Payload<T>,
) -> (SenderCore<T>, ReceiverCore<T>) {
    let kind = Kind { delivery: Delivery::Fifo, capacity, word: "mpsc", one_message: false, is_networked: false };
    let core = Core::create(context, &kind, payload, None);
    (SenderCore(Arc::clone(&core)), ReceiverCore { core, polled: None })
}

/// A counted sender of a controlled mailbox.
struct SenderCore<T>(Arc<Core<T>>);

impl<T> Clone for SenderCore<T> {
    fn clone(&self) -> Self {
        self.0.add_sender();
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for SenderCore<T> {
    fn drop(&mut self) {
        self.0.drop_sender();
    }
}

impl<T> SenderCore<T> {
    #[track_caller]
    fn is_closed(&self) -> bool {
        self.0.look(Look::IsClosed) != 0
    }

    fn downgrade(&self) -> WeakCore<T> {
        self.0.add_weak_sender();
        WeakCore(Arc::clone(&self.0))
    }

    async fn closed(&self, site: Site) {
        let mut leaf = Leaf::new(self.0.execution, site);
        std::future::poll_fn(|cx| self.0.poll_closed(&mut leaf, cx)).await;
    }
}

/// A sender of a controlled mailbox that does not keep it open.
struct WeakCore<T>(Arc<Core<T>>);

impl<T> Clone for WeakCore<T> {
    fn clone(&self) -> Self {
        self.0.add_weak_sender();
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for WeakCore<T> {
    fn drop(&mut self) {
        self.0.drop_weak_sender();
    }
}

impl<T> WeakCore<T> {
    #[track_caller]
    fn upgrade(&self) -> Option<SenderCore<T>> {
        self.0.revive_sender().then(|| SenderCore(Arc::clone(&self.0)))
    }
}

/// The one receiver of a controlled mailbox.
struct ReceiverCore<T> {
    core: Arc<Core<T>>,
    /// A receive asked for by `poll_recv` that has not completed. Any other receive gives it up first.
    polled: Option<Leaf>,
}

impl<T> Drop for ReceiverCore<T> {
    fn drop(&mut self) {
        self.polled = None;
        self.core.drop_receiver(Reception::Open);
    }
}

impl<T> ReceiverCore<T> {
    /// Starts an awaited receive.
    #[inline]
    fn start(&mut self, site: Site) -> (&Core<T>, Leaf) {
        self.polled = None;
        (&self.core, Leaf::new(self.core.execution, site))
    }

    #[track_caller]
    fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.polled = None;
        self.core.receive_now(Location::caller()).map_err(|nothing| match nothing {
            Immediate::Closed => TryRecvError::Disconnected,
            Immediate::Done(_) | Immediate::Empty | Immediate::Full => TryRecvError::Empty,
        })
    }

    #[track_caller]
    fn close(&mut self) {
        self.polled = None;
        self.core.close();
    }

    #[track_caller]
    fn is_closed(&self) -> bool {
        self.core.look(Look::IsOver) != 0
    }

    #[track_caller]
    fn len(&self) -> usize {
        self.core.look(Look::Queued) as usize
    }

    #[track_caller]
    fn is_empty(&self) -> bool {
        self.core.look(Look::IsEmpty) != 0
    }

    fn poll_recv(&mut self, cx: &task::Context<'_>, site: Site) -> Poll<Option<T>> {
        let Self { core, polled } = self;
        let leaf = polled.get_or_insert_with(|| Leaf::new(core.execution, site));
        let received = task::ready!(core.poll_receive(leaf, cx));
        *polled = None;
        Poll::Ready(received)
    }

    #[track_caller]
    fn poll_recv_many(&mut self, cx: &task::Context<'_>, buffer: &mut Vec<T>, limit: usize) -> Poll<usize> {
        if limit == 0 {
            return Poll::Ready(0);
        }
        let site = Location::caller();
        let first = task::ready!(self.poll_recv(cx, site));
        Poll::Ready(take_more(&self.core, first, buffer, limit, site))
    }
}

/// After an awaited receive, takes what else is there, up to `limit` in all. Part of the same step.
#[track_caller]
fn take_more<T>(core: &Core<T>, first: Option<T>, buffer: &mut Vec<T>, limit: usize, site: Site) -> usize {
    let Some(first) = first else {
        return 0;
    };
    buffer.push(first);
    let mut taken = 1;
    while taken < limit {
        let Ok(value) = core.receive_now(site) else {
            break;
        };
        buffer.push(value);
        taken += 1;
    }
    taken
}

/// A receive of the side that the receiver `R` of tokio's is on, if it is.
type Receiving<'a, T, R> = Side<(&'a Core<T>, Leaf), &'a mut R>;

/// Future of [`Receiver::recv`] and [`UnboundedReceiver::recv`].
#[must_use = "futures do nothing unless awaited"]
pub struct Recv<'a, T, R = theirs::Receiver<T>> {
    inner: Receiving<'a, T, R>,
}

// Nothing in it is pinned: the value comes out of the channel.
impl<T, R> Unpin for Recv<'_, T, R> {}

impl<T, R> fmt::Debug for Recv<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recv").finish_non_exhaustive()
    }
}

/// Future of [`Receiver::recv_many`] and [`UnboundedReceiver::recv_many`].
#[must_use = "futures do nothing unless awaited"]
pub struct RecvMany<'a, 'b, T, R = theirs::Receiver<T>> {
    inner: Receiving<'a, T, R>,
    buffer: &'b mut Vec<T>,
    limit: usize,
}

impl<T, R> Unpin for RecvMany<'_, '_, T, R> {}

impl<T, R> fmt::Debug for RecvMany<'_, '_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvMany").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// What is received from, by its type here and tokio's.
macro_rules! receives {
    ($ours:ident, $theirs:ty) => {
        impl<T> Future for Recv<'_, T, $theirs> {
            type Output = Option<T>;

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Option<T>> {
                match &mut self.get_mut().inner {
                    Side::Controlled((core, leaf)) => core.poll_receive(leaf, cx),
                    Side::Tokio(receiver) => receiver.poll_recv(cx),
                }
            }
        }

        impl<T> Future for RecvMany<'_, '_, T, $theirs> {
            type Output = usize;

            fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<usize> {
                let Self { inner, buffer, limit } = self.get_mut();
                match inner {
                    Side::Controlled(_) if *limit == 0 => Poll::Ready(0),
                    Side::Controlled((core, leaf)) => {
                        let first = task::ready!(core.poll_receive(leaf, cx));
                        Poll::Ready(take_more(core, first, buffer, *limit, leaf.site()))
                    }
                    Side::Tokio(receiver) => receiver.poll_recv_many(cx, buffer, *limit),
                }
            }
        }

        impl<T> Source for $ours<T> {
            type Message = T;
            type Recv<'a>
                = Recv<'a, T, $theirs>
            where
                T: 'a;

            #[track_caller]
            fn recv(&mut self) -> Self::Recv<'_> {
                Self::recv(self)
            }
        }
    };
}
receives!(Receiver, theirs::Receiver<T>);
receives!(UnboundedReceiver, theirs::UnboundedReceiver<T>);

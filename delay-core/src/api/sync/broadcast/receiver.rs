//! The receiving half of a broadcast.

use super::{
    Core,
    error::{RecvError, TryRecvError},
};
use crate::{
    api::{
        backend::{self, Side},
        leaf::Leaf,
        payload::View,
    },
    world::{
        World,
        op::{Op, Site},
        shared::{Ask, Ticket, again::SharedLook, broadcast::Taken},
    },
};
use std::{fmt, future::poll_fn, panic::Location, sync::Arc};
use tokio::sync::broadcast as theirs;

/// A receiver of a controlled broadcast.
pub(super) struct Listener<T> {
    core: Arc<Core<T>>,
    ticket: Ticket,
}

impl<T> Listener<T> {
    #[track_caller]
    pub(super) fn new(core: &Arc<Core<T>>) -> Self {
        let ticket = core.now(World::add_listener);
        Self { core: Arc::clone(core), ticket }
    }
}

impl<T: Clone> Listener<T> {
    /// What was taken, with its value.
    #[track_caller]
    fn deliver(&self, taken: Taken, site: Site) -> Result<T, TryRecvError> {
        let result = match taken {
            Taken::Message(message) => Ok(self.core.copy(message)),
            Taken::Lagged(lost) => Err(TryRecvError::Lagged(lost)),
            Taken::Empty => Err(TryRecvError::Empty),
            Taken::Closed => Err(TryRecvError::Closed),
        };
        self.core.trim();
        self.core.record(site, || match &result {
            Ok(value) => format!("receives {} from", self.core.payload.text(value)),
            Err(TryRecvError::Lagged(lost)) => format!("has lost {lost} of"),
            Err(TryRecvError::Empty) => "finds nothing in".to_owned(),
            Err(TryRecvError::Closed) => "sees the end of".to_owned(),
        });
        result
    }

    async fn recv(&self, site: Site) -> Result<T, RecvError> {
        let (object, ticket) = (self.core.object, self.ticket);
        let mut leaf = Leaf::new(self.core.execution, site);
        let op = || Op::Shared { object, ask: Ask::Next(ticket) };
        let taken = poll_fn(|cx| leaf.poll_with(cx, op, |context, _| context.world.take_next(object, ticket))).await;
        self.deliver(taken, site).map_err(|error| match error {
            TryRecvError::Lagged(lost) => RecvError::Lagged(lost),
            TryRecvError::Closed => RecvError::Closed,
            TryRecvError::Empty => crate::bug!("a receive was granted, and nothing is there"),
        })
    }
}

impl<T> Drop for Listener<T> {
    fn drop(&mut self) {
        let Self { core, ticket } = self;
        backend::within_if(core.execution, |context| context.world.remove_listener(core.object, *ticket));
        core.trim();
    }
}

/// Receives what is sent from its creation on.
pub struct Receiver<T> {
    pub(super) inner: Side<Listener<T>, theirs::Receiver<T>>,
}

impl<T> Receiver<T> {
    /// How many values it has not got, lost ones included. An observation.
    #[track_caller]
    pub fn len(&self) -> usize {
        match &self.inner {
            Side::Controlled(listener) => listener.core.look(SharedLook::Behind(listener.ticket)),
            Side::Tokio(receiver) => receiver.len(),
        }
    }

    /// Whether it has got every value. An observation.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether every sender is gone. An observation.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        match &self.inner {
            Side::Controlled(listener) => listener.core.look(SharedLook::IsAbandoned) != 0,
            Side::Tokio(receiver) => receiver.is_closed(),
        }
    }

    /// How many senders there are. An observation.
    #[track_caller]
    pub fn sender_strong_count(&self) -> usize {
        match &self.inner {
            Side::Controlled(listener) => listener.core.sender_count(),
            Side::Tokio(receiver) => receiver.sender_strong_count(),
        }
    }

    /// How many weak senders there are. An observation.
    #[track_caller]
    pub fn sender_weak_count(&self) -> usize {
        match &self.inner {
            Side::Controlled(listener) => listener.core.weak_sender_count(),
            Side::Tokio(receiver) => receiver.sender_weak_count(),
        }
    }

    /// Whether both receive from the same senders.
    pub fn same_channel(&self, other: &Self) -> bool {
        match (&self.inner, &other.inner) {
            (Side::Controlled(one), Side::Controlled(two)) => Arc::ptr_eq(&one.core, &two.core),
            (Side::Tokio(one), Side::Tokio(two)) => one.same_channel(two),
            (Side::Controlled(_), Side::Tokio(_)) | (Side::Tokio(_), Side::Controlled(_)) => false,
        }
    }
}

impl<T: Clone> Receiver<T> {
    /// Another receiver, which gets what is sent from now on.
    #[track_caller]
    #[must_use]
    pub fn resubscribe(&self) -> Self {
        let inner = match &self.inner {
            Side::Controlled(listener) => Side::Controlled(Listener::new(&listener.core)),
            Side::Tokio(receiver) => Side::Tokio(receiver.resubscribe()),
        };
        Self { inner }
    }

    /// Waits for the next value. A scheduling point.
    ///
    /// # Errors
    /// `Lagged` if the next values were lost, of which it says how many; the next call goes on with the oldest that is
    /// kept. `Closed` if every sender is gone and every value was got.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Result<T, RecvError>> + use<'_, T> {
        self.recv_at(Location::caller())
    }

    /// As [`Receiver::recv`], asked for at `site`.
    pub(crate) async fn recv_at(&mut self, site: Site) -> Result<T, RecvError> {
        match &mut self.inner {
            Side::Controlled(listener) => listener.recv(site).await,
            Side::Tokio(receiver) => receiver.recv().await,
        }
    }

    /// Receives in code that is not async, blocking the thread.
    ///
    /// # Errors
    /// As [`Receiver::recv`].
    ///
    /// # Panics
    /// In a controlled execution, and on a thread of a tokio runtime.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        backend::refuse_blocking("blocking_recv", "recv().await");
        match &mut self.inner {
            Side::Controlled(_) => backend::misplaced(),
            Side::Tokio(receiver) => receiver.blocking_recv(),
        }
    }

    /// The next value, without waiting. An observation.
    ///
    /// # Errors
    /// As [`Receiver::recv`], and `Empty` if there is none yet.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        match &mut self.inner {
            Side::Controlled(listener) => {
                let taken = listener.core.now(|world, object| world.take_next_now(object, listener.ticket));
                listener.deliver(taken, Location::caller())
            }
            Side::Tokio(receiver) => receiver.try_recv(),
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

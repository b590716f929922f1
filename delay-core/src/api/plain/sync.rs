//! Channels, locks and notifications: tokio's own.

use super::payload::Payload;
pub use tokio::sync::{
    AcquireError, Barrier, BarrierWaitResult, MappedMutexGuard, Mutex, MutexGuard, Notify, OnceCell,
    OwnedMappedMutexGuard, OwnedMutexGuard, OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard,
    OwnedSemaphorePermit, RwLock, RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard, Semaphore,
    SemaphorePermit, SetError, SetOnce, SetOnceError, TryAcquireError, TryLockError, futures,
    futures::{Notified, OwnedNotified},
};

/// A mutex, and what a test may know of its value.
pub fn mutex_with<T>(value: T, _payload: Payload<T>) -> Mutex<T> {
    Mutex::new(value)
}

/// A lock, and what a test may know of its value.
pub fn rwlock_with<T>(value: T, _payload: Payload<T>) -> RwLock<T> {
    RwLock::new(value)
}

/// Multi-producer, single-consumer channels.
pub mod mpsc {
    use crate::api::{inbox::Source, payload::Payload};
    use std::{
        fmt,
        future::Future,
        pin::Pin,
        task::{Context, Poll},
    };
    pub use tokio::sync::mpsc::*;

    /// A bounded channel, and what a test may know of its values.
    #[track_caller]
    pub fn channel_with<T>(buffer: usize, _payload: Payload<T>) -> (Sender<T>, Receiver<T>) {
        channel(buffer)
    }

    /// An unbounded channel, and what a test may know of its values.
    pub fn unbounded_channel_with<T>(_payload: Payload<T>) -> (UnboundedSender<T>, UnboundedReceiver<T>) {
        unbounded_channel()
    }

    /// What an inbox waits for: the next value of a receiver.
    #[must_use = "futures do nothing unless awaited"]
    pub struct Recv<'a, R>(&'a mut R);

    impl<R> fmt::Debug for Recv<'_, R> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("Recv").finish_non_exhaustive()
        }
    }

    macro_rules! source {
        ($receiver:ident) => {
            impl<T> Future for Recv<'_, $receiver<T>> {
                type Output = Option<T>;

                fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
                    self.get_mut().0.poll_recv(cx)
                }
            }

            impl<T> Source for $receiver<T> {
                type Message = T;
                type Recv<'a>
                    = Recv<'a, Self>
                where
                    T: 'a;

                fn recv(&mut self) -> Recv<'_, Self> {
                    Recv(self)
                }
            }
        };
    }
    source!(Receiver);
    source!(UnboundedReceiver);
}

/// One value from one task to another.
pub mod oneshot {
    use crate::api::payload::Payload;
    pub use tokio::sync::oneshot::*;

    /// A channel for one value, and what a test may know of it.
    pub fn channel_with<T>(_payload: Payload<T>) -> (Sender<T>, Receiver<T>) {
        channel()
    }
}

/// The last value only, from any number of senders to any number of receivers.
pub mod watch {
    use crate::api::payload::Payload;
    pub use tokio::sync::watch::*;

    /// A channel for the last value, and what a test may know of it.
    pub fn channel_with<T>(init: T, _payload: Payload<T>) -> (Sender<T>, Receiver<T>) {
        channel(init)
    }
}

/// Every value to every receiver.
pub mod broadcast {
    use crate::api::payload::Payload;
    pub use tokio::sync::broadcast::*;

    /// A channel, and what a test may know of its values.
    #[track_caller]
    pub fn channel_with<T: Clone>(capacity: usize, _payload: Payload<T>) -> (Sender<T>, Receiver<T>) {
        channel(capacity)
    }
}

//! Channels, locks and notifications, with tokio's names and semantics.

mod barrier;
pub mod broadcast;
mod guard;
pub(crate) mod mailbox;
pub mod mpsc;
mod mutex;
mod notify;
mod once_cell;
pub mod oneshot;
mod permits;
mod rwlock;
mod semaphore;
mod set_once;
mod values;
pub mod watch;
mod weak;

use super::payload::Payload;
pub use barrier::{Barrier, BarrierWaitResult};
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard, TryLockError};
pub use notify::{Notified, Notify, OwnedNotified};
pub use once_cell::{OnceCell, SetError};
pub use rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockMappedWriteGuard,
    RwLockReadGuard, RwLockWriteGuard,
};
pub use semaphore::{AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError};
pub use set_once::{SetOnce, SetOnceError};

/// Named futures.
pub mod futures {
    pub use super::notify::{Notified, OwnedNotified};
}

/// A mutex, and what the engine may know of its value.
pub fn mutex_with<T>(value: T, payload: Payload<T>) -> Mutex<T> {
    Mutex::with_payload(value, payload)
}

/// A lock, and what the engine may know of its value.
pub fn rwlock_with<T>(value: T, payload: Payload<T>) -> RwLock<T> {
    RwLock::with_payload(value, payload)
}

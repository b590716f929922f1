//! The last value only, from any number of senders to any number of receivers. Mirrors `tokio::sync::watch`.
//!
//! Waiting for a change, and for the receivers to be gone, are awaited ops; everything else is immediate. A borrowed
//! value must not be kept across an await, or a sender would block the thread.

use crate::{
    api::{
        backend::{self, Side},
        leaf::Leaf,
        payload::Payload,
    },
    ids::Object,
    live::context::Context,
    world::{
        World,
        op::{Observation, Op, Site},
        shared::{Ask, again::SharedLook, watch::Seen},
    },
};
use std::{
    fmt,
    future::poll_fn,
    panic::Location,
    sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError},
};
use tokio::sync::watch as theirs;

/// What can go wrong.
pub mod error {
    use std::fmt;
    pub use tokio::sync::watch::error::SendError;

    /// Every sender is gone.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RecvError(pub(super) ());

    impl fmt::Display for RecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }

    impl std::error::Error for RecvError {}
}

mod receiver;

use error::SendError;
use receiver::Watcher;
pub use receiver::{Receiver, Ref};

/// A channel for the last value, opaque to the engine.
///
/// ```
/// # use delay_core::api::sync::watch;
/// async fn body() {
///     let (sender, mut receiver) = watch::channel(1);
///     sender.send(2).expect("there is a receiver");
///     receiver.changed().await.expect("there is a sender");
///     assert_eq!(*receiver.borrow_and_update(), 2);
/// }
/// ```
pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {
    channel_with(init, Payload::opaque())
}

/// A channel for the last value, and what the engine may know of it.
pub fn channel_with<T>(init: T, payload: Payload<T>) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::with_payload(init, payload);
    let receiver = sender.subscribe();
    (sender, receiver)
}

/// The value and what the engine knows of it. Shared by all handles.
struct Core<T> {
    object: Object,
    execution: u64,
    payload: Payload<T>,
    value: RwLock<T>,
    /// It is part of something that tasks share, and goes with that: nobody is left to see it go, and who drops the last share is nothing that task
    /// has seen.
    is_part: bool,
}

impl<T> Core<T> {
    #[track_caller]
    fn now<R>(&self, op: impl FnOnce(&mut World, Object) -> R) -> R {
        backend::within(self.execution, |context| op(&mut context.world, self.object))
    }

    #[track_caller]
    fn look(&self, look: SharedLook) -> u64 {
        self.now(|world, object| world.look_at_shared(object, look))
    }

    fn add_sender(&self) {
        backend::within_if(self.execution, |context| context.world.add_shared_sender(self.object));
    }

    fn drop_sender(&self) {
        backend::within_if(self.execution, |context| context.world.drop_shared_sender(self.object));
    }

    #[track_caller]
    fn read(&self) -> RwLockReadGuard<'_, T> {
        match self.value.try_read() {
            Ok(value) => value,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => panic!("a watched value is borrowed while it is being changed"),
        }
    }

    #[track_caller]
    fn write(&self) -> RwLockWriteGuard<'_, T> {
        match self.value.try_write() {
            Ok(value) => value,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => panic!(
                "a watched value is changed while it is borrowed, which would block the thread: drop what borrow() returned before the next await"
            ),
        }
    }

    #[track_caller]
    fn record(&self, site: Site, what: &str) {
        backend::within(self.execution, |context| {
            context.record(site, |context| format!("{what} {}", context.labels.object(&context.world, self.object)));
        });
    }

    /// Changes the value; tells the receivers if `modify` says so.
    #[track_caller]
    fn modify(&self, site: Site, modify: impl FnOnce(&mut T) -> bool) -> bool {
        let mut value = self.write();
        self.now(World::see_watched);
        let changed = modify(&mut value);
        let change = self.payload.change(&value);
        drop(value);
        self.now(|world, object| {
            if changed {
                world.change_watched(object, change);
            } else {
                world.change_quietly(object, change);
            }
        });
        self.record(site, if changed { "changes" } else { "does not change" });
        changed
    }

    /// Waits on the object.
    async fn wait(&self, ask: Ask, site: Site, then: impl Fn(&mut Context, Observation)) -> Observation {
        let mut leaf = Leaf::new(self.execution, site);
        poll_fn(|cx| {
            leaf.poll_with(
                cx,
                || Op::Shared { object: self.object, ask },
                |context, seen| {
                    then(context, seen);
                    seen
                },
            )
        })
        .await
    }
}

/// Sends values.
pub struct Sender<T> {
    inner: Side<Arc<Core<T>>, theirs::Sender<T>>,
}

impl<T> Sender<T> {
    /// A sender without a receiver.
    pub fn new(init: T) -> Self {
        Self::with_payload(init, Payload::opaque())
    }

    fn with_payload(init: T, payload: Payload<T>) -> Self {
        Self::made(init, payload, "watch", false)
    }

    /// The one sender of a channel that is part of something tasks share; traces call it this.
    pub(crate) fn part_of(init: T, payload: Payload<T>, word: &'static str) -> Self {
        Self::made(init, payload, word, true)
    }

    /// Counts as one receiver more from here on, or no more.
    #[track_caller]
    pub(crate) fn hold(&self, is_held: bool) {
        if let Side::Controlled(core) = &self.inner {
            core.now(|world, object| world.hold_watched(object, is_held));
        }
    }

    fn made(init: T, payload: Payload<T>, word: &'static str, is_part: bool) -> Self {
        let change = payload.change(&init);
        let made = backend::choose(
            |context| {
                let object = context.world.create_watch(change);
                context.labels.name_object(object, word, None);
                (object, context.execution)
            },
            || (),
        );
        let inner = match made {
            Side::Controlled((object, execution)) => {
                let value = RwLock::new(init);
                Side::Controlled(Arc::new(Core { object, execution, payload, value, is_part }))
            }
            Side::Tokio(()) => Side::Tokio(theirs::Sender::new(init)),
        };
        Self { inner }
    }

    /// Sends a value, unless there is no receiver.
    ///
    /// # Errors
    /// The value, if there is no receiver.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        match &self.inner {
            Side::Controlled(core) => {
                if core.look(SharedLook::Receivers) == 0 {
                    return Err(SendError(value));
                }
                let mut now = core.write();
                let old = std::mem::replace(&mut *now, value);
                let change = core.payload.change(&now);
                drop(now);
                core.now(|world, object| world.change_watched(object, change));
                core.record(Location::caller(), "changes");
                drop(old);
                Ok(())
            }
            Side::Tokio(sender) => sender.send(value),
        }
    }

    /// Changes the value in place, and tells the receivers.
    #[track_caller]
    pub fn send_modify<F: FnOnce(&mut T)>(&self, modify: F) {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// Changes the value in place, and tells the receivers if `modify` says so, which is returned.
    #[track_caller]
    pub fn send_if_modified<F: FnOnce(&mut T) -> bool>(&self, modify: F) -> bool {
        match &self.inner {
            Side::Controlled(core) => core.modify(Location::caller(), modify),
            Side::Tokio(sender) => sender.send_if_modified(modify),
        }
    }

    /// Sends a value, whether or not there is a receiver; returns the one before.
    #[track_caller]
    pub fn send_replace(&self, mut value: T) -> T {
        self.send_modify(|old| std::mem::swap(old, &mut value));
        value
    }

    /// The value. An observation.
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        match &self.inner {
            Side::Controlled(core) => {
                core.now(World::see_watched);
                Ref { inner: Side::Controlled((core.read(), false)) }
            }
            Side::Tokio(sender) => Ref { inner: Side::Tokio(sender.borrow()) },
        }
    }

    /// Whether there is no receiver. An observation.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.receiver_count() == 0
    }

    /// Waits until there is no receiver. A scheduling point.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> + use<'_, T> {
        self.closed_at(Location::caller())
    }

    /// As [`Sender::closed`], asked for at `site`.
    pub(crate) async fn closed_at(&self, site: Site) {
        match &self.inner {
            Side::Controlled(core) => {
                core.wait(Ask::Deserted, site, |_, _| {}).await;
            }
            Side::Tokio(sender) => sender.closed().await,
        }
    }

    /// Another receiver, which has seen the present value.
    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        let inner = match &self.inner {
            Side::Controlled(core) => Side::Controlled(Watcher::new(core, Seen::Last)),
            Side::Tokio(sender) => Side::Tokio(sender.subscribe()),
        };
        Receiver { inner }
    }

    /// How many receivers there are. An observation.
    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        match &self.inner {
            Side::Controlled(core) => core.look(SharedLook::Receivers) as usize,
            Side::Tokio(sender) => sender.receiver_count(),
        }
    }

    /// How many senders there are. An observation.
    #[track_caller]
    pub fn sender_count(&self) -> usize {
        match &self.inner {
            Side::Controlled(core) => core.look(SharedLook::Senders) as usize,
            Side::Tokio(sender) => sender.sender_count(),
        }
    }

    /// Whether both send to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        match (&self.inner, &other.inner) {
            (Side::Controlled(one), Side::Controlled(two)) => Arc::ptr_eq(one, two),
            (Side::Tokio(one), Side::Tokio(two)) => one.same_channel(two),
            (Side::Controlled(_), Side::Tokio(_)) | (Side::Tokio(_), Side::Controlled(_)) => false,
        }
    }
}

impl<T> Sender<T> {
    /// The World's object, of a controlled channel.
    pub(crate) fn object(&self) -> Option<Object> {
        match &self.inner {
            Side::Controlled(core) => Some(core.object),
            Side::Tokio(_) => None,
        }
    }

    /// Whether its execution, if it is of one, is there: a destructor may come later.
    pub(crate) fn is_current(&self) -> bool {
        match &self.inner {
            Side::Controlled(core) => backend::within_if(core.execution, |_| ()).is_some(),
            Side::Tokio(_) => true,
        }
    }
}

impl<T: Default> Default for Sender<T> {
    fn default() -> Self {
        Self::new(T::default())
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
        if let Side::Controlled(core) = &self.inner
            && !core.is_part
        {
            core.drop_sender();
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

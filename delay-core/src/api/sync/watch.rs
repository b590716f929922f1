//! The last value only, from any number of senders to any number of receivers. Mirrors `tokio::sync::watch`.
//!
//! Waiting for a change, and for the receivers to be gone, are awaited ops; everything else is immediate. A borrowed
//! value must not be kept across an await, or a sender would block the thread.

use crate::{
    api::{
        backend::{self, Side},
        leaf::Leaf,
        payload::{Payload, View},
    },
    ids::Object,
    live::context::Context,
    world::{
        World,
        op::{Observation, Op, Site},
        shared::{Ask, Change, Ticket, watch::Seen},
    },
};
use std::{
    fmt,
    future::poll_fn,
    ops::Deref,
    panic::Location,
    sync::{
        Arc, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
        atomic::{AtomicUsize, Ordering},
    },
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

use error::{RecvError, SendError};

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
    senders: AtomicUsize,
}

impl<T> Core<T> {
    #[track_caller]
    fn now<R>(&self, op: impl FnOnce(&mut World, Object) -> R) -> R {
        backend::within(self.execution, |context| op(&mut context.world, self.object))
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

    fn change(&self, value: &T) -> Change {
        self.payload.content(value).map_or(Change::Opaque, Change::Content)
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
        let change = self.change(&value);
        drop(value);
        self.now(|world, object| match changed {
            true => world.change_watched(object, change),
            false => world.change_quietly(object, change),
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

    /// A sender without a receiver, and what the engine may know of the value.
    pub fn with_payload(init: T, payload: Payload<T>) -> Self {
        let change = payload.content(&init).map_or(Change::Opaque, Change::Content);
        let made = backend::choose(
            |context| {
                let object = context.world.create_watch(change);
                context.labels.name_object(object, "watch", None);
                (object, context.execution)
            },
            || (),
        );
        let inner = match made {
            Side::Controlled((object, execution)) => {
                let (value, senders) = (RwLock::new(init), AtomicUsize::new(1));
                Side::Controlled(Arc::new(Core { object, execution, payload, value, senders }))
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
                if core.now(|world, object| world.look_at_watch(object, |watch| watch.receivers() as u64)) == 0 {
                    return Err(SendError(value));
                }
                let mut now = core.write();
                let old = std::mem::replace(&mut *now, value);
                let change = core.change(&now);
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
    pub fn send_modify(&self, modify: impl FnOnce(&mut T)) {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// Changes the value in place, and tells the receivers if `modify` says so, which is returned.
    #[track_caller]
    pub fn send_if_modified(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
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
        let site = Location::caller();
        async move {
            match &self.inner {
                Side::Controlled(core) => {
                    core.wait(Ask::Deserted, site, |_, _| {}).await;
                }
                Side::Tokio(sender) => sender.closed().await,
            }
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
            Side::Controlled(core) => {
                core.now(|world, object| world.look_at_watch(object, |watch| watch.receivers() as u64)) as usize
            }
            Side::Tokio(sender) => sender.receiver_count(),
        }
    }

    /// How many senders there are. An observation.
    #[track_caller]
    pub fn sender_count(&self) -> usize {
        match &self.inner {
            Side::Controlled(core) => core
                .now(|world, object| world.look_at_watch(object, |_| core.senders.load(Ordering::Acquire) as u64))
                as usize,
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

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        let inner = match &self.inner {
            Side::Controlled(core) => {
                core.senders.fetch_add(1, Ordering::Relaxed);
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
            && core.senders.fetch_sub(1, Ordering::AcqRel) == 1
        {
            backend::within_if(core.execution, |context| context.world.abandon_watched(core.object));
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// A receiver of a controlled channel.
struct Watcher<T> {
    core: Arc<Core<T>>,
    ticket: Ticket,
}

impl<T> Watcher<T> {
    #[track_caller]
    fn new(core: &Arc<Core<T>>, seen: Seen) -> Self {
        let ticket = core.now(|world, object| world.add_watcher(object, seen));
        Self { core: Arc::clone(core), ticket }
    }

    #[track_caller]
    fn borrow(&self, mark: bool) -> (RwLockReadGuard<'_, T>, bool) {
        let has_changed = self.core.now(|world, object| {
            let has_changed = world.look_at_watch(object, |watch| watch.seen(self.ticket) as u64) != 0;
            world.see_watched(object);
            if mark {
                world.mark_watcher(object, self.ticket, Seen::Last);
            }
            has_changed
        });
        (self.core.read(), has_changed)
    }

    async fn changed(&self, site: Site) -> Result<(), RecvError> {
        let (object, ticket) = (self.core.object, self.ticket);
        let seen = self.core.wait(Ask::Changed(ticket), site, |context, seen| {
            let closed = seen == Observation::Closed;
            if !closed {
                context.world.mark_watcher(object, ticket, Seen::Last);
            }
            context.record(site, |context| {
                let what = if closed { "sees the end of" } else { "sees a change of" };
                format!("{what} {}", context.labels.object(&context.world, object))
            });
        });
        if seen.await == Observation::Closed { Err(RecvError(())) } else { Ok(()) }
    }
}

impl<T> Drop for Watcher<T> {
    fn drop(&mut self) {
        backend::within_if(self.core.execution, |context| context.world.remove_watcher(self.core.object, self.ticket));
    }
}

/// Receives the last value.
pub struct Receiver<T> {
    inner: Side<Watcher<T>, theirs::Receiver<T>>,
}

impl<T> Receiver<T> {
    /// The value. An observation.
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        let inner = match &self.inner {
            Side::Controlled(watcher) => Side::Controlled(watcher.borrow(false)),
            Side::Tokio(receiver) => Side::Tokio(receiver.borrow()),
        };
        Ref { inner }
    }

    /// The value, which counts as seen from now on. An observation.
    #[track_caller]
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let inner = match &mut self.inner {
            Side::Controlled(watcher) => Side::Controlled(watcher.borrow(true)),
            Side::Tokio(receiver) => Side::Tokio(receiver.borrow_and_update()),
        };
        Ref { inner }
    }

    /// Whether there is a value that was not seen. An observation.
    ///
    /// # Errors
    /// If every sender is gone.
    #[track_caller]
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        match &self.inner {
            Side::Controlled(watcher) => {
                let see = |watch: &crate::world::shared::watch::Watch| {
                    if watch.is_abandoned() { 2 } else { watch.seen(watcher.ticket) as u64 }
                };
                match watcher.core.now(|world, object| world.look_at_watch(object, see)) {
                    2 => Err(RecvError(())),
                    seen => Ok(seen != 0),
                }
            }
            Side::Tokio(receiver) => receiver.has_changed().map_err(|_| RecvError(())),
        }
    }

    /// The present value counts as not seen.
    #[track_caller]
    pub fn mark_changed(&mut self) {
        match &mut self.inner {
            Side::Controlled(watcher) => {
                watcher.core.now(|world, object| world.mark_watcher(object, watcher.ticket, Seen::Older));
            }
            Side::Tokio(receiver) => receiver.mark_changed(),
        }
    }

    /// The present value counts as seen.
    #[track_caller]
    pub fn mark_unchanged(&mut self) {
        match &mut self.inner {
            Side::Controlled(watcher) => {
                watcher.core.now(|world, object| world.mark_watcher(object, watcher.ticket, Seen::Last));
            }
            Side::Tokio(receiver) => receiver.mark_unchanged(),
        }
    }

    /// Waits for a value that was not seen. A scheduling point.
    ///
    /// # Errors
    /// If every sender is gone, and the last value was seen.
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), RecvError>> + use<'_, T> {
        let site = Location::caller();
        async move {
            match &mut self.inner {
                Side::Controlled(watcher) => watcher.changed(site).await,
                Side::Tokio(receiver) => receiver.changed().await.map_err(|_| RecvError(())),
            }
        }
    }

    /// Waits for a value that fits, the present one first. A scheduling point.
    ///
    /// # Errors
    /// If every sender is gone, and the last value does not fit.
    #[track_caller]
    pub fn wait_for<F: FnMut(&T) -> bool>(
        &mut self,
        mut fits: F,
    ) -> impl Future<Output = Result<Ref<'_, T>, RecvError>> + use<'_, T, F> {
        let site = Location::caller();
        async move {
            let inner = match &mut self.inner {
                Side::Controlled(watcher) => {
                    let mut turn = Leaf::new(watcher.core.execution, site);
                    poll_fn(|cx| turn.poll_with(cx, || Op::Yield, |_, _| ())).await;
                    let mut closed = false;
                    loop {
                        let (value, has_changed) = watcher.borrow(true);
                        if (!closed || has_changed) && fits(&value) {
                            drop(value);
                            break Side::Controlled((watcher.core.read(), has_changed));
                        }
                        drop(value);
                        if closed {
                            return Err(RecvError(()));
                        }
                        closed = watcher.changed(site).await.is_err();
                    }
                }
                Side::Tokio(receiver) => Side::Tokio(receiver.wait_for(fits).await.map_err(|_| RecvError(()))?),
            };
            Ok(Ref { inner })
        }
    }

    /// Whether both receive from the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        match (&self.inner, &other.inner) {
            (Side::Controlled(one), Side::Controlled(two)) => Arc::ptr_eq(&one.core, &two.core),
            (Side::Tokio(one), Side::Tokio(two)) => one.same_channel(two),
            (Side::Controlled(_), Side::Tokio(_)) | (Side::Tokio(_), Side::Controlled(_)) => false,
        }
    }
}

impl<T> Clone for Receiver<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        let inner = match &self.inner {
            Side::Controlled(watcher) => {
                let seen = watcher.core.now(|world, object| world.watch(object).seen(watcher.ticket));
                Side::Controlled(Watcher::new(&watcher.core, seen))
            }
            Side::Tokio(receiver) => Side::Tokio(receiver.clone()),
        };
        Self { inner }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// A borrowed value. Must not be kept across an await.
pub struct Ref<'a, T> {
    inner: Side<(RwLockReadGuard<'a, T>, bool), theirs::Ref<'a, T>>,
}

impl<T> Ref<'_, T> {
    /// Whether the receiver had not seen it before.
    pub fn has_changed(&self) -> bool {
        match &self.inner {
            Side::Controlled((_, has_changed)) => *has_changed,
            Side::Tokio(value) => value.has_changed(),
        }
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.inner {
            Side::Controlled((value, _)) => value,
            Side::Tokio(value) => value,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ref").field(&**self).finish()
    }
}

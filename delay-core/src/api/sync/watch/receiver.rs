//! The receiving half of a watched value: waiting for changes, and borrowing the value.

use super::{Core, error::RecvError};
use crate::{
    api::{
        backend::{self, Side},
        leaf::Leaf,
    },
    world::{
        op::{Observation, Op, Site},
        shared::{Ask, Ticket, again::SharedLook, watch::Seen},
    },
};
use std::{
    fmt,
    future::poll_fn,
    ops::Deref,
    panic::Location,
    sync::{Arc, RwLockReadGuard},
};
use tokio::sync::watch as theirs;

/// A receiver of a controlled channel.
pub(super) struct Watcher<T> {
    core: Arc<Core<T>>,
    ticket: Ticket,
    /// As with its channel.
    is_part: bool,
}

impl<T> Watcher<T> {
    #[track_caller]
    pub(super) fn new(core: &Arc<Core<T>>, seen: Seen) -> Self {
        let ticket = core.now(|world, object| world.add_watcher(object, seen));
        Self { core: Arc::clone(core), ticket, is_part: false }
    }

    #[track_caller]
    fn borrow(&self, mark: bool) -> (RwLockReadGuard<'_, T>, bool) {
        let has_changed = self.core.now(|world, object| {
            let has_changed = world.look_at_shared(object, SharedLook::Seen(self.ticket)) != 0;
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
        if !self.is_part {
            let (object, ticket) = (self.core.object, self.ticket);
            backend::within_if(self.core.execution, |context| context.world.remove_watcher(object, ticket));
        }
    }
}

/// Receives the last value.
pub struct Receiver<T> {
    pub(super) inner: Side<Watcher<T>, theirs::Receiver<T>>,
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
            Side::Controlled(watcher) => match watcher.core.look(SharedLook::News(watcher.ticket)) {
                2 => Err(RecvError(())),
                seen => Ok(seen != 0),
            },
            Side::Tokio(receiver) => receiver.has_changed().map_err(|_| RecvError(())),
        }
    }

    /// Whether every sender is gone. An observation.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        match &self.inner {
            Side::Controlled(watcher) => watcher.core.look(SharedLook::IsAbandoned) != 0,
            Side::Tokio(receiver) => receiver.is_closed(),
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
        self.changed_at(Location::caller())
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
                        let found = {
                            let (value, has_changed) = watcher.borrow(true);
                            ((!closed || has_changed) && fits(&value)).then_some(has_changed)
                        };
                        if let Some(has_changed) = found {
                            break Side::Controlled((watcher.core.read(), has_changed));
                        }
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

    /// As [`Receiver::changed`], asked for at `site`.
    pub(crate) async fn changed_at(&mut self, site: Site) -> Result<(), RecvError> {
        match &mut self.inner {
            Side::Controlled(watcher) => watcher.changed(site).await,
            Side::Tokio(receiver) => receiver.changed().await.map_err(|_| RecvError(())),
        }
    }

    /// As [`Receiver::changed_at`], of a receiver that is for this alone.
    pub(crate) async fn into_change(mut self, site: Site) -> Result<(), RecvError> {
        self.changed_at(site).await
    }

    /// From here on part of something that tasks share.
    pub(crate) fn part_of(mut self) -> Self {
        if let Side::Controlled(watcher) = &mut self.inner {
            watcher.is_part = true;
        }
        self
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
                let ticket = watcher.core.now(|world, object| world.clone_watcher(object, watcher.ticket));
                Side::Controlled(Watcher { core: Arc::clone(&watcher.core), ticket, is_part: false })
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
    pub(super) inner: Side<(RwLockReadGuard<'a, T>, bool), theirs::Ref<'a, T>>,
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

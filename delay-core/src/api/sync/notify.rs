//! Notifications without a value. Mirrors `tokio::sync::Notify`.
//!
//! Awaiting a [`Notified`] is an awaited op: the attempt, and if there was no notification the place in the queue.
//! Notifying, creating a future and [`Notified::enable`] are immediate.

use crate::{
    api::{
        backend::{self, Side},
        leaf::Leaf,
    },
    ids::Object,
    world::{
        op::{Op, Site},
        shared::{Ask, Ticket, notify::End},
    },
};
use std::{
    fmt,
    panic::Location,
    pin::Pin,
    sync::Arc,
    task::{self, Poll},
};
use tokio::sync::{self as theirs, futures as their_futures};

/// Notifies tasks that wait.
///
/// ```
/// # use delay_core::api::sync::Notify;
/// async fn body() {
///     let notify = Notify::new();
///     notify.notify_one();
///     notify.notified().await;
/// }
/// ```
pub struct Notify {
    inner: Side<Control, Arc<theirs::Notify>>,
}

#[derive(Clone, Copy)]
struct Control {
    object: Object,
    execution: u64,
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}

impl Default for Notify {
    fn default() -> Self {
        Self::new()
    }
}

impl Notify {
    /// Nobody is notified yet.
    pub fn new() -> Self {
        let controlled = |context: &mut crate::live::context::Context| {
            let object = context.world.create_notify();
            context.labels.name_object(object, "notify", None);
            Control { object, execution: context.execution }
        };
        Self { inner: backend::choose(controlled, || Arc::new(theirs::Notify::new())) }
    }

    /// A future that ends once it is notified. `notify_waiters` reaches it from now on.
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        Notified { inner: Listening::new(&self.inner, Location::caller()), notify: std::marker::PhantomData }
    }

    /// As [`Notify::notified`], for a future that keeps the notifier.
    #[track_caller]
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        OwnedNotified { inner: Listening::new(&self.inner, Location::caller()) }
    }

    #[track_caller]
    fn notify(&self, controlled: impl FnOnce(&mut crate::world::World, Object), theirs: fn(&theirs::Notify)) {
        match &self.inner {
            Side::Controlled(control) => {
                backend::within(control.execution, |context| controlled(&mut context.world, control.object));
            }
            Side::Tokio(notify) => theirs(notify),
        }
    }

    /// Notifies the task that has waited longest, or else the next that waits.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(|world, object| world.notify(object, End::First), theirs::Notify::notify_one);
    }

    /// Notifies the task that came last, or else the next that waits.
    #[track_caller]
    pub fn notify_last(&self) {
        self.notify(|world, object| world.notify(object, End::Last), theirs::Notify::notify_last);
    }

    /// Notifies every future there is.
    #[track_caller]
    pub fn notify_waiters(&self) {
        self.notify(crate::world::World::notify_all, theirs::Notify::notify_waiters);
    }
}

/// A future that listens, on either side.
struct Listening {
    inner: Side<Asking, Pin<Box<their_futures::OwnedNotified>>>,
}

struct Asking {
    of: Control,
    ticket: Ticket,
    leaf: Leaf,
    /// It was notified and has seen it.
    over: bool,
}

impl Listening {
    #[track_caller]
    fn new(of: &Side<Control, Arc<theirs::Notify>>, site: Site) -> Self {
        let inner = match of {
            Side::Controlled(of) => {
                let ticket = backend::within(of.execution, |context| context.world.listen(of.object));
                Side::Controlled(Asking { of: *of, ticket, leaf: Leaf::new(of.execution, site), over: false })
            }
            Side::Tokio(notify) => Side::Tokio(Box::pin(Arc::clone(notify).notified_owned())),
        };
        Self { inner }
    }

    #[track_caller]
    fn enable(&mut self) -> bool {
        match &mut self.inner {
            Side::Tokio(notified) => notified.as_mut().enable(),
            Side::Controlled(asking) if asking.over => true,
            Side::Controlled(asking) => {
                let Control { object, execution } = asking.of;
                asking.over = backend::within(execution, |context| {
                    let notified = context.world.ask_now(object, asking.ticket);
                    if notified {
                        context.world.heard(object, asking.ticket);
                    }
                    notified
                });
                if asking.over {
                    asking.leaf = Leaf::new(execution, asking.leaf.site());
                }
                asking.over
            }
        }
    }

    fn poll(&mut self, cx: &mut task::Context<'_>) -> Poll<()> {
        match &mut self.inner {
            Side::Tokio(notified) => notified.as_mut().poll(cx),
            Side::Controlled(asking) if asking.over => Poll::Ready(()),
            Side::Controlled(Asking { of, ticket, leaf, over }) => {
                let (object, ticket, site) = (of.object, *ticket, leaf.site());
                let op = || Op::Shared { object, ask: Ask::Notified(ticket) };
                task::ready!(leaf.poll_with(cx, op, |context, _| {
                    context.world.heard(object, ticket);
                    context.record(site, |context| {
                        format!("is notified by {}", context.labels.object(&context.world, object))
                    });
                }));
                *over = true;
                Poll::Ready(())
            }
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if !self.over {
            // Nobody waits any more; then what it was notified of goes on.
            self.leaf = Leaf::new(self.of.execution, self.leaf.site());
            backend::within_if(self.of.execution, |context| {
                context.world.stop_listening(self.of.object, self.ticket);
            });
        }
    }
}

/// Future of [`Notify::notified`].
#[must_use = "futures do nothing unless awaited"]
pub struct Notified<'a> {
    inner: Listening,
    notify: std::marker::PhantomData<&'a Notify>,
}

/// Future of [`Notify::notified_owned`].
#[must_use = "futures do nothing unless awaited"]
pub struct OwnedNotified {
    inner: Listening,
}

macro_rules! listens {
    ($name:ident $(<$life:lifetime>)?) => {
        impl $name $(<$life>)? {
            /// Joins the queue without waiting; whether the notification is there already. An observation.
            #[track_caller]
            pub fn enable(self: Pin<&mut Self>) -> bool {
                self.get_mut().inner.enable()
            }
        }

        impl Future for $name $(<$life>)? {
            type Output = ();

            fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
                self.get_mut().inner.poll(cx)
            }
        }

        impl fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

listens!(Notified<'_>);
listens!(OwnedNotified);

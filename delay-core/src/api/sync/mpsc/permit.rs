//! Permits: room in a bounded channel that is held before there is a value to send.

use super::{Sender, SenderCore, error::SendError, theirs};
use crate::{
    api::{backend::Side, leaf::Leaf, sync::mailbox::Core},
    world::op::Site,
};
use std::{fmt, future::poll_fn, panic::Location, sync::Arc};

/// Room for one value. Dropped unused, it is given back.
#[must_use = "a permit that is not used is given back at once"]
pub struct Permit<'a, T> {
    inner: Side<Held<&'a Core<T>, T>, theirs::Permit<'a, T>>,
}

/// Room for one value, held together with the sender. Dropped unused, it is given back.
#[must_use = "a permit that is not used is given back at once"]
pub struct OwnedPermit<T> {
    inner: Side<Held<SenderCore<T>, T>, theirs::OwnedPermit<T>>,
}

/// Room in a controlled mailbox. Invariant: none once it was used.
struct Held<H: Hold<T>, T> {
    holder: Option<H>,
    value: std::marker::PhantomData<fn(T)>,
}

/// What a permit is for.
trait Hold<T> {
    fn core(&self) -> &Core<T>;
}

impl<T> Hold<T> for &Core<T> {
    fn core(&self) -> &Core<T> {
        self
    }
}

impl<T> Hold<T> for SenderCore<T> {
    fn core(&self) -> &Core<T> {
        &self.0
    }
}

impl<H: Hold<T>, T> Held<H, T> {
    fn new(holder: H) -> Self {
        Self { holder: Some(holder), value: std::marker::PhantomData }
    }

    #[track_caller]
    fn send(mut self, value: T, site: Site) -> H {
        let holder = self.holder.take().unwrap_or_else(|| crate::bug!("a permit is used twice"));
        holder.core().send_reserved(value, site);
        holder
    }

    fn release(mut self) -> H {
        let holder = self.holder.take().unwrap_or_else(|| crate::bug!("a permit is given back twice"));
        holder.core().release();
        holder
    }
}

impl<H: Hold<T>, T> Drop for Held<H, T> {
    fn drop(&mut self) {
        if let Some(holder) = &self.holder {
            holder.core().release();
        }
    }
}

impl<'a, T> Permit<'a, T> {
    pub(super) fn controlled(core: &'a Core<T>) -> Self {
        Self { inner: Side::Controlled(Held::new(core)) }
    }

    pub(super) fn tokio(permit: theirs::Permit<'a, T>) -> Self {
        Self { inner: Side::Tokio(permit) }
    }

    /// Sends into the room held: immediate.
    #[track_caller]
    pub fn send(self, value: T) {
        match self.inner {
            Side::Controlled(held) => {
                held.send(value, Location::caller());
            }
            Side::Tokio(permit) => permit.send(value),
        }
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

impl<T> OwnedPermit<T> {
    pub(super) fn controlled(sender: SenderCore<T>) -> Self {
        Self { inner: Side::Controlled(Held::new(sender)) }
    }

    pub(super) fn tokio(permit: theirs::OwnedPermit<T>) -> Self {
        Self { inner: Side::Tokio(permit) }
    }

    /// Sends into the room held, and gives the sender back: immediate.
    #[track_caller]
    pub fn send(self, value: T) -> Sender<T> {
        match self.inner {
            Side::Controlled(held) => Sender::controlled(held.send(value, Location::caller())),
            Side::Tokio(permit) => Sender::tokio(permit.send(value)),
        }
    }

    /// Gives the room back, and the sender.
    pub fn release(self) -> Sender<T> {
        match self.inner {
            Side::Controlled(held) => Sender::controlled(held.release()),
            Side::Tokio(permit) => Sender::tokio(permit.release()),
        }
    }

    /// Whether it is for the channel of this sender.
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        match (&self.inner, sender.side()) {
            (Side::Controlled(held), Side::Controlled(sender)) => {
                held.holder.as_ref().is_some_and(|holder| Arc::ptr_eq(&holder.0, &sender.0))
            }
            (Side::Tokio(permit), Side::Tokio(sender)) => permit.same_channel_as_sender(sender),
            (Side::Controlled(_), Side::Tokio(_)) | (Side::Tokio(_), Side::Controlled(_)) => false,
        }
    }

    /// Whether both are for the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        match (&self.inner, &other.inner) {
            (Side::Controlled(one), Side::Controlled(two)) => match (&one.holder, &two.holder) {
                (Some(one), Some(two)) => Arc::ptr_eq(&one.0, &two.0),
                _ => false,
            },
            (Side::Tokio(one), Side::Tokio(two)) => one.same_channel(two),
            (Side::Controlled(_), Side::Tokio(_)) | (Side::Tokio(_), Side::Controlled(_)) => false,
        }
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").finish_non_exhaustive()
    }
}

pub(super) async fn reserve_on<T>(
    inner: &Side<SenderCore<T>, theirs::Sender<T>>,
    site: Site,
) -> Result<Permit<'_, T>, SendError<()>> {
    match inner {
        Side::Controlled(sender) => reserve(&sender.0, site).await.map(|()| Permit::controlled(&sender.0)),
        Side::Tokio(sender) => sender.reserve().await.map(Permit::tokio),
    }
}

pub(super) async fn reserve_owned_on<T>(
    inner: Side<SenderCore<T>, theirs::Sender<T>>,
    site: Site,
) -> Result<OwnedPermit<T>, SendError<()>> {
    match inner {
        Side::Controlled(sender) => {
            reserve(&sender.0, site).await?;
            Ok(OwnedPermit::controlled(sender))
        }
        Side::Tokio(sender) => sender.reserve_owned().await.map(OwnedPermit::tokio),
    }
}

pub(super) async fn reserve<T>(core: &Core<T>, site: Site) -> Result<(), SendError<()>> {
    let mut leaf = Leaf::new(core.execution, site);
    poll_fn(|cx| core.poll_reserve(&mut leaf, cx)).await.map_err(SendError)
}

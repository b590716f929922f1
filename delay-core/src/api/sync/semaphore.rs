//! Permits that tasks acquire and give back. Mirrors `tokio::sync::Semaphore`.
//!
//! Acquiring is an awaited op, served in order; everything else is immediate.

use super::permits::{Held, Permits};
use crate::{
    api::backend::{self, Side},
    world::{
        op::Site,
        shared::{Change, again::SharedLook, semaphore::Refused},
    },
};
use std::{fmt, panic::Location, sync::Arc};
use tokio::sync as theirs;
pub use tokio::sync::TryAcquireError;

/// The semaphore was closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcquireError(());

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("semaphore closed")
    }
}

impl std::error::Error for AcquireError {}

/// Permits for whoever acquires them, in order.
///
/// ```
/// # use delay_core::api::sync::Semaphore;
/// async fn body() {
///     let semaphore = Semaphore::new(2);
///     let permit = semaphore.acquire().await.expect("it is not closed");
///     assert_eq!(semaphore.available_permits(), 1);
///     drop(permit);
/// }
/// ```
pub struct Semaphore {
    inner: Side<Permits, Arc<theirs::Semaphore>>,
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").finish_non_exhaustive()
    }
}

type Inner = Side<Held, theirs::OwnedSemaphorePermit>;

impl Semaphore {
    /// Most permits a semaphore can have.
    pub const MAX_PERMITS: usize = theirs::Semaphore::MAX_PERMITS;

    /// A semaphore with so many permits.
    ///
    /// # Panics
    /// If there are more than [`Semaphore::MAX_PERMITS`].
    pub fn new(permits: usize) -> Self {
        assert!(permits <= Self::MAX_PERMITS, "a semaphore may not have more than MAX_PERMITS permits");
        let controlled = |context: &mut crate::live::context::Context| {
            let object = context.world.create_semaphore(permits as u64);
            Permits::new(context, object, "semaphore")
        };
        Self { inner: backend::choose(controlled, || Arc::new(theirs::Semaphore::new(permits))) }
    }

    /// How many permits are free. An observation.
    #[track_caller]
    pub fn available_permits(&self) -> usize {
        match &self.inner {
            Side::Controlled(permits) => permits.look(SharedLook::Free) as usize,
            Side::Tokio(semaphore) => semaphore.available_permits(),
        }
    }

    /// Adds permits.
    #[track_caller]
    pub fn add_permits(&self, n: usize) {
        match &self.inner {
            Side::Controlled(permits) => permits.add(n as u64),
            Side::Tokio(semaphore) => semaphore.add_permits(n),
        }
    }

    /// Takes free permits away for good; returns how many, at most `n`.
    #[track_caller]
    pub fn forget_permits(&self, n: usize) -> usize {
        match &self.inner {
            Side::Controlled(permits) => permits.forget_free(n as u64) as usize,
            Side::Tokio(semaphore) => semaphore.forget_permits(n),
        }
    }

    /// Nobody gets a permit any more; whoever waits gets an error.
    #[track_caller]
    pub fn close(&self) {
        match &self.inner {
            Side::Controlled(permits) => permits.close(),
            Side::Tokio(semaphore) => semaphore.close(),
        }
    }

    /// Whether it was closed. An observation.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        match &self.inner {
            Side::Controlled(permits) => permits.look(SharedLook::IsClosed) != 0,
            Side::Tokio(semaphore) => semaphore.is_closed(),
        }
    }

    async fn ask(&self, n: u32, site: Site) -> Result<Inner, AcquireError> {
        match &self.inner {
            Side::Controlled(permits) => permits.acquire(n, site).await.map(Side::Controlled).ok_or(AcquireError(())),
            Side::Tokio(semaphore) => {
                let permit = Arc::clone(semaphore).acquire_many_owned(n).await;
                permit.map(Side::Tokio).map_err(|_| AcquireError(()))
            }
        }
    }

    #[track_caller]
    fn try_ask(&self, n: u32, site: Site) -> Result<Inner, TryAcquireError> {
        match &self.inner {
            Side::Controlled(permits) => permits.try_acquire(n, site).map(Side::Controlled).map_err(|why| match why {
                Refused::NoPermits => TryAcquireError::NoPermits,
                Refused::Closed => TryAcquireError::Closed,
            }),
            Side::Tokio(semaphore) => Arc::clone(semaphore).try_acquire_many_owned(n).map(Side::Tokio),
        }
    }

    /// Waits for a permit. A scheduling point.
    ///
    /// # Errors
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> + use<'_> {
        self.acquire_many(1)
    }

    /// Waits for so many permits. A scheduling point.
    ///
    /// # Errors
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire_many(&self, n: u32) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> + use<'_> {
        let site = Location::caller();
        async move { Ok(SemaphorePermit { semaphore: self, inner: Some(self.ask(n, site).await?) }) }
    }

    /// Takes a permit without waiting.
    ///
    /// # Errors
    /// If none is free, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Takes so many permits without waiting.
    ///
    /// # Errors
    /// If not enough are free, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        Ok(SemaphorePermit { semaphore: self, inner: Some(self.try_ask(n, Location::caller())?) })
    }

    /// As [`Semaphore::acquire`], for a permit that keeps the semaphore.
    ///
    /// # Errors
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire_owned(self: Arc<Self>) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_many_owned(1)
    }

    /// As [`Semaphore::acquire_many`], for permits that keep the semaphore.
    ///
    /// # Errors
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_many_owned_at(n, Location::caller())
    }

    /// As [`Semaphore::acquire_many_owned`], asked for at `site`.
    pub(crate) async fn acquire_many_owned_at(
        self: Arc<Self>,
        n: u32,
        site: Site,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        let inner = Some(self.ask(n, site).await?);
        Ok(OwnedSemaphorePermit { semaphore: self, inner })
    }

    /// Waits for a permit in code that is not async, blocking the thread.
    ///
    /// # Errors
    /// If the semaphore is closed.
    ///
    /// # Panics
    /// In a controlled execution, and on a thread of a tokio runtime.
    #[track_caller]
    pub fn blocking_acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.blocking_acquire_many(1)
    }

    /// Waits for so many permits in code that is not async, blocking the thread.
    ///
    /// # Errors
    /// If the semaphore is closed.
    ///
    /// # Panics
    /// In a controlled execution, and on a thread of a tokio runtime.
    #[track_caller]
    pub fn blocking_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        Ok(SemaphorePermit { semaphore: self, inner: Some(self.blocking_ask(n)?) })
    }

    /// As [`Semaphore::blocking_acquire`], for a permit that keeps the semaphore.
    ///
    /// # Errors
    /// If the semaphore is closed.
    ///
    /// # Panics
    /// In a controlled execution, and on a thread of a tokio runtime.
    #[track_caller]
    pub fn blocking_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.blocking_acquire_many_owned(1)
    }

    /// As [`Semaphore::blocking_acquire_many`], for permits that keep the semaphore.
    ///
    /// # Errors
    /// If the semaphore is closed.
    ///
    /// # Panics
    /// In a controlled execution, and on a thread of a tokio runtime.
    #[track_caller]
    pub fn blocking_acquire_many_owned(self: Arc<Self>, n: u32) -> Result<OwnedSemaphorePermit, AcquireError> {
        let inner = Some(self.blocking_ask(n)?);
        Ok(OwnedSemaphorePermit { semaphore: self, inner })
    }

    #[track_caller]
    fn blocking_ask(&self, n: u32) -> Result<Inner, AcquireError> {
        backend::refuse_blocking("blocking_acquire", "acquire().await");
        match &self.inner {
            Side::Controlled(_) => backend::misplaced(),
            Side::Tokio(semaphore) => {
                let permit = Arc::clone(semaphore).blocking_acquire_many_owned(n);
                permit.map(Side::Tokio).map_err(|_| AcquireError(()))
            }
        }
    }

    /// As [`Semaphore::try_acquire`], for a permit that keeps the semaphore.
    ///
    /// # Errors
    /// If none is free, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// As [`Semaphore::try_acquire_many`], for permits that keep the semaphore.
    ///
    /// # Errors
    /// If not enough are free, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_many_owned(self: Arc<Self>, n: u32) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        let inner = Some(self.try_ask(n, Location::caller())?);
        Ok(OwnedSemaphorePermit { semaphore: self, inner })
    }
}

/// Permits of a [`Semaphore`], given back when dropped.
#[must_use]
pub struct SemaphorePermit<'a> {
    semaphore: &'a Semaphore,
    inner: Option<Inner>,
}

/// Permits that keep their [`Semaphore`], given back when dropped.
#[must_use]
pub struct OwnedSemaphorePermit {
    semaphore: Arc<Semaphore>,
    inner: Option<Inner>,
}

fn forget(inner: Option<Inner>) {
    match inner {
        Some(Side::Controlled(held)) => held.forget(),
        Some(Side::Tokio(permit)) => permit.forget(),
        None => {}
    }
}

#[track_caller]
fn merge(inner: &mut Option<Inner>, other: Option<Inner>) {
    match (inner, other) {
        (Some(Side::Controlled(one)), Some(Side::Controlled(two))) => {
            assert!(one.of.is(two.of), "merging permits from different semaphore instances");
            one.merge(two);
        }
        (Some(Side::Tokio(one)), Some(Side::Tokio(two))) => one.merge(two),
        _ => panic!("merging permits from different semaphore instances"),
    }
}

fn split(inner: &mut Option<Inner>, n: usize) -> Option<Inner> {
    match inner.as_mut()? {
        Side::Controlled(held) => held.split(n as u64).map(Side::Controlled),
        Side::Tokio(permit) => permit.split(n).map(Side::Tokio),
    }
}

fn count(inner: Option<&Inner>) -> usize {
    match inner {
        Some(Side::Controlled(held)) => held.count as usize,
        Some(Side::Tokio(permit)) => permit.num_permits(),
        None => 0,
    }
}

fn release(inner: &mut Option<Inner>) {
    if let Some(Side::Controlled(held)) = inner {
        held.release(held.count, || Change::None);
    }
}

macro_rules! permit_methods {
    ($semaphore:ty) => {
        /// The permits stay away for good.
        pub fn forget(mut self) {
            forget(self.inner.take());
        }

        /// Adds the permits of another of the same semaphore.
        ///
        /// # Panics
        /// If it is of another semaphore.
        #[track_caller]
        pub fn merge(&mut self, mut other: Self) {
            merge(&mut self.inner, other.inner.take());
        }

        /// Splits so many permits off, if there are that many.
        pub fn split(&mut self, n: usize) -> Option<Self> {
            let inner = Some(split(&mut self.inner, n)?);
            Some(Self { semaphore: Clone::clone(&self.semaphore), inner })
        }

        /// The semaphore.
        pub fn semaphore(&self) -> &$semaphore {
            &self.semaphore
        }

        /// How many permits these are.
        pub fn num_permits(&self) -> usize {
            count(self.inner.as_ref())
        }
    };
}

impl SemaphorePermit<'_> {
    permit_methods!(Semaphore);
}

impl OwnedSemaphorePermit {
    permit_methods!(Arc<Semaphore>);
}

impl Drop for SemaphorePermit<'_> {
    fn drop(&mut self) {
        release(&mut self.inner);
    }
}

impl Drop for OwnedSemaphorePermit {
    fn drop(&mut self) {
        release(&mut self.inner);
    }
}

impl fmt::Debug for SemaphorePermit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SemaphorePermit").field("permits", &self.num_permits()).finish_non_exhaustive()
    }
}

impl fmt::Debug for OwnedSemaphorePermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedSemaphorePermit").field("permits", &self.num_permits()).finish_non_exhaustive()
    }
}

//! What a cell and a log have in common: a store under test, or a deployed one, and an operation on it.

use super::{
    Stored,
    controlled::{self, Controlled},
    deployed::{Deployed, Syncing},
    place,
};
use crate::{
    api::{
        backend::{self, Side},
        payload::Payload,
    },
    world::words::Keeps,
};
use std::{
    panic::Location,
    sync::Arc,
    task::{self, Poll},
};

/// Both kinds of store.
pub(super) struct Handle<T>(Side<Controlled<T>, Arc<Deployed<T>>>);

impl<T: Stored> Handle<T> {
    #[track_caller]
    pub(super) fn open(name: &str, keeps: Keeps, payload: Payload<T>) -> Self {
        Self(if backend::is_controlled() {
            Side::Controlled(Controlled::open(name, keeps, payload))
        } else {
            Side::Tokio(place::open(name, keeps))
        })
    }

    pub(super) fn write(&self, value: T, site: &'static Location<'static>) -> Asking<T> {
        Asking(match &self.0 {
            Side::Controlled(store) => Side::Controlled(store.write(value, site)),
            Side::Tokio(store) => Side::Tokio(Accessing::new(store, Access::Write(Some(value)))),
        })
    }

    pub(super) fn sync(&self, site: &'static Location<'static>) -> Asking<T> {
        Asking(match &self.0 {
            Side::Controlled(store) => Side::Controlled(store.sync(site)),
            Side::Tokio(store) => Side::Tokio(Accessing::new(store, Access::Sync(None))),
        })
    }

    pub(super) fn read(&self, site: &'static Location<'static>) -> Asking<T> {
        Asking(match &self.0 {
            Side::Controlled(store) => Side::Controlled(store.read(site)),
            Side::Tokio(store) => Side::Tokio(Accessing::new(store, Access::Read)),
        })
    }
}

/// What there is after an operation.
pub(super) struct Contents<T> {
    pub(super) values: Vec<T>,
    pub(super) is_torn: bool,
}

/// What is done with a deployed store.
enum Access<T> {
    /// None once it was written.
    Write(Option<T>),
    /// None until it is polled.
    Sync(Option<Syncing>),
    Read,
}

struct Accessing<T> {
    store: Arc<Deployed<T>>,
    access: Access<T>,
}

pub(super) struct Asking<T>(Side<controlled::Asking<T>, Accessing<T>>);

// The value is moved out, never pinned.
impl<T> Unpin for Asking<T> {}

impl<T: Stored> Asking<T> {
    pub(super) fn poll(&mut self, cx: &mut task::Context<'_>) -> Poll<Contents<T>> {
        match &mut self.0 {
            Side::Controlled(asking) => asking.poll(cx),
            Side::Tokio(accessing) => accessing.poll(cx),
        }
    }
}

impl<T: Stored> Accessing<T> {
    fn new(store: &Arc<Deployed<T>>, access: Access<T>) -> Self {
        Self { store: Arc::clone(store), access }
    }

    fn poll(&mut self, cx: &mut task::Context<'_>) -> Poll<Contents<T>> {
        let Self { store, access } = self;
        match access {
            Access::Write(value) => {
                if let Some(value) = value.take() {
                    store.write(value);
                }
            }
            Access::Read => {
                let (values, is_torn) = store.read();
                return Poll::Ready(Contents { values, is_torn });
            }
            Access::Sync(syncing) => {
                let synced = task::ready!(syncing.get_or_insert_with(|| store.sync()).poll(cx));
                // Whoever waits for it would act on what may be gone.
                synced.unwrap_or_else(|error| panic!("{error}"));
            }
        }
        Poll::Ready(Contents { values: Vec::new(), is_torn: false })
    }
}

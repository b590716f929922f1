//! No store is under test.

use super::{Stored, handle::Contents};
use crate::{
    api::{
        backend::{self, Absent, absent},
        payload::Payload,
    },
    world::words::Keeps,
};
use std::{
    panic::Location,
    task::{Context, Poll},
};

absent! {
    struct Controlled[T] = T {
        write(value: T, site: &'static Location<'static>) -> Asking<T>;
        sync(site: &'static Location<'static>) -> Asking<T>;
        read(site: &'static Location<'static>) -> Asking<T>;
    }
    struct Asking[T] = T {
        poll(cx: &Context<'_>) -> Poll<Contents<T>>;
    }
}

impl<T: Stored> Controlled<T> {
    pub(super) fn open(_name: &str, _keeps: Keeps, _payload: Payload<T>) -> Self {
        backend::misplaced()
    }
}

//! No node is under test.

use crate::{
    api::backend::{self, Absent, absent},
    world::fault::{Faults, Mail},
};
use std::{
    borrow::Cow,
    future::Future,
    panic::Location,
    task::{Context, Poll},
};

absent! {
    struct Controlled[] = () {
        is_up() -> bool;
        down(site: &'static Location<'static>) -> Downing;
        crash(site: &'static Location<'static>) -> Changing;
        restart(site: &'static Location<'static>) -> Changing;
    }
    struct Changing[] = () {
        poll(cx: &Context<'_>) -> Poll<()>;
    }
    struct Downing[] = () {
        poll(cx: &Context<'_>) -> Poll<()>;
    }
}

impl Clone for Controlled {
    fn clone(&self) -> Self {
        self.0.never()
    }
}

impl Controlled {
    pub(super) fn start<F, Fut>(
        _name: Cow<'static, str>,
        _mail: Mail,
        _faults: Option<Faults>,
        _init: F,
        _site: &'static Location<'static>,
    ) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        backend::misplaced()
    }
}

//! No monitor is under test.

use super::Monitor;
use crate::api::backend;
use std::{fmt, panic::Location};

pub(super) fn register<M: Monitor>(_monitor: M) -> Option<(u64, usize)> {
    backend::misplaced()
}

pub(super) fn also<M: Monitor, E: Clone + 'static>(_execution: u64, _index: usize)
where
    M::Event: From<E>,
{
    backend::misplaced()
}

pub(super) fn announce<E: fmt::Debug + 'static>(_event: &E, _site: &'static Location<'static>) {
    backend::misplaced()
}

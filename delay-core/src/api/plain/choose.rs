//! No choice is under test.

use crate::api::backend::{self, Absent};
use std::{
    panic::Location,
    task::{self, Poll},
};

#[derive(Debug)]
pub(super) struct Asking(Absent<()>);

impl Asking {
    pub(super) fn new(_count: u32, _is_fair: bool, _site: &'static Location<'static>) -> Self {
        backend::misplaced()
    }

    pub(super) fn poll(&self, _cx: &task::Context<'_>, _words: impl Fn(u32) -> String) -> Poll<u32> {
        self.0.never()
    }
}

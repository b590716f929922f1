//! A value that only the execution it was made in gets at. The execution is the key, so no lock is needed: handles can be sent to other threads,
//! and shared with them, but who has no execution at hand gets nothing.
//!
//! Invariant: a borrow ends before user code runs, as one of the context does.

use crate::live::context::Context;
use qcell::{QCell, QCellOwnerID};
use std::{
    panic::RefUnwindSafe,
    sync::{Mutex, PoisonError},
};

/// See the module.
pub(crate) struct Owned<T> {
    owner: QCellOwnerID,
    /// The mutex is never locked: what is only ever reached by `&mut` can be shared, whether or not its type can, and a mutex says so.
    value: QCell<Mutex<T>>,
}

// Nothing can be seen half changed: no user code runs while it is borrowed.
impl<T> RefUnwindSafe for Owned<T> {}

impl<T> Owned<T> {
    pub(crate) fn new(context: &Context, value: T) -> Self {
        let owner = context.owner.id();
        Self { owner, value: owner.cell(Mutex::new(value)) }
    }

    /// The value, for who has its execution at hand.
    #[inline]
    pub(crate) fn of<'a>(&'a self, context: &'a mut Context) -> &'a mut T {
        context.owner.rw(&self.value).get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it was made in an execution of the same engine.
    pub(crate) fn is_owned_by(&self, context: &Context) -> bool {
        context.owner.id() == self.owner
    }
}

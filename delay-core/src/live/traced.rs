//! The program's tracing: silenced while executions are explored, let through for the one a person is shown.
//!
//! On a thread that runs executions no subscriber listens; the one that listened where the test was started is kept aside
//! for [`aloud`].

use std::cell::RefCell;
use tracing_core::dispatcher::{self, Dispatch};

thread_local! {
    static LISTENER: RefCell<Option<Dispatch>> = const { RefCell::new(None) };
}

/// Who listens to the tracing of this thread, or would if it were not silenced.
pub(crate) fn listener() -> Dispatch {
    LISTENER.with(|kept| kept.borrow().clone()).unwrap_or_else(|| dispatcher::get_default(Clone::clone))
}

/// Runs `f` on a thread of the engine's own: nobody listens, and `listener` is kept aside.
pub(crate) fn silenced<R>(listener: Dispatch, f: impl FnOnce() -> R) -> R {
    LISTENER.with(|kept| *kept.borrow_mut() = Some(listener));
    dispatcher::with_default(&Dispatch::none(), f)
}

/// Runs `f` with whoever listens.
pub(crate) fn aloud<R>(f: impl FnOnce() -> R) -> R {
    dispatcher::with_default(&listener(), f)
}

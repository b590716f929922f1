//! Panics of the program under test: kept for the report, not printed, while an execution runs quietly.

use super::context;
pub(crate) use crate::api::monitor::ear::text_of;
use std::{panic, sync::Once};

/// Installs, once a process, a hook that keeps the panics of explored executions and passes every other one on.
pub(crate) fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let kept = context::keep_panic(|| {
                let place = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
                (text_of(info.payload()), place.unwrap_or_default())
            });
            if !kept {
                previous(info);
            }
        }));
    });
}

/// What a check of the user's says. One that panics says what the panic says.
pub(crate) fn said(check: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    panic::catch_unwind(panic::AssertUnwindSafe(check)).unwrap_or_else(|payload| {
        let kept = context::take_panic().map(|(message, _)| message);
        Err(kept.unwrap_or_else(|| text_of(payload.as_ref())))
    })
}

/// What to use instead, if the panic is that of a runtime that is not there.
pub(crate) fn hint_for(message: &str) -> Option<&'static str> {
    let runtime = message.contains("there is no reactor running") || message.contains("Tokio 1.x");
    runtime.then_some(
        "a raw tokio call cannot be controlled: use delay::task::spawn, delay::time and delay::net instead of tokio::spawn, tokio::time and tokio::net",
    )
}

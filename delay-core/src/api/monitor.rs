//! Safety monitors: specifications as state machines fed by announced events.

use crate::{
    hash::Print,
    live::{Listener, context},
    verdict::Violation,
};
use std::{
    any::{Any, TypeId},
    fmt,
    hash::Hash,
    panic::Location,
};

/// A safety monitor: a state machine over announced events.
///
/// Its whole state must take part in `Hash`: it is part of the program state, and what it leaves out makes a state
/// cache unsound. A returned error, or a panic, is the violation.
pub trait Monitor: Hash + 'static {
    /// The events it listens to. Traces show them by their `Debug`.
    type Event: fmt::Debug + 'static;

    /// An event was announced.
    ///
    /// # Errors
    /// What is wrong, in a sentence for the report.
    fn on(&mut self, event: &Self::Event) -> Result<(), String>;
}

/// Registers a monitor for this execution. Call it in the test body, before anything is announced.
///
/// Outside a controlled execution it does nothing.
pub fn register<M: Monitor>(monitor: M) {
    let state = monitor.state();
    context::with(|context| {
        context.world.add_monitor(state);
        context.monitors.push(Some(Box::new(monitor)));
    });
}

/// Announces an event to every monitor that listens to its type. Immediate: part of the running step.
///
/// Outside a controlled execution it does nothing.
#[track_caller]
pub fn announce<E: fmt::Debug + 'static>(event: E) {
    let site = Location::caller();
    // What a destructor says while its node crashes is not said.
    let Some(count) =
        context::with(|context| (!context.world.is_crashing()).then_some(context.monitors.len())).flatten()
    else {
        return;
    };
    let mut heard = false;
    if context::with(|context| context.recorder.is_some()) == Some(true) {
        // Shown outside the borrow: `Debug` is the user's code.
        let text = format!("announces {event:?}");
        context::with(|context| context.record_text(context.world.actor(), site, text));
    }
    for index in 0..count {
        let taken = context::with(|context| {
            let slot = &mut context.monitors[index];
            if slot.as_ref().is_some_and(|monitor| monitor.hears(TypeId::of::<E>())) { slot.take() } else { None }
        });
        if let Some(monitor) = taken.flatten() {
            if !heard {
                context::with(|context| context.world.announce());
            }
            heard = true;
            tell(index, monitor, &event);
        }
    }
    context::with(|context| context.unheard += u64::from(!heard));
}

fn tell(index: usize, mut monitor: Box<dyn Listener>, event: &dyn Any) {
    let said = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| monitor.on(event)));
    let said = said.unwrap_or_else(|payload| {
        let kept = context::take_panic().map(|(message, _)| message);
        Err(kept.unwrap_or_else(|| crate::live::panics::text_of(payload.as_ref())))
    });
    let (state, name): (Print, _) = (monitor.state(), monitor.name());
    context::with(|context| {
        context.world.set_monitor(index, state);
        context.monitors[index] = Some(monitor);
        if let Err(message) = said {
            let process = context.labels.process(&context.world, context.world.actor());
            context.violate(Violation::Monitor { monitor: name.to_owned(), process, message });
        }
    });
}

//! Invariants over the states of several processes: what must hold between any two steps.

pub use crate::live::observed::Observed;
use crate::{
    hash::{Domain, Print},
    live::{context, observed::Value},
};
use std::{any::type_name, borrow::Cow, fmt, hash::Hash, panic::Location};

/// Registers an invariant for this execution. Call it in the test body, before anything is observed.
///
/// It is checked after every step in which something was [observed](observe), not in the middle of one: two values
/// observed in one step change together. A returned error, or a panic, is the violation. It must be a function of what was
/// observed.
///
/// Outside a controlled execution it does nothing.
///
/// ```
/// use delay_core::api::invariant::{invariant, observe};
/// async fn test_body() {
///     invariant("one leader", |seen| {
///         let leaders: Vec<_> =
///             seen.under::<bool>("leads/").filter(|(_, leads)| **leads).collect();
///         if leaders.len() <= 1 { Ok(()) } else { Err(format!("{leaders:?}")) }
///     });
/// }
/// fn becomes_leader(me: u32) {
///     observe(format!("leads/{me}"), true);
/// }
/// ```
pub fn invariant(name: impl Into<Cow<'static, str>>, holds: impl Fn(&Observed) -> Result<(), String> + 'static) {
    let name = name.into();
    let of_name = Print::of_text(Domain::Monitor, &name).and(Print::of_text(Domain::Monitor, "an invariant"));
    context::with(|context| {
        let is_first = context.observations.is_empty();
        context.world.note_invariant(of_name, is_first);
        context.observations.add(name, Box::new(holds));
    });
}

/// Shows a part of a process's state to the invariants, until the next value under this name. Immediate: part of the running
/// step.
///
/// A name belongs to the whole execution: put the process's own name into it. What was observed is part of the program
/// state, so show what invariants speak of and no more.
///
/// Outside a controlled execution it does nothing.
#[track_caller]
pub fn observe<T: Hash + fmt::Debug + 'static>(name: impl Into<Cow<'static, str>>, value: T) {
    let site = Location::caller();
    let Some((looked_at, recorded)) =
        context::with(|context| (!context.observations.is_empty(), context.recorder.is_some()))
    else {
        return;
    };
    let name = name.into();
    if recorded {
        // Shown outside the borrow: `Debug` is the user's code.
        let text = format!("observes {name} = {value:?}");
        context::with(|context| context.record_text(context.world.actor(), site, text));
    }
    if !looked_at {
        context::with(|context| context.unseen += 1);
        return;
    }
    let of_name = Print::of_text(Domain::Monitor, &name);
    // Values of different types may hash alike, and an invariant tells them apart.
    let of_type = Print::of_text(Domain::Content, type_name::<T>());
    let print = of_name.and(of_type).and(Print::of_value(Domain::Content, &value));
    let value = Value { shown: Box::new(value), type_name: type_name::<T>() };
    // What was there before is dropped outside the borrow.
    let _before = context::with(|context| {
        let before = context.observations.set(name, value);
        context.world.observe_value(of_name, print);
        before
    });
}

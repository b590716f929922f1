//! Monitors under test: they are part of the execution's state.

use super::{
    Monitor,
    ear::{Listener, Registered, Tell, short_type_name},
};
use crate::{
    limits,
    live::{context, panics},
    verdict::Violation,
    world::op::Site,
};
use std::{
    any::{Any, TypeId},
    fmt,
};

/// The execution and the number in it; none if there is no room.
pub(super) fn register<M: Monitor>(monitor: M) -> Option<(u64, usize)> {
    let (state, is_hot) = (monitor.state(), monitor.is_hot());
    // One that is not taken is dropped outside the borrow.
    let mut registered = Some(Registered::new(monitor));
    context::with(|context| {
        if context.monitors.len() == limits::MONITORS_MAX {
            return None;
        }
        context.monitors.extend(registered.take());
        Some((context.execution, context.world.add_monitor(state, is_hot)))
    })
    .flatten()
}

/// Lets a monitor listen to another type of events.
pub(super) fn also<M: Monitor, E: Clone + 'static>(execution: u64, index: usize)
where
    M::Event: From<E>,
{
    context::with(|context| {
        if context.execution == execution {
            context.monitors[index].also::<M, E>();
        }
    });
}

/// Tells the monitors of the execution.
pub(super) fn announce<E: fmt::Debug + 'static>(event: &E, site: Site) {
    // What a destructor says while its node crashes is not said.
    let Some(count) =
        context::with(|context| (!context.world.is_crashing()).then(|| context.world.count_monitors())).flatten()
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
            let monitor = &mut context.monitors[index];
            let ear = monitor.ear(TypeId::of::<E>())?;
            let listener = monitor.listener.take()?;
            context.world.ask_monitor(index);
            Some((ear, listener))
        });
        if let Some((ear, listener)) = taken.flatten() {
            if !heard {
                context::with(|context| context.world.announce());
            }
            heard = true;
            tell(index, ear, listener, event);
        }
    }
    if !heard {
        context::with(|context| {
            context.unheard += 1;
            context.unheard_first.get_or_insert_with(short_type_name::<E>);
        });
    }
}

fn tell(index: usize, ear: Tell, mut listener: Box<dyn Listener>, event: &dyn Any) {
    let said = panics::said(|| ear(listener.as_mut(), event));
    let (state, is_hot) = (listener.state(), listener.is_hot());
    context::with(|context| {
        context.world.set_monitor(index, state, is_hot);
        context.monitors[index].listener = Some(listener);
        if let Err(message) = said {
            let monitor = context.monitors[index].name.clone();
            let process = context.labels.process(&context.world, context.world.actor());
            context.violate(Violation::Monitor { monitor, process, message });
        }
    });
}

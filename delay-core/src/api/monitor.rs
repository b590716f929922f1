//! Monitors: specifications as state machines fed by announced events.
//!
//! Source: the spec machines of P, "Compositional programming and testing of dynamic distributed systems" (OOPSLA 2018).

use crate::{
    limits,
    live::{Listener, Registered, Tell, context, panics, short_type_name},
    verdict::Violation,
};
use std::{
    any::{Any, TypeId},
    fmt,
    hash::Hash,
    marker::PhantomData,
    panic::Location,
};

/// A monitor: a state machine over announced events that says what must not happen, and what has to.
///
/// Its whole state must take part in `Hash`: it is part of the program state, and what it leaves out makes a state
/// cache unsound. A returned error, or a panic, is the violation.
///
/// ```
/// # use delay_core::api::monitor::{Monitor, register};
/// /// Every request is answered.
/// #[derive(Hash, Default)]
/// struct Answered {
///     open: u32,
/// }
///
/// #[derive(Debug)]
/// enum Said {
///     Asked,
///     Answered,
/// }
///
/// impl Monitor for Answered {
///     type Event = Said;
///
///     fn on(&mut self, said: &Said) -> Result<(), String> {
///         match said {
///             Said::Asked => self.open += 1,
///             Said::Answered => self.open = self.open.checked_sub(1).ok_or("nobody had asked")?,
///         }
///         Ok(())
///     }
///
///     fn is_hot(&self) -> bool {
///         self.open > 0
///     }
/// }
/// # async fn body() {
/// register(Answered::default());
/// # }
/// ```
pub trait Monitor: Hash + 'static {
    /// The events it listens to. Traces show them by their `Debug`.
    type Event: fmt::Debug + 'static;

    /// An event was announced.
    ///
    /// # Errors
    /// What is wrong, in a sentence for the report.
    fn on(&mut self, event: &Self::Event) -> Result<(), String>;

    /// Whether something good is owed and has not happened yet (P's hot states). An execution that ends hot is a
    /// violation, and so is one that can stay hot for ever although it is fair.
    ///
    /// It must be a function of what takes part in `Hash`.
    fn is_hot(&self) -> bool {
        false
    }
}

/// A monitor that was registered. See [`Monitoring::also`].
#[derive(Debug)]
pub struct Monitoring<M> {
    /// The execution and the number in it; none outside a controlled execution.
    at: Option<(u64, usize)>,
    monitor: PhantomData<fn() -> M>,
}

impl<M: Monitor> Monitoring<M> {
    /// Lets the monitor listen to events of another type too: each is converted to [`Monitor::Event`].
    ///
    /// ```
    /// # use delay_core::api::monitor::{Monitor, register};
    /// # #[derive(Clone, Debug)] struct Sent(u32);
    /// # #[derive(Clone, Debug)] struct Received(u32);
    /// #[derive(Debug)]
    /// enum Event {
    ///     Sent(u32),
    ///     Received(u32),
    /// }
    ///
    /// impl From<Sent> for Event {
    ///     fn from(Sent(n): Sent) -> Self {
    ///         Self::Sent(n)
    ///     }
    /// }
    /// # impl From<Received> for Event { fn from(Received(n): Received) -> Self { Self::Received(n) } }
    /// # #[derive(Hash, Default)] struct InFlight(i64);
    /// # impl Monitor for InFlight {
    /// #     type Event = Event;
    /// #     fn on(&mut self, event: &Event) -> Result<(), String> {
    /// #         match event { Event::Sent(_) => self.0 += 1, Event::Received(_) => self.0 -= 1 }
    /// #         Ok(())
    /// #     }
    /// # }
    ///
    /// register(InFlight::default()).also::<Sent>().also::<Received>();
    /// ```
    #[expect(clippy::must_use_candidate, reason = "called for what it does; what it returns is for the next call")]
    #[expect(clippy::return_self_not_must_use, reason = "as above")]
    pub fn also<E: Clone + 'static>(self) -> Self
    where
        M::Event: From<E>,
    {
        if let Some((execution, index)) = self.at {
            context::with(|context| {
                if context.execution == execution {
                    context.monitors[index].also::<M, E>();
                }
            });
        }
        self
    }
}

/// Registers a monitor for this execution. Call it in the test body, before anything is announced.
///
/// Outside a controlled execution it does nothing.
///
/// # Panics
/// If there are [`limits::MONITORS_MAX`] already.
pub fn register<M: Monitor>(monitor: M) -> Monitoring<M> {
    let (state, is_hot) = (monitor.state(), monitor.is_hot());
    // One that is not taken is dropped outside the borrow.
    let mut registered = Some(Registered::new(monitor));
    let at = context::with(|context| {
        if context.monitors.len() == limits::MONITORS_MAX {
            return None;
        }
        context.monitors.extend(registered.take());
        Some((context.execution, context.world.add_monitor(state, is_hot)))
    });
    assert!(at != Some(None), "more than {} monitors: let one listen to what several do", limits::MONITORS_MAX);
    Monitoring { at: at.flatten(), monitor: PhantomData }
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
            let monitor = &mut context.monitors[index];
            let ear = monitor.ear(TypeId::of::<E>())?;
            Some((ear, monitor.listener.take()?))
        });
        if let Some((ear, listener)) = taken.flatten() {
            if !heard {
                context::with(|context| context.world.announce());
            }
            heard = true;
            tell(index, ear, listener, &event);
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

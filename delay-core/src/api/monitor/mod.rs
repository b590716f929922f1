//! Monitors: specifications as state machines fed by announced events.
//!
//! In a test [`register`] hands monitors to the execution. In production they hear nothing unless a [`Watch`] is installed, and what is
//! announced can be recorded (`api/record/`). As long as nobody listens an announcement is one relaxed load.
//!
//! Source: the spec machines of P, "Compositional programming and testing of dynamic distributed systems" (OOPSLA 2018).

#[cfg_attr(not(feature = "controlled"), path = "../plain/monitor.rs")]
mod controlled;
pub(crate) mod ear;
mod installed;

use super::backend;
use crate::limits;
use ear::{Monitors, Registered};
pub use installed::{Installed, Objection, OnViolation, Watch};
use std::{
    cell::RefCell,
    fmt,
    hash::Hash,
    marker::PhantomData,
    panic::Location,
    sync::atomic::{AtomicU8, Ordering},
};

/// Who may hear what is announced, as bits. Zero: nobody, in the whole process.
static LISTENERS: AtomicU8 = AtomicU8::new(0);

/// A controlled execution was made in this process: it may be that of the calling thread. Never taken back.
#[cfg(feature = "controlled")]
pub(crate) const CONTROLLED: u8 = 1;
/// A watch is installed.
pub(crate) const WATCHED: u8 = 2;
/// What is announced is recorded.
pub(crate) const RECORDED: u8 = 4;

/// From now on somebody listens.
pub(crate) fn listens(who: u8) {
    LISTENERS.fetch_or(who, Ordering::Relaxed);
}

/// From now on nobody of this kind listens.
pub(crate) fn listens_no_more(who: u8) {
    LISTENERS.fetch_and(!who, Ordering::Relaxed);
}

/// Whether somebody of this kind listens.
#[inline]
pub(crate) fn is_heard(who: u8) -> bool {
    LISTENERS.load(Ordering::Relaxed) & who != 0
}

/// Whether anybody may listen, so that it is worth making an event.
#[inline]
pub(crate) fn somebody_listens() -> bool {
    LISTENERS.load(Ordering::Relaxed) != 0
}

thread_local! {
    /// Where monitors go that are registered outside a controlled execution, while a [`collect`] asks for them.
    static COLLECTED: RefCell<Option<Monitors>> = const { RefCell::new(None) };
}

/// Puts back what was there, also if a specification panics.
struct Outer(Option<Monitors>);

impl Drop for Outer {
    fn drop(&mut self) {
        COLLECTED.set(self.0.take());
    }
}

/// The monitors that `specification` registers.
///
/// # Panics
/// If it does so inside a controlled execution, whose monitors they would be.
#[track_caller]
pub(crate) fn collect<R>(specification: impl FnOnce() -> R) -> Monitors {
    assert!(
        !backend::is_controlled(),
        "inside a test monitors are registered for the execution: call monitor::register in the test body"
    );
    let _outer = Outer(COLLECTED.replace(Some(Monitors::new())));
    let _registered = specification();
    COLLECTED.take().unwrap_or_default()
}

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
///
/// It is `Send` because in production events are announced by several threads.
pub trait Monitor: Hash + Send + 'static {
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

/// Where a monitor is.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// In an execution, and its number there.
    Execution(u64, usize),
    /// Among those of a watch or an observer, and its number there.
    Collected(usize),
    Nowhere,
}

/// A monitor that was registered. See [`Monitoring::also`].
#[derive(Debug)]
pub struct Monitoring<M> {
    at: Place,
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
        match self.at {
            Place::Execution(execution, index) => controlled::also::<M, E>(execution, index),
            Place::Collected(index) => COLLECTED.with_borrow_mut(|collected| {
                if let Some(monitor) = collected.as_mut().and_then(|monitors| monitors.get_mut(index)) {
                    monitor.also::<M, E>();
                }
            }),
            Place::Nowhere => {}
        }
        self
    }
}

/// Registers a monitor: for this execution if called in a test body, before anything is announced; for a watch or an observer if called
/// in the function given to [`Watch::install`] or [`Observer::new`](crate::api::record::Observer::new).
///
/// Anywhere else it does nothing, so that a test body also runs outside a test.
///
/// # Panics
/// If there are [`limits::MONITORS_MAX`] already.
pub fn register<M: Monitor>(monitor: M) -> Monitoring<M> {
    let at = if backend::is_controlled() {
        controlled::register(monitor).map(|(execution, index)| Place::Execution(execution, index))
    } else {
        collected(monitor)
    };
    let Some(at) = at else {
        panic!("more than {} monitors: let one listen to what several do", limits::MONITORS_MAX);
    };
    Monitoring { at, monitor: PhantomData }
}

/// Where a monitor is that is registered outside a controlled execution; none if there is no room.
fn collected<M: Monitor>(monitor: M) -> Option<Place> {
    // One that is not taken is dropped outside the borrow.
    let mut registered = Some(Registered::new(monitor));
    COLLECTED.with_borrow_mut(|collected| match collected {
        None => Some(Place::Nowhere),
        Some(monitors) if monitors.len() == limits::MONITORS_MAX => None,
        Some(monitors) => {
            monitors.extend(registered.take());
            Some(Place::Collected(monitors.len() - 1))
        }
    })
}

/// Announces an event to every monitor that listens to its type. Immediate: part of the running step.
///
/// Outside a controlled execution it is heard by the [`Watch`]es that are installed, and recorded if there is a
/// [recording](crate::api::record); without either it costs one relaxed load.
#[track_caller]
#[inline]
pub fn announce<E: fmt::Debug + 'static>(event: E) {
    if somebody_listens() {
        announce_heard(event, Location::caller());
    }
}

#[cold]
fn announce_heard<E: fmt::Debug + 'static>(event: E, site: &'static Location<'static>) {
    if backend::is_controlled() {
        controlled::announce(&event, site);
    } else {
        installed::announce(event, site);
    }
}

//! The user's monitors behind one object-safe trait, and which events each listens to.

use super::Monitor;
#[cfg(feature = "controlled")]
use crate::hash::{Domain, Print};
use std::{
    any::{Any, TypeId},
    fmt,
    panic::{self, AssertUnwindSafe},
};

/// An event whose type is forgotten.
pub(crate) trait Told: Any + fmt::Debug {}

impl<E: Any + fmt::Debug> Told for E {}

/// A monitor whose type is forgotten.
pub(crate) trait Listener: Send {
    /// Hears an event of its own type.
    fn on(&mut self, event: &dyn Any) -> Result<(), String>;
    #[cfg(feature = "controlled")]
    fn state(&self) -> Print;
    fn is_hot(&self) -> bool;
}

impl<M: Monitor> Listener for M {
    fn on(&mut self, event: &dyn Any) -> Result<(), String> {
        event.downcast_ref::<M::Event>().map_or(Ok(()), |event| Monitor::on(self, event))
    }

    #[cfg(feature = "controlled")]
    fn state(&self) -> Print {
        Print::of_value(Domain::Monitor, self)
    }

    fn is_hot(&self) -> bool {
        Monitor::is_hot(self)
    }
}

/// Tells a monitor an event of some type it listens to.
pub(crate) type Tell = fn(&mut dyn Listener, &dyn Any) -> Result<(), String>;

/// A registered monitor.
pub(crate) struct Registered {
    /// None while it is called, and once it has objected outside a controlled execution.
    pub(crate) listener: Option<Box<dyn Listener>>,
    pub(crate) name: String,
    /// The types of events it listens to, each once.
    ears: Vec<(TypeId, Tell)>,
}

impl Registered {
    pub(crate) fn new<M: Monitor>(monitor: M) -> Self {
        let ears: Vec<(TypeId, Tell)> = vec![(TypeId::of::<M::Event>(), |listener, event| listener.on(event))];
        Self { name: short_type_name::<M>(), listener: Some(Box::new(monitor)), ears }
    }

    /// Listens to events of type `E` too, unless it does so already.
    pub(crate) fn also<M: Monitor, E: Clone + 'static>(&mut self)
    where
        M::Event: From<E>,
    {
        let event = TypeId::of::<E>();
        if self.ear(event).is_none() {
            self.ears.push((event, |listener, event| {
                event.downcast_ref::<E>().map_or(Ok(()), |event| listener.on(&M::Event::from(event.clone())))
            }));
        }
    }

    /// Tells it an event, if it listens to its type; whether it is hot then. A panic is an objection with the panic's text, and who has
    /// objected listens no more.
    ///
    /// Not for controlled executions, which end with the first objection and keep panics to themselves.
    pub(crate) fn hear(&mut self, event: &dyn Told) -> Option<Result<bool, String>> {
        let event: &dyn Any = event;
        let ear = self.ear(event.type_id())?;
        let listener = self.listener.as_deref_mut()?;
        let said = panic::catch_unwind(AssertUnwindSafe(|| ear(listener, event).map(|()| listener.is_hot())));
        let said = said.unwrap_or_else(|payload| Err(text_of(payload.as_ref())));
        if said.is_err() {
            self.listener = None;
        }
        Some(said)
    }

    /// Whether something is owed to it.
    pub(crate) fn is_hot(&self) -> bool {
        self.listener.as_ref().is_some_and(|listener| listener.is_hot())
    }

    /// How it hears events of a type, if it does.
    pub(crate) fn ear(&self, event: TypeId) -> Option<Tell> {
        self.ears.iter().find(|(known, _)| *known == event).map(|(_, tell)| *tell)
    }
}

/// A type's name without the paths of its parts: what people call it.
pub(crate) fn short_type_name<T: ?Sized>() -> String {
    let full = std::any::type_name::<T>();
    let mut name = String::new();
    for part in full.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_' && c != ':') {
        name.push_str(part.rsplit("::").next().unwrap_or(part));
    }
    name
}

/// The monitors of one execution, or of one watch, in order of registration.
pub(crate) type Monitors = Vec<Registered>;

/// The text of a panic's payload.
pub(crate) fn text_of(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without text".to_owned()
    }
}

//! The user's monitors behind one object-safe trait, and which events each listens to.

use crate::{
    api::monitor::Monitor,
    hash::{Domain, Print},
};
use std::any::{Any, TypeId};

/// A monitor whose type is forgotten.
pub(crate) trait Listener {
    /// Hears an event of its own type.
    fn on(&mut self, event: &dyn Any) -> Result<(), String>;
    fn state(&self) -> Print;
    fn is_hot(&self) -> bool;
}

impl<M: Monitor> Listener for M {
    fn on(&mut self, event: &dyn Any) -> Result<(), String> {
        event.downcast_ref::<M::Event>().map_or(Ok(()), |event| Monitor::on(self, event))
    }

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
    /// None while it is called.
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

/// The monitors of one execution, in order of registration.
pub(crate) type Monitors = Vec<Registered>;

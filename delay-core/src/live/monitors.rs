//! The user's monitors behind one object-safe trait.

use crate::{
    api::monitor::Monitor,
    hash::{Domain, Print},
};
use std::any::{Any, TypeId};

/// A registered monitor.
pub(crate) trait Listener {
    fn hears(&self, event: TypeId) -> bool;
    fn on(&mut self, event: &dyn Any) -> Result<(), String>;
    fn state(&self) -> Print;
    fn name(&self) -> &'static str;
}

impl<M: Monitor> Listener for M {
    fn hears(&self, event: TypeId) -> bool {
        event == TypeId::of::<M::Event>()
    }

    fn on(&mut self, event: &dyn Any) -> Result<(), String> {
        event.downcast_ref::<M::Event>().map_or(Ok(()), |event| Monitor::on(self, event))
    }

    fn state(&self) -> Print {
        Print::of_value(Domain::Monitor, self)
    }

    fn name(&self) -> &'static str {
        short_type_name::<M>()
    }
}

/// The last part of a type's path: what people call it.
pub(crate) fn short_type_name<T: ?Sized>() -> &'static str {
    let full = std::any::type_name::<T>();
    let path = full.split('<').next().unwrap_or(full);
    path.rsplit("::").next().map_or(full, |last| if full.contains('<') { full } else { last })
}

/// The monitors of one execution, in order of registration. A monitor is taken out while it is called.
pub(crate) type Monitors = Vec<Option<Box<dyn Listener>>>;

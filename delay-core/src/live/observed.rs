//! What processes show of their states, and the invariants over it.
//!
//! Invariants: values are kept only while there is an invariant that may look at them; the invariants run between steps,
//! outside every borrow of the context.

use super::{Live, panics};
use crate::verdict::Violation;
use std::{
    any::{Any, type_name},
    borrow::Cow,
    collections::BTreeMap,
    fmt,
};

/// A name of an observed value.
pub(crate) type Name = Cow<'static, str>;
type Invariant = Box<dyn Fn(&Observed) -> Result<(), String>>;

/// An observed value.
pub(crate) struct Value {
    pub(crate) shown: Box<dyn Any>,
    pub(crate) type_name: &'static str,
}

/// The last value observed under each name.
///
/// ```
/// use delay_core::api::invariant::Observed;
/// fn one_leader(seen: &Observed) -> Result<(), String> {
///     let leaders = seen.all::<bool>().filter(|(_, leads)| **leads).count();
///     if leaders <= 1 { Ok(()) } else { Err(format!("{leaders} leaders")) }
/// }
/// ```
#[derive(Default)]
pub struct Observed {
    values: BTreeMap<Name, Value>,
}

impl fmt::Debug for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types = self.values.iter().map(|(name, value)| (name, value.type_name));
        f.debug_map().entries(types).finish()
    }
}

impl Observed {
    /// The last value observed under this name, if there is one yet.
    ///
    /// # Panics
    /// If it is of another type.
    pub fn get<T: 'static>(&self, name: &str) -> Option<&T> {
        self.values.get(name).map(|value| {
            value.shown.downcast_ref().unwrap_or_else(|| {
                panic!(
                    "{name:?} was observed as {}, and an invariant asks for it as {}",
                    value.type_name,
                    type_name::<T>()
                )
            })
        })
    }

    /// All values of a type, by name.
    pub fn all<T: 'static>(&self) -> impl Iterator<Item = (&str, &T)> {
        self.values.iter().filter_map(|(name, value)| Some((&**name, value.shown.downcast_ref()?)))
    }

    /// The values under names that begin with `prefix`, by name.
    ///
    /// # Panics
    /// If one of them is of another type.
    pub fn under<'a, T: 'static>(&'a self, prefix: &str) -> impl Iterator<Item = (&'a str, &'a T)> {
        let names = self.values.keys().filter(move |name| name.starts_with(prefix));
        names.filter_map(|name| Some((&**name, self.get(name)?)))
    }
}

/// The observed values of one execution and the invariants over them, in order of registration.
#[derive(Default)]
pub(crate) struct Observations {
    observed: Observed,
    invariants: Vec<(Name, Invariant)>,
    /// Something was observed since the invariants were last checked.
    pub(crate) changed: bool,
}

impl Observations {
    pub(crate) fn is_empty(&self) -> bool {
        self.invariants.is_empty()
    }

    pub(crate) fn add(&mut self, name: Name, holds: Invariant) {
        self.invariants.push((name, holds));
    }

    /// Puts a value in place and gives back the one before.
    pub(crate) fn set(&mut self, name: Name, value: Value) -> Option<Value> {
        self.changed = true;
        self.observed.values.insert(name, value)
    }

    /// The first invariant that does not hold, and what it says.
    fn broken(&self) -> Option<(String, String)> {
        self.invariants.iter().find_map(|(name, holds)| {
            let said = panics::said(|| holds(&self.observed));
            said.err().map(|message| (name.clone().into_owned(), message))
        })
    }
}

impl Live<'_> {
    /// After a step in which something was observed.
    #[cold]
    pub(super) fn check_invariants(&mut self) {
        let context = self.outside_mut();
        let actor = context.world.actor();
        let mut observations = std::mem::take(&mut context.observations);
        observations.changed = false;
        let (broken, _) = self.installed(actor, |_| observations.broken());
        let context = self.outside_mut();
        context.observations = observations;
        if let Some((name, message)) = broken {
            let process = context.labels.process(&context.world, actor);
            context.violate(Violation::Invariant { name, process, message });
        } else {
            context.world.note_invariants_hold();
        }
    }
}

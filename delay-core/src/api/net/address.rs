//! Addresses: the names of endpoints, each of which stands for one text for good.

use crate::hash::{Domain, Print};
use std::{
    cell::{Cell, RefCell},
    cmp::Ordering,
    collections::BTreeMap,
    fmt,
    hash::{Hash, Hasher},
    sync::{Mutex, PoisonError},
};

/// The name of an endpoint: what messages are sent to.
///
/// Ordered and hashed by name, so that neither depends on the schedule.
#[derive(Clone, Copy)]
pub struct Address(&'static Name);

/// Invariant: one per text, so that addresses can be compared by place.
struct Name {
    text: Box<str>,
    print: Print,
}

/// Never freed: addresses are `Copy`, and a program has only so many names.
static NAMES: Mutex<BTreeMap<&'static str, &'static Name>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// Those that this thread has asked for. Each execution names its endpoints anew; threads that sample would wait for each other.
    static ASKED: RefCell<BTreeMap<&'static str, &'static Name>> = const { RefCell::new(BTreeMap::new()) };
}

impl Address {
    pub(in crate::api) fn of(text: &str) -> Self {
        // A thread that is ending has forgotten.
        if let Ok(Some(known)) = ASKED.try_with(|asked| asked.borrow().get(text).copied()) {
            return Self(known);
        }
        let address = Self::of_all(text);
        let _ = ASKED.try_with(|asked| asked.borrow_mut().insert(&address.0.text, address.0));
        address
    }

    fn of_all(text: &str) -> Self {
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = names.get(text) {
            return Self(known);
        }
        let print = Print::of_text(Domain::Content, text);
        let name: &'static Name = Box::leak(Box::new(Name { text: text.into(), print }));
        names.insert(&name.text, name);
        Self(name)
    }

    /// Stands for the name in a fingerprint.
    #[cfg_attr(not(feature = "controlled"), expect(dead_code, reason = "only a search has fingerprints"))]
    pub(super) fn print(self) -> Print {
        self.0.print
    }

    /// The name.
    pub fn name(&self) -> &'static str {
        &self.0.text
    }

    /// The same for the same name, and for no other.
    pub(super) fn key(self) -> usize {
        std::ptr::from_ref(self.0).addr()
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Address {}

impl PartialOrd for Address {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Address {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl Hash for Address {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// As its name.
impl serde::Serialize for Address {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

thread_local! {
    /// Whether names that are read are made known.
    static BELIEVED: Cell<bool> = const { Cell::new(false) };
}

/// Put back also if reading panics.
struct Before(bool);

impl Drop for Before {
    fn drop(&mut self) {
        BELIEVED.set(self.0);
    }
}

/// Reads something in which every name counts as an address: not what anybody can send, since names are never freed.
pub(in crate::api) fn believing<R>(read: impl FnOnce() -> R) -> R {
    let _before = Before(BELIEVED.replace(true));
    read()
}

/// Only of a name that this process knows, as it knows all of its cluster: what comes from outside must not add to what is never freed. In a
/// recording that is checked every name counts.
impl<'de> serde::Deserialize<'de> for Address {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if BELIEVED.get() {
            return Ok(Self::of(&text));
        }
        let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let known = names.get(text.as_str()).copied();
        known.map(Self).ok_or_else(|| serde::de::Error::custom("an address of a name that is not known here"))
    }
}

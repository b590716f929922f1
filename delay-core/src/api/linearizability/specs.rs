//! The specifications that come along: a register and a map.

use super::Sequential;
use crate::hash::{Domain, Print};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt, hash::Hash};

/// What a call on a [`Register`] or a [`KeyValue`] returned.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Returned<V> {
    /// What was read.
    Value(V),
    /// A write is done.
    Done,
}

/// A read-write register.
///
/// ```
/// use delay_core::api::linearizability::{Register, RegisterOp, Returned, Sequential};
/// let mut register = Register::new(0);
/// assert_eq!(register.apply(&RegisterOp::Write(7)), Returned::Done);
/// assert_eq!(register.apply(&RegisterOp::Read), Returned::Value(7));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Register<T>(T);

impl<T> Register<T> {
    /// A register that holds this.
    pub fn new(initial: T) -> Self {
        Self(initial)
    }
}

/// What a [`Register`] can be asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum RegisterOp<T> {
    /// What it holds.
    Read,
    /// To hold this.
    Write(T),
}

impl<T: Clone + Ord + Hash + fmt::Debug + Send + 'static> Sequential for Register<T> {
    type Op = RegisterOp<T>;
    type Ret = Returned<T>;

    fn apply(&mut self, op: &RegisterOp<T>) -> Returned<T> {
        match op {
            RegisterOp::Read => Returned::Value(self.0.clone()),
            RegisterOp::Write(value) => {
                self.0 = value.clone();
                Returned::Done
            }
        }
    }
}

/// A map from keys to values. Each key is a part of its own.
///
/// ```
/// use delay_core::api::linearizability::{KeyValue, KeyValueOp, Returned, Sequential};
/// let mut map = KeyValue::<&str, u32>::default();
/// assert_eq!(map.apply(&KeyValueOp::Put("k", 1)), Returned::Done);
/// assert_eq!(map.apply(&KeyValueOp::Get("k")), Returned::Value(Some(1)));
/// assert_eq!(map.apply(&KeyValueOp::Remove("k")), Returned::Done);
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KeyValue<K, V>(BTreeMap<K, V>);

impl<K, V> Default for KeyValue<K, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

/// What a [`KeyValue`] can be asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum KeyValueOp<K, V> {
    /// The value of a key.
    Get(K),
    /// To give a key a value.
    Put(K, V),
    /// To forget a key.
    Remove(K),
}

impl<K, V> Sequential for KeyValue<K, V>
where
    K: Clone + Ord + Hash + fmt::Debug + Send + 'static,
    V: Clone + Ord + Hash + fmt::Debug + Send + 'static,
{
    type Op = KeyValueOp<K, V>;
    type Ret = Returned<Option<V>>;

    fn apply(&mut self, op: &KeyValueOp<K, V>) -> Returned<Option<V>> {
        match op {
            KeyValueOp::Get(key) => return Returned::Value(self.0.get(key).cloned()),
            KeyValueOp::Put(key, value) => drop(self.0.insert(key.clone(), value.clone())),
            KeyValueOp::Remove(key) => drop(self.0.remove(key)),
        }
        Returned::Done
    }

    /// Two keys with one print would be checked together, which is right too.
    fn part(op: &KeyValueOp<K, V>) -> u64 {
        let (KeyValueOp::Get(key) | KeyValueOp::Put(key, _) | KeyValueOp::Remove(key)) = op;
        Print::of_value(Domain::Content, key).short()
    }
}

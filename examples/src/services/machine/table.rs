//! A hash table from texts to texts.
//!
//! Each key is a part of its own: histories of different keys are judged by themselves.

use super::{Machine, digest};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is asked of a [`HashTable`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Op {
    /// The value of a key.
    Get(String),
    /// To give a key a value.
    Put(String, String),
    /// To give a key a value if it has that one, or has none.
    Cas(String, Option<String>, String),
    /// To forget a key.
    Delete(String),
}

/// What a [`HashTable`] answers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Ret {
    /// What a key has.
    Value(Option<String>),
    /// It has the value now.
    Done,
    /// Whether it has the new value now.
    Swapped(bool),
    /// Whether there was one.
    Deleted(bool),
}

/// Keys and their values. Ordered, so that equal tables are equal in every way.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct HashTable {
    values: BTreeMap<String, String>,
}

impl Machine for HashTable {
    type Op = Op;
    type Ret = Ret;

    fn apply(&mut self, op: &Op) -> Ret {
        let values = &mut self.values;
        match op {
            Op::Get(key) => Ret::Value(values.get(key).cloned()),
            Op::Put(key, value) => {
                values.insert(key.clone(), value.clone());
                Ret::Done
            }
            Op::Cas(key, expected, value) => {
                let is_as_expected = values.get(key) == expected.as_ref();
                if is_as_expected {
                    values.insert(key.clone(), value.clone());
                }
                Ret::Swapped(is_as_expected)
            }
            Op::Delete(key) => Ret::Deleted(values.remove(key).is_some()),
        }
    }

    fn bytes(op: &Op) -> usize {
        match op {
            Op::Get(key) | Op::Delete(key) => key.len(),
            Op::Put(key, value) => key.len() + value.len(),
            Op::Cas(key, expected, value) => key.len() + expected.as_ref().map_or(0, String::len) + value.len(),
        }
    }

    /// Keys with one hash are judged together, which is right too.
    fn part(op: &Op) -> u64 {
        let (Op::Get(key) | Op::Put(key, _) | Op::Cas(key, ..) | Op::Delete(key)) = op;
        digest(key)
    }
}

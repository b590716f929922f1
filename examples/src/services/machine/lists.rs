//! Lists of texts, each with a name.

use super::{Machine, digest};
use crate::services::OP_BYTES_MAX;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// What is asked of [`Lists`]. A list that was never appended to is empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Op {
    /// To append a value to a list.
    Append(String, String),
    /// To take the first value of a list.
    Pop(String),
    /// The values of a list from a place on: as many as fit an answer.
    Read(String, u64),
    /// How many values a list has.
    Length(String),
}

/// What [`Lists`] answer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Ret {
    /// How many values the list has now.
    Length(u64),
    /// The value that was the first, if there was one.
    Popped(Option<String>),
    /// Values in their order.
    Values(Vec<String>),
}

/// Lists by name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Lists {
    /// Invariant: none is empty.
    lists: BTreeMap<String, VecDeque<String>>,
}

impl Lists {
    fn length(&self, list: &str) -> u64 {
        self.lists.get(list).map_or(0, |values| values.len() as u64)
    }

    fn pop(&mut self, list: &str) -> Option<String> {
        let values = self.lists.get_mut(list)?;
        let first = values.pop_front();
        if values.is_empty() {
            self.lists.remove(list);
        }
        first
    }

    fn read(&self, list: &str, from: u64) -> Vec<String> {
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let mut room = OP_BYTES_MAX;
        let mut read = Vec::new();
        for value in self.lists.get(list).into_iter().flatten().skip(from) {
            // One always fits; what all texts have counts too.
            room = match room.checked_sub(value.len() + 8) {
                Some(left) => left,
                None if read.is_empty() => 0,
                None => break,
            };
            read.push(value.clone());
        }
        read
    }
}

impl Machine for Lists {
    type Op = Op;
    type Ret = Ret;

    fn apply(&mut self, op: &Op) -> Ret {
        match op {
            Op::Append(list, value) => {
                self.lists.entry(list.clone()).or_default().push_back(value.clone());
                Ret::Length(self.length(list))
            }
            Op::Pop(list) => Ret::Popped(self.pop(list)),
            Op::Read(list, from) => Ret::Values(self.read(list, *from)),
            Op::Length(list) => Ret::Length(self.length(list)),
        }
    }

    fn bytes(op: &Op) -> usize {
        match op {
            Op::Append(list, value) => list.len() + value.len(),
            Op::Pop(list) | Op::Read(list, _) | Op::Length(list) => list.len(),
        }
    }

    fn part(op: &Op) -> u64 {
        let (Op::Append(list, _) | Op::Pop(list) | Op::Read(list, _) | Op::Length(list)) = op;
        digest(list)
    }
}

#[cfg(test)]
mod tests {
    use super::{Lists, Machine, Op, Ret};

    #[test]
    fn a_long_list_is_read_in_parts() {
        let mut lists = Lists::default();
        for n in 0..5 {
            let length = lists.apply(&Op::Append("l".into(), n.to_string().repeat(30_000)));
            assert_eq!(length, Ret::Length(n + 1));
        }
        let mut read = Vec::new();
        while let Ret::Values(mut values) = lists.apply(&Op::Read("l".into(), read.len() as u64)) {
            if values.is_empty() {
                break;
            }
            assert!(values.len() < 5);
            read.append(&mut values);
        }
        let first: String = read.iter().map(|value| &value[..1]).collect();
        assert_eq!(first, "01234");
    }

    #[test]
    fn values_are_taken_in_the_order_in_which_they_came() {
        let mut lists = Lists::default();
        for value in ["a", "b"] {
            lists.apply(&Op::Append("l".into(), value.into()));
        }
        for popped in [Some("a".into()), Some("b".into()), None] {
            assert_eq!(lists.apply(&Op::Pop("l".into())), Ret::Popped(popped));
        }
        assert_eq!(lists, Lists::default());
    }
}

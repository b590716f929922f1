//! What is judged, as what one client at a time would see: a hash table, lists, and accounts.
//!
//! Invariant: written without a look at how the services do it, so that the judge does not share their mistakes. Keys and lists are a
//! part each, so a state is that of one.

use delay::linearizability::Sequential;
use delay_examples::services::machine::{Data, lists, table};
use serde::{Deserialize, Serialize};
use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash, Hasher},
};

/// Keys, and lists, that the load uses: so many that few calls are about the same at a time.
const NAMES: u64 = 200;
/// Accounts, and what is in each at the beginning.
pub(crate) const ACCOUNTS: u64 = 40;
pub(crate) const OPENED_WITH: u64 = 100;
/// Most that is transferred at a time: so much that some transfers are declined.
const TRANSFERRED_MAX: u64 = 60;

/// An object that is judged, and what its clients ask for. Calls can be kept in a file.
pub(crate) trait Subject: Sequential<Op: Data, Ret: Data> + Default + Send + Sync {
    /// What a client asks for next.
    fn draw(rng: &mut fastrand::Rng) -> Self::Op;

    /// Reads of all there is.
    fn reads() -> Vec<Self::Op>;

    /// Whether a call with this answer is as one that was never made, whatever the object would have answered: the object declined.
    fn is_declined(_ret: &Self::Ret) -> bool {
        false
    }
}

/// What a key of the hash table has.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Slot(Option<String>);

impl Sequential for Slot {
    type Op = table::Op;
    type Ret = table::Ret;

    fn apply(&mut self, op: &table::Op) -> table::Ret {
        match op {
            table::Op::Get(_) => table::Ret::Value(self.0.clone()),
            table::Op::Put(_, value) => {
                self.0 = Some(value.clone());
                table::Ret::Done
            }
            table::Op::Cas(_, expected, value) if self.0 == *expected => {
                self.0 = Some(value.clone());
                table::Ret::Swapped(true)
            }
            table::Op::Cas(..) => table::Ret::Swapped(false),
            table::Op::Delete(_) => table::Ret::Deleted(self.0.take().is_some()),
        }
    }

    fn part(op: &table::Op) -> u64 {
        let (table::Op::Get(key) | table::Op::Put(key, _) | table::Op::Cas(key, ..) | table::Op::Delete(key)) = op;
        hash(key)
    }
}

impl Subject for Slot {
    fn draw(rng: &mut fastrand::Rng) -> table::Op {
        let key = name("key", rng);
        match rng.u8(..20) {
            0..8 => table::Op::Get(key),
            8..16 => table::Op::Put(key, value(rng)),
            16..18 => table::Op::Cas(key, None, value(rng)),
            _ => table::Op::Delete(key),
        }
    }

    fn reads() -> Vec<table::Op> {
        (0..NAMES).map(|key| table::Op::Get(format!("key {key}"))).collect()
    }
}

impl Slot {
    /// An op that changes the hash table.
    pub(crate) fn update(rng: &mut fastrand::Rng) -> table::Op {
        table::Op::Put(name("key", rng), value(rng))
    }
}

/// A list.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct List(VecDeque<String>);

impl Sequential for List {
    type Op = lists::Op;
    type Ret = lists::Ret;

    fn apply(&mut self, op: &lists::Op) -> lists::Ret {
        match op {
            lists::Op::Append(_, value) => {
                self.0.push_back(value.clone());
                lists::Ret::Length(self.0.len() as u64)
            }
            lists::Op::Pop(_) => lists::Ret::Popped(self.0.pop_front()),
            // Lists are short here: what is read fits an answer.
            lists::Op::Read(_, from) => {
                let from = usize::try_from(*from).unwrap_or(usize::MAX);
                lists::Ret::Values(self.0.iter().skip(from).cloned().collect())
            }
            lists::Op::Length(_) => lists::Ret::Length(self.0.len() as u64),
        }
    }

    fn part(op: &lists::Op) -> u64 {
        let (lists::Op::Append(list, _) | lists::Op::Pop(list) | lists::Op::Read(list, _) | lists::Op::Length(list)) =
            op;
        hash(list)
    }
}

impl Subject for List {
    /// What is appended is taken as often, so that lists stay short.
    fn draw(rng: &mut fastrand::Rng) -> lists::Op {
        let list = name("list", rng);
        match rng.u8(..20) {
            0..8 => lists::Op::Append(list, value(rng)),
            8..16 => lists::Op::Pop(list),
            16..19 => lists::Op::Read(list, 0),
            _ => lists::Op::Length(list),
        }
    }

    fn reads() -> Vec<lists::Op> {
        (0..NAMES).map(|list| lists::Op::Read(format!("list {list}"), 0)).collect()
    }
}

/// What is asked of the accounts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum BankOp {
    Transfer {
        from: u64,
        to: u64,
        amount: u64,
    },
    /// How much is in it, when nothing is under way.
    Balance {
        account: u64,
    },
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum BankRet {
    /// Whether both accounts have it, or neither.
    Transferred(bool),
    Balance(Option<u64>),
}

/// All accounts: a transfer is about two, so there is one part.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Bank(Vec<u64>);

impl Default for Bank {
    fn default() -> Self {
        Self(vec![OPENED_WITH; ACCOUNTS as usize])
    }
}

impl Sequential for Bank {
    type Op = BankOp;
    type Ret = BankRet;

    fn apply(&mut self, op: &BankOp) -> BankRet {
        match *op {
            BankOp::Transfer { from, to, amount } => {
                let is_there = self.0[from as usize] >= amount;
                if is_there {
                    self.0[from as usize] -= amount;
                    self.0[to as usize] += amount;
                }
                BankRet::Transferred(is_there)
            }
            BankOp::Balance { account } => BankRet::Balance(self.0.get(account as usize).copied()),
        }
    }
}

impl Subject for Bank {
    /// A transfer that may be declined.
    fn draw(rng: &mut fastrand::Rng) -> BankOp {
        let amount = rng.u64(1..=TRANSFERRED_MAX);
        transfer(amount, rng)
    }

    /// The balances of all accounts.
    fn reads() -> Vec<BankOp> {
        (0..ACCOUNTS).map(|account| BankOp::Balance { account }).collect()
    }

    /// A transfer may also be declined because another was under way.
    fn is_declined(ret: &BankRet) -> bool {
        *ret == BankRet::Transferred(false)
    }
}

impl Bank {
    /// A transfer of so little that it will hardly be declined.
    pub(crate) fn update(rng: &mut fastrand::Rng) -> BankOp {
        transfer(1, rng)
    }
}

/// From an even account to an odd one, or the other way.
fn transfer(amount: u64, rng: &mut fastrand::Rng) -> BankOp {
    let from = rng.u64(..ACCOUNTS);
    let to = (from + 1 + 2 * rng.u64(..ACCOUNTS / 2)) % ACCOUNTS;
    BankOp::Transfer { from, to, amount }
}

fn name(of: &str, rng: &mut fastrand::Rng) -> String {
    format!("{of} {}", rng.u64(..NAMES))
}

/// One that is not used twice, as far as chance goes.
fn value(rng: &mut fastrand::Rng) -> String {
    format!("{:016x}", rng.u64(..))
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

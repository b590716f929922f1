//! A participant of two-phase commit: it keeps accounts, and votes on what is to be added to them.
//!
//! It is the replicated one of section 6: [`commit`](crate::services::commit) has the coordinator. Whether a transaction commits is decided
//! by the participant that is asked first to decide it, so that it is known as long as that one's replicas are.
//!
//! Invariants: no balance is negative; what a transaction takes is set aside from its vote on; a transaction that is decided here
//! never changes.

use super::Machine;
use crate::services::Ticket;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What identifies a transaction: the request with which it began.
pub type Transaction = Ticket;

/// What is asked of a [`Participant`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Op {
    /// To open an account with so much in it, unless there is one of this name.
    Open(String, u64),
    /// How much is in an account, without what is set aside.
    Balance(String),
    /// How much is in all accounts, with what is set aside.
    Total,
    /// Whether so much can be added to the account (or taken from it), for this transaction. Yes is a promise.
    Prepare(Transaction, String, i64),
    /// That the transaction is committed, or is not; nothing if it was decided here before.
    Decide(Transaction, bool),
    /// The transactions that were promised and not decided, at most so many.
    Undecided(u64),
}

/// What a [`Participant`] answers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Ret {
    /// Whether it was opened.
    Opened(bool),
    /// Of an account, if there is one of this name.
    Balance(Option<u64>),
    /// Of all accounts.
    Total(u64),
    /// Whether it is promised.
    Vote(bool),
    /// Whether it is committed, from the first time this was decided.
    Decided(bool),
    /// Transactions.
    Undecided(Vec<Transaction>),
}

/// Accounts, and what is to become of them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Participant {
    balances: BTreeMap<String, u64>,
    /// What was promised: the account, and how much is to be added. What is taken is not in `balances` any more.
    promised: BTreeMap<Transaction, (String, i64)>,
    /// Whether a transaction is committed. Kept for good: whoever finds it undecided elsewhere asks here.
    decided: BTreeMap<Transaction, bool>,
}

impl Participant {
    fn prepare(&mut self, transaction: &Transaction, account: &str, amount: i64) -> bool {
        if self.decided.contains_key(transaction) {
            return false;
        }
        if self.promised.contains_key(transaction) {
            return true;
        }
        let Some(balance) = self.balances.get_mut(account) else { return false };
        let taken = if amount < 0 { amount.unsigned_abs() } else { 0 };
        let Some(left) = balance.checked_sub(taken) else { return false };
        *balance = left;
        self.promised.insert(transaction.clone(), (account.to_owned(), amount));
        true
    }

    fn decide(&mut self, transaction: &Transaction, commits: bool) -> bool {
        if let Some(decision) = self.decided.get(transaction) {
            return *decision;
        }
        self.decided.insert(transaction.clone(), commits);
        if let Some((account, amount)) = self.promised.remove(transaction) {
            // What was taken is gone if this commits and comes back if not; what is to be added comes if it does.
            let adds = if commits == (amount > 0) { amount.unsigned_abs() } else { 0 };
            if let Some(balance) = self.balances.get_mut(&account) {
                *balance = balance.saturating_add(adds);
            }
        }
        commits
    }

    fn total(&self) -> u64 {
        let set_aside = self.promised.values().map(|(_, amount)| if *amount < 0 { amount.unsigned_abs() } else { 0 });
        self.balances.values().copied().chain(set_aside).fold(0, u64::saturating_add)
    }
}

impl Machine for Participant {
    type Op = Op;
    type Ret = Ret;

    fn apply(&mut self, op: &Op) -> Ret {
        match op {
            Op::Open(account, balance) => {
                let is_new = !self.balances.contains_key(account);
                if is_new {
                    self.balances.insert(account.clone(), *balance);
                }
                Ret::Opened(is_new)
            }
            Op::Balance(account) => Ret::Balance(self.balances.get(account).copied()),
            Op::Total => Ret::Total(self.total()),
            Op::Prepare(transaction, account, amount) => Ret::Vote(self.prepare(transaction, account, *amount)),
            Op::Decide(transaction, commits) => Ret::Decided(self.decide(transaction, *commits)),
            Op::Undecided(most) => {
                let most = usize::try_from(*most).unwrap_or(usize::MAX).min(UNDECIDED_MAX);
                Ret::Undecided(self.promised.keys().take(most).cloned().collect())
            }
        }
    }

    fn bytes(op: &Op) -> usize {
        match op {
            Op::Open(account, _) | Op::Balance(account) => account.len(),
            Op::Total | Op::Undecided(_) => 0,
            Op::Prepare(transaction, account, _) => transaction.client.len() + account.len(),
            Op::Decide(transaction, _) => transaction.client.len(),
        }
    }
}

/// Of so many transactions an answer fits a frame.
const UNDECIDED_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::{Machine, Op, Participant, Ret, Transaction};

    fn transaction(number: u64) -> Transaction {
        Transaction { client: "ada".into(), session: 1, number }
    }

    fn open() -> Participant {
        let mut participant = Participant::default();
        assert_eq!(participant.apply(&Op::Open("a".into(), 100)), Ret::Opened(true));
        participant
    }

    #[test]
    fn what_is_promised_is_set_aside_and_comes_back() {
        let mut participant = open();
        let prepare = |n, amount| Op::Prepare(transaction(n), "a".into(), amount);
        assert_eq!(participant.apply(&prepare(1, -70)), Ret::Vote(true));
        assert_eq!(participant.apply(&prepare(2, -70)), Ret::Vote(false), "there are 30 left");
        assert_eq!(participant.apply(&Op::Total), Ret::Total(100));
        assert_eq!(participant.apply(&Op::Decide(transaction(1), false)), Ret::Decided(false));
        assert_eq!(participant.apply(&Op::Balance("a".into())), Ret::Balance(Some(100)));
        assert_eq!(participant.apply(&prepare(1, -70)), Ret::Vote(false), "it was decided");
    }

    #[test]
    fn the_first_decision_stands() {
        let mut participant = open();
        participant.apply(&Op::Prepare(transaction(1), "a".into(), 5));
        assert_eq!(participant.apply(&Op::Undecided(9)), Ret::Undecided(vec![transaction(1)]));
        assert_eq!(participant.apply(&Op::Decide(transaction(1), true)), Ret::Decided(true));
        assert_eq!(participant.apply(&Op::Decide(transaction(1), false)), Ret::Decided(true));
        assert_eq!(participant.apply(&Op::Balance("a".into())), Ret::Balance(Some(105)));
        assert_eq!(participant.apply(&Op::Undecided(9)), Ret::Undecided(vec![]));
    }
}

//! Atomic commit: two-phase commit whose participants are replicated, so that none of them is ever lost.
//!
//! Source: section 6 of the P report; J. Gray, L. Lamport, "Consensus on transaction commit", 2006, for why a coordinator that is lost must
//! not stop the participants. Differs from both: the decision is an op of the first participant, and the first to ask for one gets his way.
//! So a transaction whose coordinator is gone, or has lost patience, can be ended by anybody: see [`finish`]. It is aborted
//! then, unless it was committed.
//!
//! The coordinator is in the client: it has a [`Client`] of each participant.
//!
//! [`Participant`] is what votes and keeps the accounts, [`bugs`] are the mutations that a search must find.

pub mod bugs;

use super::{
    client::{CallError, Client},
    machine::participant::{Op, Participant, Ret, Transaction},
};
pub use bugs::Bug;
use std::{error, fmt};

/// An account at a participant.
#[derive(Debug)]
pub struct Account<'a> {
    /// The participant.
    pub at: &'a mut Client<Participant>,
    /// The account's name there.
    pub name: &'a str,
}

/// Why it is not known what became of a transaction. [`finish`] ends it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unfinished {
    /// Which transaction.
    pub transaction: Transaction,
    /// What went wrong.
    pub error: CallError,
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { transaction, error } = self;
        write!(f, "the transaction {transaction:?} is not finished, call `finish` to end it: {error}")
    }
}

impl error::Error for Unfinished {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&self.error)
    }
}

/// Transfers an amount between accounts of two participants, or does nothing at either; which.
///
/// # Errors
/// If a participant does not answer: the transaction may be committed or not.
pub async fn transfer(from: Account<'_>, to: Account<'_>, amount: u32, bug: Bug) -> Result<bool, Unfinished> {
    let last = from.at.ticket().clone();
    let transaction = Transaction { number: last.number + 1, ..last };
    let decided = decide(from, to, transaction.clone(), i64::from(amount), bug).await;
    decided.map_err(|error| Unfinished { transaction, error })
}

async fn decide(
    from: Account<'_>,
    to: Account<'_>,
    transaction: Transaction,
    amount: i64,
    bug: Bug,
) -> Result<bool, CallError> {
    let prepare = |name: &str, amount| Op::Prepare(transaction.clone(), name.to_owned(), amount);
    let votes_yes = |vote: Result<Ret, CallError>| Ok(vote? == Ret::Vote(true));
    let is_agreed = if bug == Bug::SkipsLast {
        votes_yes(from.at.call(prepare(from.name, -amount)).await)?
    } else {
        let votes = tokio::join!(from.at.call(prepare(from.name, -amount)), to.at.call(prepare(to.name, amount)));
        votes_yes(votes.0)? & votes_yes(votes.1)?
    };
    if bug == Bug::TrustsItself {
        to.at.call(Op::Decide(transaction.clone(), is_agreed)).await?;
    }
    let is_committed = from.at.call(Op::Decide(transaction.clone(), is_agreed)).await? == Ret::Decided(true);
    if bug != Bug::TrustsItself {
        to.at.call(Op::Decide(transaction, is_committed)).await?;
    }
    Ok(is_committed)
}

/// Ends a transaction that began at the first of these participants, whoever its coordinator was; whether it is committed. It is
/// aborted, unless that was decided otherwise.
///
/// # Errors
/// If a participant does not answer: to be called again.
pub async fn finish(
    first: &mut Client<Participant>,
    other: &mut Client<Participant>,
    transaction: Transaction,
) -> Result<bool, Unfinished> {
    let ended = async {
        let is_committed = first.call(Op::Decide(transaction.clone(), false)).await? == Ret::Decided(true);
        other.call(Op::Decide(transaction.clone(), is_committed)).await?;
        Ok(is_committed)
    };
    ended.await.map_err(|error| Unfinished { transaction: transaction.clone(), error })
}

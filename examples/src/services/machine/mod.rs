//! What is replicated: deterministic state machines, and the sessions of their clients.
//!
//! [`HashTable`] and [`Lists`] are the data structures, [`Participant`] is what votes in a two-phase commit.

pub mod lists;
pub mod participant;
pub mod table;

use super::{Answer, Request, Ticket};
use delay::linearizability::Sequential;
pub use lists::Lists;
pub use participant::Participant;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    cmp::Ordering,
    collections::BTreeMap,
    fmt::Debug,
    hash::{DefaultHasher, Hash, Hasher},
};
pub use table::HashTable;

/// What ops and their results are: plain data, for messages and for disks.
pub trait Data: Clone + Ord + Hash + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<T: Clone + Ord + Hash + Debug + Serialize + DeserializeOwned + Send + Sync + 'static> Data for T {}

/// A deterministic state machine: the same ops in the same order have the same results and lead to the same state.
///
/// The value is its state, from which it can go on elsewhere.
pub trait Machine: Data + Default {
    /// What is asked of it.
    type Op: Data;
    /// What it answers.
    type Ret: Data;

    /// Carries out an op.
    fn apply(&mut self, op: &Self::Op) -> Self::Ret;

    /// How many bytes an op is, without what all ops have: what its texts take.
    fn bytes(op: &Self::Op) -> usize;

    /// The part of the state that an op is about. Ops on different parts do not affect each other.
    fn part(_op: &Self::Op) -> u64 {
        0
    }
}

/// Stands for a value: the same for the same.
pub fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// What a machine does when it is asked by one client at a time: the specification of everything that replicates it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Single<M>(pub M);

impl<M: Machine> Sequential for Single<M> {
    type Op = M::Op;
    type Ret = M::Ret;

    fn apply(&mut self, op: &M::Op) -> M::Ret {
        self.0.apply(op)
    }

    fn part(op: &M::Op) -> u64 {
        M::part(op)
    }
}

/// A machine and its clients' last requests: every request is carried out once, however often it arrives.
///
/// A client asks for one thing at a time, so its last answer is all that it may want again.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "M: Machine")]
pub struct Sessions<M: Machine> {
    machine: M,
    /// By client: session and number of the last request that was carried out, and what it returned.
    last: BTreeMap<String, (u64, u64, M::Ret)>,
}

impl<M: Machine> Default for Sessions<M> {
    fn default() -> Self {
        Self { machine: M::default(), last: BTreeMap::new() }
    }
}

/// What is known of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seen<Ret> {
    /// Nothing: it is to be carried out.
    New,
    /// It was the client's last, and this came of it.
    Answered(Ret),
    /// The client has asked for something else since: nobody waits for it.
    Stale,
}

impl<M: Machine> Sessions<M> {
    /// What is known of a request.
    pub fn seen(&self, ticket: &Ticket) -> Seen<M::Ret> {
        let Some((session, number, ret)) = self.last.get(&ticket.client) else { return Seen::New };
        match (ticket.session, ticket.number).cmp(&(*session, *number)) {
            Ordering::Greater => Seen::New,
            Ordering::Equal => Seen::Answered(ret.clone()),
            Ordering::Less => Seen::Stale,
        }
    }

    /// Carries a request out, if it was not before. Nothing for one that nobody waits for.
    pub fn apply(&mut self, request: &Request<M::Op>) -> Option<Answer<M::Ret>> {
        let ticket = request.ticket.clone();
        let ret = match self.seen(&ticket) {
            Seen::Stale => return None,
            Seen::Answered(ret) => ret,
            Seen::New => return Some(self.apply_again(request)),
        };
        Some(Answer { ticket, ret })
    }

    /// Carries a request out, whether it was before or not.
    pub fn apply_again(&mut self, request: &Request<M::Op>) -> Answer<M::Ret> {
        let ticket = request.ticket.clone();
        let ret = self.machine.apply(&request.op);
        self.last.insert(ticket.client.clone(), (ticket.session, ticket.number, ret.clone()));
        Answer { ticket, ret }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        HashTable, Request, Seen, Sessions, Ticket,
        table::{Op, Ret},
    };

    fn put(session: u64, number: u64, value: &str) -> Request<Op> {
        let ticket = Ticket { client: "ada".into(), session, number };
        Request { ticket, via: 0, op: Op::Cas("k".into(), None, value.into()) }
    }

    #[test]
    fn a_request_is_carried_out_once_and_answered_again() {
        let mut sessions = Sessions::<HashTable>::default();
        let first = sessions.apply(&put(1, 1, "a")).expect("it is new");
        assert_eq!(first.ret, Ret::Swapped(true));
        assert_eq!(sessions.apply(&put(1, 1, "a")), Some(first));
        assert_eq!(sessions.apply(&put(1, 2, "b")).expect("it is new").ret, Ret::Swapped(false));
        assert_eq!(sessions.apply(&put(1, 1, "a")), None, "the client has gone on");
    }

    #[test]
    fn a_client_that_starts_again_is_not_taken_for_what_it_was() {
        let mut sessions = Sessions::<HashTable>::default();
        sessions.apply(&put(1, 7, "a"));
        assert_eq!(sessions.seen(&put(2, 1, "b").ticket), Seen::New);
        sessions.apply(&put(2, 1, "b"));
        assert_eq!(sessions.seen(&put(1, 8, "c").ticket), Seen::Stale);
    }
}

//! Two-phase commit whose participants are replicated: each is a state machine that survives the crash of a replica.
//!
//! Source: the linear chain of Desai, Jackson, Phanishayee, Qadeer, Seshia, "Building reliable distributed systems
//! with P", 2015 (listings 9 and 10): two-phase commit is tested over the abstraction `SingleNode`, and what
//! replicates is tested against that abstraction. Here a primary and its backup replicate, which is chain replication
//! with two servers.
//!
//! [`Replicated`] is what lies between the two. [`commit`] is two-phase commit over it; [`single_node`] its abstraction,
//! [`primary_backup`] its implementation; [`spec`] says what must happen, and what must never happen is said by
//! [`Atomicity`](crate::two_phase_commit::Atomicity); [`bugs`] are the mutations that a search must find.

pub mod bugs;
pub mod commit;
pub mod primary_backup;
pub mod single_node;
pub mod spec;

pub use bugs::Bug;
pub use commit::{Participant, decide};
pub use spec::Released;
use std::{fmt::Debug, future::Future, hash::Hash};

/// A deterministic state machine: the same operations in the same order have the same results.
pub trait Machine: Hash + Send + 'static {
    /// What is asked of it.
    type Op: Copy + Hash + Debug + Send + 'static;
    /// What it answers.
    type Ret: Copy + Hash + Debug + Send + 'static;

    /// Carries out an operation.
    fn apply(&mut self, op: Self::Op) -> Self::Ret;
}

/// A client's access to a machine that is somewhere else, on however many nodes.
pub trait Replicated<M: Machine>: Send {
    /// Has an operation carried out, once.
    fn submit(&mut self, op: M::Op) -> impl Future<Output = M::Ret> + Send;
}

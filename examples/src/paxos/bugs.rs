//! The seeded bugs of Paxos.

/// Which bug proposers and acceptors have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// None: the protocol as it should be.
    None,
    /// X1: an acceptor takes "nothing accepted yet" for "nothing promised yet", and promises to a lower ballot.
    ForgetsPromise,
    /// X2: a proposer goes on with the first accepted value it hears of, not with that of the highest ballot.
    TakesFirstValue,
    /// X4: an acceptor accepts whatever it is asked to, even below its promise.
    AcceptsLowerBallot,
    /// X5: an acceptor does not remember what it has accepted.
    ForgetsAccepted,
}

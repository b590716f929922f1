//! The seeded bugs of two-phase commit.

/// Which bug coordinator and participants have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// None: the protocol as it should be.
    None,
    /// T1: the coordinator counts a YES without looking which transaction it is for. One that comes too late for its
    /// own transaction counts for the next.
    CountsStaleVotes,
    /// T2: the coordinator counts votes and not voters. A participant that is asked twice answers twice.
    CountsVotesTwice,
    /// T3: when its patience ends, the coordinator commits if only one vote is missing.
    CommitsEarly,
    /// T6: a participant keeps one open transaction and insists that a decision is about it. On a network that may
    /// reorder messages, the next transaction can overtake the decision on the last.
    KeepsOneTransaction,
}

//! The seeded bugs of ring leader election.

/// Which bug a ring has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// None: the protocol as it should be.
    None,
    /// L1: a candidacy is passed on even to nodes that should have beaten it, so that every candidate wins.
    ForwardsSmaller,
    /// L1, the other way round: a node that runs itself swallows every other candidacy, so that nobody wins.
    SwallowsLarger,
    /// L2: a node that knows a leader takes the election to be over and only passes on what still comes. True as long as
    /// links keep order: an announcement that overtakes a candidacy brings a second leader.
    TrustsOrder,
}

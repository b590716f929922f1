//! The seeded bugs of Multi-Paxos.

/// Which bug the replicas have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// None: the protocol as it should be.
    None,
    /// X1, X4: a replica accepts in a lower ballot than it has promised.
    ForgetsPromise,
    /// A promise is given before it is durable.
    PromiseNotSynced,
    /// M1: a replica that promises a ballot erases what it has accepted.
    ErasesAccepted,
    /// M3: a replica promises a lower ballot than it has promised before.
    PromisesLower,
    /// X2: a new leader proposes what it heard of first, instead of what was accepted in the highest ballot.
    TakesFirstValue,
    /// M5: a leader counts an acceptance for whatever slot is next.
    CountsAnySlot,
    /// M6: a replica carries out what is chosen although it does not know what comes before.
    AppliesPastGap,
    /// A replica that is behind takes what it has accepted itself, in whatever ballot, for what was chosen.
    NoCatchUp,
}

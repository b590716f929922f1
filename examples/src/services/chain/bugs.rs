//! The seeded bugs of chain replication as it is deployed.

/// Which bug the replicas or their master have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// None: the protocol as it should be.
    None,
    /// A replica passes on what it has not stored. If it crashes, those after it know what it does not.
    ForwardsBeforeStoring,
    /// A replica that joins is counted before it has what the others have.
    JoinsWithoutTransfer,
    /// A replica takes messages of an older view: a chain that has been replaced goes on.
    TakesOlderViews,
    /// A head answers what only it has stored.
    AnswersBeforeTheTail,
    /// A replica that follows another one goes on with its own requests where the other has different ones.
    KeepsWhatDiffers,
    /// A request that arrives again is carried out again.
    ForgetsTickets,
    /// A replica forgets in a crash which view it was in.
    ForgetsView,
}

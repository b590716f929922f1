//! The seeded bugs, of two-phase commit and of what it runs on.

/// Which bug there is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// None: the protocols as they should be.
    None,
    /// T3: the coordinator does not ask its last participant.
    SkipsLast,
    /// The coordinator tells those that said NO that it has aborted, and leaves the others waiting.
    LeavesOthersWaiting,
    /// S1: a replica carries out what it has carried out before, when a client that lost its primary asks again.
    AppliesAgain,
    /// A primary answers before its backup knows.
    AnswersFirst,
}

//! The seeded bugs of the client.

/// Which bug the client has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// None: the protocol as it should be.
    None,
    /// T10: a timer that could not be cancelled any more has fired, and the client does not wait to hear of it. It takes
    /// that for the timer of its next request.
    LeavesTimeout,
    /// While it waits for the answer to its cancellation, the client has no use for a timer that fires.
    CannotFireNow,
    /// Then, the client drops the news that the timer fired, and waits for them later.
    DropsTimeout,
}

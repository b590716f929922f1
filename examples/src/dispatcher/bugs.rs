//! The seeded bugs of the dispatcher.

/// Which bug the dispatcher has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// None: the protocol as it should be.
    None,
    /// It takes a membership that arrives late for the newest, and waits for one that it has thrown away.
    TakesOlderMembership,
    /// It has no use for requests that a replica refuses, since "the client will ask again".
    ForgetsRefused,
    /// With a new membership it sends all open requests again, also those that are being carried out.
    SendsAllAgain,
}

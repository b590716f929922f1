//! The seeded bugs of acceptors that crash.

/// Which bug acceptors have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// None: the protocol as it should be.
    None,
    /// A promise is sent before it is durable. An acceptor that crashes then accepts what it promised not to.
    PromiseNotSynced,
    /// An acceptance is sent before it is durable. An acceptor that crashes then knows nothing of a value that is chosen.
    AcceptanceNotSynced,
    /// An acceptor stores its promises alone, since "the value is with the proposer anyway".
    StoresPromisesOnly,
}

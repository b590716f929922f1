//! The seeded bugs of the reliable channel.

/// Which bug sender and receiver have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// None: the protocol as it should be.
    None,
    /// N1: the receiver delivers what it has delivered before.
    DeliversAgain,
    /// N3: when its attempts are used up, the sender goes on as if the last had succeeded.
    GivesUpSilently,
    /// The sender takes any acknowledgement for that of its last packet.
    CountsStaleAcks,
}

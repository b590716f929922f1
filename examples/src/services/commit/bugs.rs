//! The seeded bugs of atomic commit.

/// Which bug the coordinator has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// None: the protocol as it should be.
    None,
    /// T3: it does not ask its last participant.
    SkipsLast,
    /// It tells the other participant what it thinks, instead of what was decided at the first.
    TrustsItself,
}

//! The seeded bugs of the failure detector.

/// Which bug the detector has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// None: the protocol as it should be.
    None,
    /// F1: a pong counts in whatever round it arrives, so that a node that is dead counts as alive.
    CountsStalePongs,
    /// F3: a node that does not answer is not asked any more, and nobody is told.
    KeepsItToItself,
    /// One message that is lost is enough to be taken for dead.
    AsksOnce,
}

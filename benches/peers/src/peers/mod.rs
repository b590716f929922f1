//! The peers, a file each, and ours.

pub mod bare;
mod blocking;
pub mod loom;
pub mod ours;
pub mod shuttle;
pub mod spin;
pub mod stateright;
pub mod traceforge;

//! What happened in an execution, in people's names.

use crate::world::op::Site;

/// One thing that happened.
#[derive(Clone, Debug)]
pub struct Event {
    /// Number of the step it happened in; 0 is the set-up.
    pub step: u64,
    /// Virtual nanoseconds since the start.
    pub now: u64,
    /// The process.
    pub process: String,
    /// What it did.
    pub text: String,
    /// Where in the user's code.
    pub site: Option<Site>,
}

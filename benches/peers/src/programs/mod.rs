//! The programs, each for any peer.

mod fan_in;
mod ping_pong;
mod ring;
mod two_phase_commit;
mod voting;

use crate::peer::Peer;
use std::fmt;
pub(crate) use voting::voting;

/// A program and how large it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Program {
    /// Two tasks, so many round trips.
    PingPong(u32),
    /// So many tasks, so many laps.
    Ring(usize, u32),
    /// A client, a coordinator and so many participants.
    TwoPhaseCommit(usize),
    /// So many producers, so many messages each.
    FanIn(u64, u64),
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PingPong(trips) => write!(f, "ping-pong, {trips} trips"),
            Self::Ring(tasks, laps) => write!(f, "ring {tasks}x{laps}"),
            Self::TwoPhaseCommit(participants) => write!(f, "two-phase commit, {participants} participants"),
            Self::FanIn(producers, messages) => write!(f, "fan-in {producers}x{messages}"),
        }
    }
}

impl Program {
    /// Runs it, in part in the running task.
    pub async fn run<P: Peer>(self) {
        match self {
            Self::PingPong(trips) => ping_pong::ping_pong::<P>(trips).await,
            Self::Ring(tasks, laps) => ring::ring::<P>(tasks, laps).await,
            Self::TwoPhaseCommit(participants) => two_phase_commit::two_phase_commit::<P>(participants).await,
            Self::FanIn(producers, messages) => fan_in::fan_in::<P>(producers, messages).await,
        }
    }
}

//! What a leader election must never do.

use delay::monitor::Monitor;

/// What nodes announce.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Progress {
    /// The node takes itself to be the leader.
    Leads {
        /// Its number.
        node: u32,
    },
    /// The node takes another one to be the leader.
    Follows {
        /// Its number.
        node: u32,
        /// The other's.
        leader: u32,
    },
}

/// Safety: there is at most one leader, and nobody follows a node that does not lead.
#[derive(Clone, Hash, Debug, Default)]
pub struct OneLeader {
    leader: Option<u32>,
}

impl Monitor for OneLeader {
    type Event = Progress;

    fn on(&mut self, event: &Progress) -> Result<(), String> {
        match (*event, self.leader) {
            (Progress::Leads { node }, None) => {
                self.leader = Some(node);
                Ok(())
            }
            (Progress::Leads { node }, Some(leader)) => Err(format!("node {node} leads although node {leader} does")),
            (Progress::Follows { leader, .. }, Some(real)) if leader == real => Ok(()),
            (Progress::Follows { node, leader }, _) => {
                Err(format!("node {node} follows node {leader}, which does not lead"))
            }
        }
    }
}

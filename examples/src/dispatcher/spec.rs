//! What a service behind a dispatcher must never do, and what it must do.

use delay::monitor::Monitor;
use std::collections::BTreeSet;

/// What a client sees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Service {
    /// It makes this request.
    Asked(u32),
    /// It has the answer to this request.
    Answered(u32),
}

/// A replica carries out this request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Executed(pub u32);

/// What is announced.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Progress {
    /// By a client.
    Service(Service),
    /// By a replica.
    Executed(Executed),
}

impl From<Service> for Progress {
    fn from(seen: Service) -> Self {
        Self::Service(seen)
    }
}

impl From<Executed> for Progress {
    fn from(done: Executed) -> Self {
        Self::Executed(done)
    }
}

/// Safety: a request is carried out at most once, and answered only then. Liveness: it is answered.
#[derive(Clone, Hash, Debug, Default)]
pub struct OnceEach {
    executed: BTreeSet<u32>,
    unanswered: BTreeSet<u32>,
}

impl Monitor for OnceEach {
    type Event = Progress;

    fn on(&mut self, event: &Progress) -> Result<(), String> {
        match *event {
            Progress::Service(Service::Asked(number)) => {
                self.unanswered.insert(number);
            }
            Progress::Executed(Executed(number)) if !self.executed.insert(number) => {
                return Err(format!("request {number} is carried out again"));
            }
            Progress::Executed(_) => {}
            Progress::Service(Service::Answered(number)) if !self.executed.contains(&number) => {
                return Err(format!("request {number} is answered and not carried out"));
            }
            Progress::Service(Service::Answered(number)) => {
                self.unanswered.remove(&number);
            }
        }
        Ok(())
    }

    fn is_hot(&self) -> bool {
        !self.unanswered.is_empty()
    }
}

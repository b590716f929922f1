//! Liveness: what must happen at last. At an end, in a loop that is fair, and, as a heuristic, for too long.

mod ending;
mod events;
mod lasso;
mod recovery;
mod temperature;
#[path = "../verdicts/mod.rs"]
mod verdicts;

use delay::monitor::Monitor;
use verdicts::{exhaustive, finds, passes};

/// What the programs here announce.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Said {
    Asked,
    Answered,
}

/// Whoever asks is answered at last.
#[derive(Hash, Default)]
struct Answers {
    owed: u32,
}

impl Monitor for Answers {
    type Event = Said;

    fn on(&mut self, said: &Said) -> Result<(), String> {
        match said {
            Said::Asked => self.owed += 1,
            Said::Answered => self.owed = self.owed.checked_sub(1).ok_or("nobody had asked")?,
        }
        Ok(())
    }

    fn is_hot(&self) -> bool {
        self.owed > 0
    }
}

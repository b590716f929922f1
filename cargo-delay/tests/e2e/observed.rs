//! A package with observers, for `check.rs`.

use delay::{
    monitor::{self, Monitor},
    record::{Observer, Vocabulary},
};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Debug)]
pub enum Progress {
    Agreed(u32),
    Committed(u32),
}

/// What is committed was agreed to before, and what was agreed to is committed.
#[derive(Hash, Default)]
pub struct Atomicity {
    agreed: std::collections::BTreeSet<u32>,
}

impl Monitor for Atomicity {
    type Event = Progress;

    fn on(&mut self, progress: &Progress) -> Result<(), String> {
        match progress {
            Progress::Agreed(n) => drop(self.agreed.insert(*n)),
            Progress::Committed(n) if self.agreed.remove(n) => {}
            Progress::Committed(n) => return Err(format!("{n} is committed, and nobody has agreed")),
        }
        Ok(())
    }

    fn is_hot(&self) -> bool {
        !self.agreed.is_empty()
    }
}

pub fn vocabulary() -> Vocabulary {
    Vocabulary::new().event::<Progress>("progress")
}

#[cfg(test)]
mod specification {
    use super::*;

    #[delay::observer]
    fn atomic() -> Observer {
        Observer::new(vocabulary(), || monitor::register(Atomicity::default()))
    }

    /// Of another protocol.
    #[derive(Hash)]
    struct Deaf;

    impl Monitor for Deaf {
        type Event = u8;

        fn on(&mut self, _: &u8) -> Result<(), String> {
            Ok(())
        }
    }

    #[delay::observer]
    fn foreign() -> Observer {
        Observer::new(Vocabulary::new().event::<u8>("byte"), || monitor::register(Deaf))
    }

    #[delay::delay_test]
    async fn explores() {
        monitor::register(Atomicity::default());
        delay::announce(Progress::Agreed(1));
        delay::announce(Progress::Committed(1));
    }
}

//! A step that goes wrong may lead to a state that is known from a step that did not: look before asking the cache.

use crate::{exhaustive, finds, misses};
use delay::{monitor, monitor::Monitor, task};
use delay_core::world::masked::Part;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Said {
    Opened,
    Closed,
}

/// Remembers what was said, not in which order: it complains at once.
#[derive(Hash, Default)]
struct OpenedFirst {
    opened: bool,
    closed: bool,
}

impl Monitor for OpenedFirst {
    type Event = Said;

    fn on(&mut self, said: &Said) -> Result<(), String> {
        match said {
            Said::Opened => self.opened = true,
            Said::Closed => self.closed = true,
        }
        if *said == Said::Opened && self.closed { Err("opened after it was closed".to_owned()) } else { Ok(()) }
    }
}

async fn two_speakers() {
    monitor::register(OpenedFirst::default());
    for said in [Said::Closed, Said::Opened] {
        task::spawn(async move {
            task::yield_now().await;
            monitor::announce(said);
        });
    }
}

#[test]
fn a_wrong_step_to_a_known_state_is_found() {
    finds(&exhaustive().check(two_speakers), "opened after it was closed");
}

#[test]
fn behind_the_cache_it_is_missed() {
    misses(&exhaustive().mask(Part::Violations).check(two_speakers));
}

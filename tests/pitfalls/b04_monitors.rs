//! What a monitor remembers is part of the state: two orders of events may lead the program to the same state and the
//! monitor to different ones.

use crate::{exhaustive, finds, misses};
use delay::{monitor, monitor::Monitor, task};
use delay_core::world::masked::Part;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Said {
    Prepared,
    Committed,
    Closed,
}

/// After a close it complains if the commit had come before the prepare.
#[derive(Hash, Default)]
struct InOrder {
    heard: Vec<Said>,
}

impl Monitor for InOrder {
    type Event = Said;

    fn on(&mut self, said: &Said) -> Result<(), String> {
        self.heard.push(*said);
        if self.heard == [Said::Committed, Said::Prepared, Said::Closed] {
            return Err("committed before it was prepared".to_owned());
        }
        Ok(())
    }
}

async fn three_speakers() {
    monitor::register(InOrder::default());
    for said in [Said::Closed, Said::Committed, Said::Prepared] {
        task::spawn(async move {
            task::yield_now().await;
            monitor::announce(said);
        });
    }
}

#[test]
fn an_order_that_only_the_monitor_saw_is_found() {
    finds(&exhaustive().check(three_speakers), "committed before it was prepared");
}

#[test]
fn without_monitors_in_the_key_it_is_missed() {
    misses(&exhaustive().mask(Part::Monitors).check(three_speakers));
}

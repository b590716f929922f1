//! Finding nothing is an observation: it tells the past of a process from one that has not looked yet.

use crate::{exhaustive, finds, misses};
use delay::{Payload, sync::mpsc, task};
use delay_core::world::masked::Part;

async fn looks_twice() {
    let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::visible());
    task::spawn_named("sender", async move {
        task::yield_now().await;
        let _ = sender.send(1);
        std::future::pending::<()>().await;
    });
    task::spawn_named("looker", async move {
        task::yield_now().await;
        let first = receiver.try_recv().is_ok();
        task::yield_now().await;
        let second = receiver.try_recv().is_ok();
        assert!(first || !second, "nothing at first, then something");
    });
}

#[test]
fn nothing_and_then_something_is_found() {
    for explorer in ["rtc", "rr"] {
        finds(&exhaustive().explorer(explorer).check(looks_twice), "nothing at first");
    }
}

#[test]
fn without_negative_observations_it_is_missed() {
    for explorer in ["rtc", "rr"] {
        misses(&exhaustive().explorer(explorer).mask(Part::Empty).check(looks_twice));
    }
}

//! What can still go wrong is part of the state: the same program with its crash behind it has another future.

use crate::{exhaustive, finds, misses};
use delay::{
    Checker, Faults, Payload, Report, checkpoint,
    explorer::{Event, Explorer, Process},
    net::{Delivery, Network},
    node::Node,
    task,
};
use delay_core::world::masked::Part;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// The processes in order of becoming enabled; what goes wrong comes before all of them.
#[derive(Clone, Hash)]
struct FaultsFirst(Vec<Process>);

impl Explorer for FaultsFirst {
    fn step(&mut self, event: Event) {
        match event {
            Event::Enabled { process, .. } => self.0.push(process),
            Event::Blocked(process) => self.0.retain(|other| *other != process),
            _ => {}
        }
    }
    fn next(&self) -> Process {
        self.0[0]
    }
    fn delay(&mut self) {
        self.0.rotate_left(1);
    }
    fn environment(&self) -> Option<Process> {
        Some(Process::FAULTS)
    }
}

/// Must not crash while it is ready.
struct Ready;

impl Drop for Ready {
    fn drop(&mut self) {
        panic!("crashed while it was ready");
    }
}

/// init -> ready -> done; one that starts again is ready at once.
async fn three_stages() {
    let was_up = Arc::new(AtomicBool::new(false));
    Node::start("node", move || {
        let was_up = was_up.swap(true, Ordering::Relaxed);
        async move {
            if !was_up {
                checkpoint(&"init");
                task::yield_now().await;
            }
            checkpoint(&"ready");
            let ready = Ready;
            task::yield_now().await;
            std::mem::forget(ready);
            checkpoint(&"done");
            std::future::pending::<()>().await;
        }
    });
}

fn check(checker: Checker) -> Report {
    checker.faults(Faults::NONE.crash(1).restart(1)).check_with(|_| FaultsFirst(Vec::new()), three_stages)
}

#[test]
fn a_crash_in_the_middle_is_found_after_one_at_the_start() {
    finds(&check(exhaustive().max_delays(1)), "crashed while it was ready");
}

#[test]
fn without_budgets_in_the_key_it_is_missed() {
    misses(&check(exhaustive().mask(Part::Budgets)));
}

/// Whatever goes wrong leads back to where the program was, with less of the budget.
async fn indifferent() {
    let net = Network::builder(Delivery::Fifo).payload(Payload::<u8>::visible().cloned()).build();
    for me in ["a", "b"] {
        let net = net.clone();
        Node::start(me, move || {
            let net = net.clone();
            async move {
                let mut endpoint = net.endpoint(me);
                loop {
                    endpoint.recv().await;
                    checkpoint(&());
                }
            }
        });
    }
    let sender = net.endpoint("sender");
    for _ in 0..2 {
        sender.send(net.address("a"), 7).await.expect("it never ends");
    }
    checkpoint(&());
}

#[test]
fn each_budget_tells_states_apart() {
    let states = |faults, mask: bool| {
        let checker = exhaustive().faults(faults);
        let checker = if mask { checker.mask(Part::Budgets) } else { checker };
        let report = checker.check(indifferent);
        assert!(report.is_complete(), "{:?}", report.stop);
        report.coverage.states
    };
    let none = Faults::NONE;
    assert_eq!(states(none, true), states(none, false));
    let kinds =
        [none.drop(1), none.duplicate(1), none.reorder(1), none.delay(1), none.partition(1), none.crash(1).restart(1)];
    for faults in kinds.into_iter().chain([none.crash(1).restart(2)]) {
        assert!(states(faults, true) < states(faults, false), "{faults:?}");
    }
}

/// What a node begins with again may be all that is left of how it was started.
#[test]
fn how_a_node_was_started_is_part_of_the_state() {
    let report = exhaustive().faults(Faults::NONE.crash(1).restart(1)).mask(Part::Timers).check(|| async {
        let chosen = delay::choose(3).await;
        let was_up = Arc::new(AtomicBool::new(false));
        Node::start("node", move || {
            let starts_again = was_up.swap(true, Ordering::Relaxed);
            async move {
                checkpoint(&());
                task::yield_now().await;
                assert!(!starts_again || chosen != 2, "what it was started with");
                checkpoint(&());
            }
        });
        checkpoint(&());
        task::yield_now().await;
    });
    finds(&report, "what it was started with");
}

//! Durable storage: what was synced survives a crash, what was not may, and nothing else does.

use crate::outcomes::{Outcomes, outcomes};
use delay::{
    Cache, Checker, Faults, Payload,
    node::Node,
    storage::{Cell, Log},
    task, time,
};
use delay_core::world::masked::Part;
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A node that does something and never ends; it crashes at a time of the search's choice, and when it starts again reads.
fn crashes(job: fn() -> Job, read: fn(Outcomes) -> Job) -> Vec<String> {
    outcomes(Checker::new().faults(Faults::NONE.crash(1).restart(1)), move |all| async move {
        // Not the node's: how often it has started is what its storage would tell.
        let was_up = Arc::new(AtomicBool::new(false));
        Node::start("node", move || {
            let (all, was_up) = (all.clone(), was_up.swap(true, Ordering::Relaxed));
            async move {
                if was_up {
                    read(all).await;
                } else {
                    job().await;
                }
                std::future::pending::<()>().await;
            }
        });
    })
}

fn cell() -> Cell<u32> {
    Cell::with_payload("cell", Payload::visible())
}

fn read_cell(all: Outcomes) -> Job {
    Box::pin(async move { all.note(&cell().read().await) })
}

#[test]
fn a_write_may_be_lost_until_it_is_synced() {
    let unsynced = crashes(|| Box::pin(async { cell().write(1).await }), read_cell);
    assert_eq!(unsynced, ["None", "Some(1)"]);
    let two = || -> Job {
        Box::pin(async {
            cell().write(1).await;
            cell().sync().await;
            // From here on 1 is not lost.
            cell().write(2).await;
            cell().write(3).await;
        })
    };
    assert_eq!(crashes(two, read_cell), ["None", "Some(1)", "Some(2)", "Some(3)"]);
    let synced = crashes(
        || {
            Box::pin(async {
                cell().write(1).await;
                cell().sync().await;
                task::yield_now().await;
            })
        },
        |all| {
            Box::pin(async move {
                let first = cell().read().await;
                // What survived is durable: another crash could not take it.
                all.note(&(first, cell().read().await));
            })
        },
    );
    assert_eq!(synced, ["(None, None)", "(Some(1), Some(1))"]);
}

fn log(torn: bool) -> Log<u32> {
    if torn { Log::with_torn_records("log", Payload::visible()) } else { Log::with_payload("log", Payload::visible()) }
}

fn append(torn: bool) -> Job {
    Box::pin(async move {
        log(torn).append(1).await;
        log(torn).sync().await;
        log(torn).append(2).await;
        log(torn).append(3).await;
    })
}

fn read_log(torn: bool, all: Outcomes) -> Job {
    Box::pin(async move {
        let read = log(torn).read().await;
        all.note(&(read.records, read.is_torn));
    })
}

#[test]
fn a_log_loses_from_its_end() {
    let seen = crashes(|| append(false), |all| read_log(false, all));
    assert_eq!(seen, ["([1, 2, 3], false)", "([1, 2], false)", "([1], false)", "([], false)"]);
}

#[test]
fn the_first_lost_record_may_be_torn() {
    let seen = crashes(|| append(true), |all| read_log(true, all));
    let whole = ["([1, 2, 3], false)", "([1, 2], false)", "([1], false)", "([], false)"];
    let torn = ["([1, 2], true)", "([1], true)", "([], true)"];
    let mut expected: Vec<String> = whole.iter().chain(&torn).map(ToString::to_string).collect();
    expected.sort();
    assert_eq!(seen, expected);
}

#[test]
fn an_append_overwrites_half_a_record() {
    let seen = crashes(
        || append(true),
        |all| {
            Box::pin(async move {
                log(true).append(9).await;
                let read = log(true).read().await;
                assert!(!read.is_torn);
                all.note(&read.records);
            })
        },
    );
    assert_eq!(seen, ["[1, 2, 3, 9]", "[1, 2, 9]", "[1, 9]", "[9]"]);
}

#[test]
fn stores_are_of_their_node_and_outlive_its_tasks() {
    let report = Checker::new().check(|| async {
        for name in ["a", "b"] {
            let node = Node::start(name, move || async move {
                if cell().read().await.is_none() {
                    task::spawn(async move {
                        cell().write(u32::from(name == "a")).await;
                        cell().sync().await;
                    });
                } else {
                    assert_eq!(cell().read().await, Some(u32::from(name == "a")));
                }
            });
            time::sleep(Duration::from_secs(1)).await;
            node.crash().await;
            node.restart().await;
        }
        assert_eq!(cell().read().await, None, "the test's own");
    });
    report.assert_passed();
}

/// One writes and does nothing else; another reads later. The reader must not be cut short where the store differs only.
async fn forgetful_writer(all: Outcomes) {
    for number in 1..=2 {
        task::spawn(async move {
            cell().write(number).await;
            delay::checkpoint(&number);
        });
    }
    time::sleep(Duration::from_secs(1)).await;
    all.note(&cell().read().await);
}

#[test]
fn what_is_stored_is_part_of_the_state() {
    let every = outcomes(Checker::new().cache(Cache::Off), forgetful_writer);
    assert_eq!(every, ["Some(1)", "Some(2)"]);
    assert_eq!(outcomes(Checker::new(), forgetful_writer), every);
    assert_eq!(outcomes(Checker::new().mask(Part::Storage), forgetful_writer).len(), 1);
}

#[test]
fn a_store_is_opened_as_one_thing() {
    let message = |body: fn()| {
        let report = Checker::new().check(move || async move { body() });
        report.failure.expect("it is refused").violation.to_string()
    };
    for told in [
        message(|| {
            let _ = Cell::<u32>::open("x");
            let _ = Cell::<u64>::open("x");
        }),
        message(|| {
            let _ = Cell::<u32>::open("x");
            let _ = Log::<u32>::open("x");
        }),
    ] {
        assert!(told.contains("the store \"x\" is already open as another kind"), "{told}");
    }
}

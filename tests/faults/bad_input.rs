//! Faults that cannot be: told, not ignored.

use delay::{
    Checker, Faults, Payload, Report,
    net::{Delivery, Link, Network},
    node::Node,
};
use std::future::pending;

fn told(report: &Report) -> String {
    let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| report.assert_passed()));
    *told.unwrap_err().downcast::<String>().unwrap()
}

fn refused(body: impl Fn() + Send + Sync) -> String {
    let report = Checker::new().check(|| async { body() });
    report.failure.unwrap().violation.to_string()
}

#[test]
fn a_fault_without_anything_to_happen_to_is_told() {
    let none = || async {};
    let unordered = || async { drop(Network::<u8>::new(Delivery::Unordered).endpoint("a")) };
    let one = || async { drop(Node::start("a", pending)) };
    let faults = Faults::NONE;
    for (told, fragment) in [
        (told(&Checker::new().faults(faults.drop(1)).check(none)), "makes no endpoint"),
        (told(&Checker::new().faults(faults.delay(1)).check(none)), "makes no endpoint"),
        (told(&Checker::new().faults(faults.duplicate(1)).check(unordered)), "`.cloned()`"),
        (told(&Checker::new().faults(faults.reorder(1)).check(unordered)), "in order"),
        (told(&Checker::new().faults(faults.crash(1)).check(none)), "starts no node"),
        (told(&Checker::new().faults(faults.partition(1)).check(one)), "fewer than two nodes"),
    ] {
        assert!(told.contains("can never happen") && told.contains(fragment), "{told}");
    }
}

#[test]
#[should_panic(expected = "nothing can restart where nothing may crash")]
fn a_restart_needs_a_crash() {
    let _ = Checker::new().faults(Faults::NONE.restart(1));
}

#[test]
fn links_and_nodes_refuse_what_is_not_theirs() {
    for (told, fragment) in [
        (refused(|| drop(Link::<u8>::any().faults(Faults::NONE.crash(1)))), "a link cannot crash"),
        (refused(|| drop(Node::builder("a").faults(Faults::NONE.drop(1)))), "a node can only crash and restart"),
        (
            refused(|| {
                let link = Link::any().faults(Faults::NONE.duplicate(1));
                Network::<u8>::builder(Delivery::Fifo).link(link).build();
            }),
            "messages that cannot be copied",
        ),
        (
            refused(|| {
                let link = Link::any().faults(Faults::NONE.reorder(1));
                Network::builder(Delivery::Unordered).payload(Payload::<u8>::visible()).link(link).build();
            }),
            "an unordered network",
        ),
    ] {
        assert!(told.contains(fragment), "{told}");
    }
}

#[test]
fn too_many_nodes_to_partition_are_told() {
    let report = Checker::new().faults(Faults::NONE.partition(1)).check(|| async {
        for number in 0..9 {
            Node::start(format!("node {number}"), pending);
        }
    });
    assert!(report.failure.unwrap().violation.to_string().contains("at most 8 nodes"));
}

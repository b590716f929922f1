//! Counts of states that another checker publishes, where the model is the same.
//!
//! stateright (github.com/stateright/stateright) asserts in its examples `paxos.rs` and `linearizable-register.rs` and
//! in the ping-pong tests of `actor/model.rs` how many states its actor programs have. The same programs are written here
//! anew ([`paxos`], [`abd`], [`ping_pong`]), and the counts compared twice: with a brute force ([`enumerate`]), and
//! with `delay`, which runs them as async tasks ([`actors::body`]) under `macro` granularity and `unordered` delivery, with a
//! `checkpoint` at each receive.
//!
//! A state there is: what each actor knows, clients included; the messages under way, with sender and receiver; and the
//! recorded history of calls. Three things are not as `delay` has them, so the comparison is made under a delivery that
//! only tests have (`delay_core::world::as_set`): a message that changes nothing stays under way; a network that
//! duplicates is a set out of which nothing is taken (ping-pong sends no message twice), and loss has no budget; and all
//! actors have started, and their first messages are under way, in the initial state. Nothing is added to or taken from
//! a count.

mod abd;
mod actors;
mod enumerate;
mod paxos;
mod ping_pong;
mod register;

use abd::Abd;
use actors::{Protocol, body};
use delay::{Checker, Granularity};
use delay_core::world::as_set;
use enumerate::{Counts, Wire, enumerate};
use paxos::Paxos;
use ping_pong::PingPong;
use std::time::{Duration, Instant};

const PAXOS: Paxos = Paxos { clients: 2, servers: 3 };
const ABD: Abd = Abd { clients: 2, servers: 2 };

const MANY: u64 = 10_000;

/// Both ways of counting give the published count of states, and agree on transitions.
#[track_caller]
fn compare<P: Protocol>(protocol: P, wire: Wire, published: u64) {
    let counted = enumerate(protocol, wire);
    assert_eq!(counted.states, published, "the brute force: {counted:?}");
    let carried = match wire {
        Wire::Exact => as_set::Wire::Exact,
        Wire::Duplicating => as_set::Wire::Duplicating,
        Wire::LossyDuplicating => as_set::Wire::LossyDuplicating,
    };
    let checker = Checker::new().granularity(Granularity::Macro).budget(Duration::from_mins(10)).wire(carried);
    // The count does not depend on the explorer; a large one is made once.
    let explorers: &[&str] = if published > MANY { &["rtc"] } else { &["rtc", "rr"] };
    for explorer in explorers {
        let start = Instant::now();
        let report = checker.explorer(explorer).check(|| body(protocol));
        let seconds = start.elapsed().as_secs_f64();
        let coverage = &report.coverage;
        println!("{explorer}: {} states, {} transitions, {seconds:.2} s", coverage.states, coverage.transitions);
        assert!(report.is_complete(), "{explorer}: {}", report.sentences());
        assert_eq!(coverage.states, published, "{explorer}");
        let Counts { states: _, received, ignored, lost } = counted;
        assert_eq!(coverage.transitions, received + ignored + lost, "{explorer}: {counted:?}");
    }
}

#[test]
fn paxos_with_two_clients_and_three_servers() {
    compare(PAXOS, Wire::Exact, 16_668);
}

#[test]
fn the_abd_register_with_two_clients_and_two_servers() {
    compare(ABD, Wire::Exact, 544);
}

#[test]
fn ping_pong_up_to_five() {
    compare(PingPong { limit: 5 }, Wire::Exact, 11);
    compare(PingPong { limit: 5 }, Wire::Duplicating, 11);
    compare(PingPong { limit: 5 }, Wire::LossyDuplicating, 4_094);
}

#[test]
fn ping_pong_up_to_one() {
    compare(PingPong { limit: 1 }, Wire::LossyDuplicating, 14);
}

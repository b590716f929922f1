//! The same programs on other testers and on ours, side by side, in one run.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml [-- WORD]`: with a word, only the comparisons whose name has it.
//! Contestants take turns ([`measure`]), so that what else the machine does hits all of them; only ratios count.

// What the protocols are is said once, where their counts of states are tested.
#[path = "../../../tests/published_counts/actors.rs"]
mod actors;
mod measure;
#[path = "../../../tests/published_counts/paxos.rs"]
mod paxos;
mod peer;
mod peers;
mod programs;
#[path = "../../../tests/published_counts/register.rs"]
mod register;
mod table;

use measure::{Contestant, interleaved};
use paxos::Paxos;
use peers::{
    bare, loom,
    ours::{self, Order},
    shuttle, spin, stateright, traceforge,
};
use programs::Program;
use std::process::ExitCode;

/// A comparison, by name.
type Comparison = (&'static str, fn());

const COMPARISONS: [Comparison; 4] =
    [("sampling", sampling), ("traceforge", executions), ("stateright", actor_states), ("spin", channel_states)];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_asked = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    let asked: Vec<&Comparison> = COMPARISONS.iter().filter(|(name, _)| is_asked(name)).collect();
    if asked.is_empty() {
        let names: Vec<&str> = COMPARISONS.iter().map(|(name, _)| *name).collect();
        eprintln!("no comparison is called {}: there are {}", words.join(" or "), names.join(", "));
        return ExitCode::FAILURE;
    }
    for (_, compare) in asked {
        compare();
    }
    ExitCode::SUCCESS
}

/// Complete executions per second, one core.
fn sampling() {
    let programs = [Program::PingPong(1_000), Program::Ring(8, 100), Program::TwoPhaseCommit(3), Program::FanIn(4, 25)];
    for program in programs {
        let contestants = vec![
            Contestant::sampler("ours, ss, unbounded", Some(ours::points::<ours::Unbounded>(program)), move |n| {
                ours::sample::<ours::Unbounded>(program, n)
            }),
            Contestant::sampler("ours, ss, awaited sends", Some(ours::points::<ours::Bounded>(program)), move |n| {
                ours::sample::<ours::Bounded>(program, n)
            }),
            Contestant::sampler("shuttle, tokio's channels", Some(shuttle::points::<shuttle::Tokio>(program)), {
                move |n| shuttle::sample::<shuttle::Tokio>(program, n)
            }),
            Contestant::sampler("shuttle, futures' channels", Some(shuttle::points::<shuttle::Futures>(program)), {
                move |n| shuttle::sample::<shuttle::Futures>(program, n)
            }),
            Contestant::sampler("bare loop, nothing recorded", None, move |n| bare::run(program, n)),
        ];
        table::print(&format!("Sampling {program}"), "executions", &interleaved(contestants));
    }
}

/// All executions up to equivalence, as many by either, each search from nothing; what executing the program so often costs; and the first
/// executions of a search that knows no equivalence.
///
/// A send is a scheduling point of TraceForge's. So it is of ours in the fan-in; in two-phase commit it would lead to no others.
fn executions() {
    let programs = [
        (Program::TwoPhaseCommit(3), 6),
        (Program::TwoPhaseCommit(6), 720),
        (Program::FanIn(3, 3), 1_680),
        // Longer searches of the same.
        (Program::TwoPhaseCommit(7), 5_040),
        (Program::FanIn(3, 4), 34_650),
    ];
    for (program, classes) in programs {
        let reduce = match program {
            Program::FanIn(..) => ours::reduce::<ours::Bounded>,
            _ => ours::reduce::<ours::Unbounded>,
        };
        let mut contestants = vec![
            Contestant::repeater("ours, dpor", classes, move || reduce(program)),
            Contestant::repeater("TraceForge, all", classes, move || traceforge::exhaust(program)),
            Contestant::sampler("bare loop, nothing recorded", None, move |n| bare::run(program, n)),
        ];
        // It has five threads at most.
        if !matches!(program, Program::TwoPhaseCommit(6..)) {
            contestants.push(Contestant::sampler("loom, the first", None, move |n| loom::first(program, n)));
        }
        table::print(&format!("Executions of {program}"), "executions", &interleaved(contestants));
    }
}

/// The same states: actors on a network that is a bag.
fn actor_states() {
    for clients in [2, 3] {
        let protocol = Paxos { clients, servers: 3 };
        let contestants = vec![
            Contestant::searcher("ours, ses, depth first", move || ours::exhaust_protocol(protocol, Order::Deep)),
            Contestant::searcher("ours, ses", move || ours::exhaust_protocol(protocol, Order::Bounded)),
            Contestant::searcher("stateright, depth first", move || stateright::exhaust(protocol)),
        ];
        table::print(&format!("States of Paxos, {clients} clients and 3 servers"), "states", &interleaved(contestants));
    }
}

/// The same program: tasks and channels.
fn channel_states() {
    const PARTICIPANTS: usize = 6;
    let verifier = spin::Verifier::build(PARTICIPANTS);
    let mut contestants = vec![
        Contestant::searcher("ours, ses, depth first", || ours::exhaust_voting(PARTICIPANTS, Order::Deep)),
        Contestant::searcher("ours, ses", || ours::exhaust_voting(PARTICIPANTS, Order::Bounded)),
    ];
    match &verifier {
        Ok(verifier) => contestants.push(Contestant::searcher("Spin, -O2 -DSAFETY -DNOREDUCE", || verifier.exhaust())),
        Err(error) => println!("\nSpin is left out: {}", error.trim()),
    }
    let title = format!("States of two-phase commit with channels, {PARTICIPANTS} participants");
    table::print(&title, "states", &interleaved(contestants));
}

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
use peers::{bare, loom, ours, shuttle, spin, stateright, traceforge};
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

/// All executions up to equivalence, and the first ones of a search that knows no equivalence.
fn executions() {
    for program in [Program::TwoPhaseCommit(3), Program::TwoPhaseCommit(6), Program::FanIn(3, 3)] {
        let mut contestants = vec![Contestant::searcher("TraceForge, all", move || traceforge::exhaust(program))];
        // It has five threads at most.
        if program != Program::TwoPhaseCommit(6) {
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
            Contestant::searcher("ours, ses", move || ours::exhaust_protocol(protocol)),
            Contestant::searcher("stateright, depth first", move || stateright::exhaust(protocol)),
        ];
        table::print(&format!("States of Paxos, {clients} clients and 3 servers"), "states", &interleaved(contestants));
    }
}

/// The same program: tasks and channels.
fn channel_states() {
    const PARTICIPANTS: usize = 6;
    let verifier = spin::Verifier::build(PARTICIPANTS);
    let mut contestants = vec![Contestant::searcher("ours, ses", || ours::exhaust_voting(PARTICIPANTS))];
    match &verifier {
        Ok(verifier) => contestants.push(Contestant::searcher("Spin, -O2 -DSAFETY -DNOREDUCE", || verifier.exhaust())),
        Err(error) => println!("\nSpin is left out: {}", error.trim()),
    }
    let title = format!("States of two-phase commit with channels, {PARTICIPANTS} participants");
    table::print(&title, "states", &interleaved(contestants));
}

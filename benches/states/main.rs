//! One exhaustive search, as large as one likes: `cargo bench --bench states -- PROGRAM PARTICIPANTS [THREADS] [MOST STATES]`.
//!
//! The programs are two-phase commits: `voting`, that of `benches/peers`, where a send and a receive are a step each, `named-votes`, and
//! `identical-votes`, whose participants are identical tasks; in `each-votes` the same are tasks of their own. In `networked` the messages of
//! each sender keep their order, and a monitor listens; in `lossy` one message may be lost, and waits end when a time has passed. `locked` has locks, permits,
//! notifications and a watched value instead of messages.
//! Prints states, transitions, how often the program was executed, the time, rates, and the largest size that the process ever had
//! in memory. Not criterion's: one search may take minutes.

use delay::{Checker, Faults, Granularity};
use std::{env, fs, time::Duration};

mod identical_votes;
mod locked;
mod lossy;
mod named_votes;
mod networked;
#[path = "../peers/src/programs/voting.rs"]
mod voting;

fn main() {
    // `cargo bench` adds an option of its own.
    let mut words = env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let program = words.next().unwrap_or_else(|| "voting".to_owned());
    let numbers: Vec<u64> = words.map(|argument| argument.parse().expect("a number")).collect();
    let number = |at: usize, otherwise| numbers.get(at).copied().unwrap_or(otherwise);
    let (participants, threads) = (number(0, 4) as usize, number(1, 1));
    let checker = Checker::new().budget(Duration::from_hours(10)).jobs(threads as u32).max_states(number(2, u64::MAX));
    let began = std::time::Instant::now();
    let report = match program.as_str() {
        "voting" => checker.granularity(Granularity::Op).check(move || voting::voting(participants)),
        "named-votes" => checker.check(move || named_votes::named_votes(participants)),
        "identical-votes" => checker.check(move || identical_votes::identical_votes(participants, true)),
        "each-votes" => checker.check(move || identical_votes::identical_votes(participants, false)),
        "networked" => checker.check(move || networked::networked(participants)),
        "lossy" => checker.faults(Faults::NONE.drop(1)).check(move || lossy::lossy(participants)),
        "locked" => checker.check(move || locked::locked(participants)),
        other => panic!(
            "no program is called {other}: voting, named-votes, identical-votes, each-votes, networked, lossy, locked"
        ),
    };
    let seconds = began.elapsed().as_secs_f64();
    assert!(!report.is_failure(), "{}", report.sentences());
    let (states, transitions) = (report.coverage.states, report.coverage.transitions);
    let live = report.coverage.totals.executions;
    println!("{program}, {participants} participants, {threads} threads: {:?}", report.stop);
    println!(
        "{states} states, {transitions} transitions, {live} live executions, 1 for {} states",
        states / live.max(1)
    );
    let rate = |count: u64| count as f64 / seconds / 1e6;
    println!("{seconds:.2} s: {:.2} M states/s, {:.2} M transitions/s", rate(states), rate(transitions));
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(peak) = status.lines().find(|line| line.starts_with("VmHWM")) {
        println!("{peak}");
    }
}

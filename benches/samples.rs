//! One sampling search by several threads: `cargo bench --bench samples -- [THREADS] [SAMPLES]`.
//!
//! A token goes round a ring of tasks, each sample with two delays. Prints executions, the time, and the rate. Not criterion's: what is
//! compared is the same search with another number of threads, by turns.

use delay::{Checker, Mode, sync::mpsc, task};
use std::{env, time::Duration};

const TASKS: usize = 8;
const ROUNDS: u32 = 100;

async fn ring() {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..TASKS).map(|_| mpsc::unbounded_channel::<u32>()).unzip();
    senders[0].send(0).expect("the first is there");
    let next = senders.into_iter().cycle().skip(1).take(TASKS).collect::<Vec<_>>();
    for (mut receiver, next) in receivers.into_iter().zip(next) {
        task::spawn(async move {
            for _ in 0..ROUNDS {
                let Some(token) = receiver.recv().await else { return };
                // The last one may find nobody left.
                let _ = next.send(token + 1);
            }
        });
    }
}

fn main() {
    // `cargo bench` adds an option of its own.
    let words = env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let numbers: Vec<u64> = words.map(|argument| argument.parse().expect("a number")).collect();
    let number = |at: usize, otherwise| numbers.get(at).copied().unwrap_or(otherwise);
    let (threads, samples) = (number(0, 1), number(1, 20_000));
    let checker = Checker::new().mode(Mode::Ss).max_delays(2).samples(samples).budget(Duration::from_hours(1));
    let began = std::time::Instant::now();
    let report = checker.jobs(threads as u32).check(ring);
    let seconds = began.elapsed().as_secs_f64();
    report.assert_passed();
    let executions = report.coverage.executions;
    println!(
        "{threads} threads: {executions} executions in {seconds:.2} s, {:.0} a second",
        executions as f64 / seconds
    );
}

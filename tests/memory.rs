//! Long searches in one process: memory stays flat.
//!
//! Stands alone and runs one test at a time: the resident size is the process's.

use delay::{Checker, Mode, sync::mpsc, task};
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// Resident memory in bytes. None where the system does not tell.
fn resident() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// Runs `samples` samples in ten parts and asserts that the last nine add next to nothing.
fn flat(samples: u64, sample: impl Fn(u64)) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    sample(samples / 10);
    let Some(before) = resident() else { return };
    for _ in 0..9 {
        sample(samples / 10);
    }
    let grown = resident().unwrap_or(before).saturating_sub(before);
    assert!(grown < 16 << 20, "grew by {grown} bytes over {samples} samples");
}

async fn two_tasks() {
    let (sender, mut receiver) = mpsc::channel(1);
    task::spawn(async move {
        let _ = sender.send(vec![1, 2, 3]).await;
    });
    assert!(receiver.recv().await.is_some());
}

fn random(samples: u64) -> Checker {
    Checker::new().mode(Mode::Random).samples(samples).budget(Duration::from_mins(10))
}

#[test]
fn samples_leave_nothing_behind() {
    flat(300_000, |samples| random(samples).check(two_tasks).assert_passed());
}

/// A program that catches a panic of its own in every execution.
async fn recovers() {
    task::yield_now().await;
    let caught = std::panic::catch_unwind(|| panic!("on purpose, {} bytes", "x".repeat(1_000).len()));
    assert!(caught.is_err());
}

#[test]
fn panics_the_program_catches_leave_nothing_behind() {
    flat(100_000, |samples| random(samples).check(recovers).assert_passed());
}

/// Ten million samples take a while in a debug build: `cargo test --release --test memory -- --ignored`.
#[test]
#[ignore = "takes a minute"]
fn ten_million_samples_leave_nothing_behind() {
    flat(10_000_000, |samples| random(samples).check(two_tasks).assert_passed());
}

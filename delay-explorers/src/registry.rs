//! The built-in explorers by name. They are instantiated here, so that a user's test binary compiles no search.

use crate::{ordered::Ordered, probabilistic::ProbabilisticRoundRobin, round_robin::RoundRobin, run_to_completion};
use delay_core::harness::registry::{Job, Registry};

/// The built-in explorers.
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn;

/// Their names.
pub const NAMES: [&str; 5] = ["rtc", "rr", "prr", "ordered", "rtc-recv"];

impl Registry for BuiltIn {
    const NAMES: &'static [&'static str] = &NAMES;

    fn run(name: &str, seed: u64, job: Job<'_, '_, '_>) -> Option<()> {
        match name {
            "rtc" => job.run(run_to_completion::RunToCompletion::default()),
            "rr" => job.run(RoundRobin::default()),
            "prr" => job.run(ProbabilisticRoundRobin::new(seed)),
            "ordered" => job.run(Ordered::default()),
            "rtc-recv" => job.run(run_to_completion::RunToReceiver::default()),
            _ => return None,
        }
        Some(())
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Checks an explorer's name at compile time.
///
/// # Panics
/// If there is no such explorer.
pub const fn known_explorer(name: &str) {
    let mut at = 0;
    while at < NAMES.len() {
        if same(name, NAMES[at]) {
            return;
        }
        at += 1;
    }
    panic!(
        "unknown explorer: expected one of \"rtc\", \"rr\", \"prr\", \"ordered\", \"rtc-recv\", or an expression of your own type"
    );
}

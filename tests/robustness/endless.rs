//! Programs that do not terminate by themselves, and very long ones.

use delay::{Checker, End, Mode, sync::mpsc, task, time};
use std::time::Duration;

/// A server that sends a heartbeat for ever, and a body that waits for two of them.
async fn heartbeat() {
    let (sender, mut receiver) = mpsc::channel(8);
    task::spawn_named("server", async move {
        let mut interval = time::interval(Duration::from_millis(100));
        loop {
            interval.tick().await;
            if sender.send("beat").await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    });
    for _ in 0..2 {
        assert_eq!(receiver.recv().await, Some("beat"));
    }
}

async fn spins_for_ever() {
    task::spawn_named("loop", async {
        loop {
            task::yield_now().await;
        }
    });
}

#[test]
fn a_truncated_run_never_claims_everything() {
    let report = Checker::new().max_steps(50).check(spins_for_ever);
    assert!(!report.is_failure());
    assert_eq!(report.coverage.truncated, 1);
    assert!(!report.is_complete());
    let said = report.sentences();
    assert!(said.contains("1 execution cut at max_steps: nothing is claimed of what follows"), "{said}");
    assert!(!said.contains("every"), "{said}");
}

#[test]
fn a_heartbeat_server_is_dropped_with_the_body() {
    let report = Checker::new().end(End::Body).max_steps(60).max_delays(3).check(heartbeat);
    report.assert_passed();
    assert!(report.coverage.executions > 0, "some execution ends with the body");
}

#[test]
fn a_heartbeat_server_runs_on_until_it_is_cut() {
    let report = Checker::new().max_steps(60).max_delays(1).check(spins_for_ever);
    report.assert_passed();
    assert!(report.coverage.truncated > 0);
}

#[test]
fn an_execution_of_a_million_steps_is_no_trouble() {
    async fn long() {
        let (sender, mut receiver) = mpsc::channel(4);
        task::spawn(async move {
            for n in 0..250_000_u32 {
                let _ = sender.send(n).await;
            }
        });
        for n in 0..250_000_u32 {
            assert_eq!(receiver.recv().await, Some(n));
            task::yield_now().await;
            task::yield_now().await;
        }
    }
    let checker = Checker::new().max_steps(2_000_000).max_delays(0).budget(Duration::from_mins(10));
    let sampled = checker.mode(Mode::Ss).check(long);
    sampled.assert_passed();
    assert!(sampled.coverage.longest >= 1_000_000, "{}", sampled.coverage.longest);
    // As many states wait in the frontier as there are steps: neither their paths nor the stack may grow with the depth.
    let exhaustive = checker.mode(Mode::Ses).check(long);
    exhaustive.assert_passed();
    assert!(exhaustive.coverage.states >= 1_000_000, "{}", exhaustive.coverage.states);
}

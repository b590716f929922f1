//! What the engine does not control must not differ when a path is executed again. The canaries have the usual causes.

use crate::exhaustive;
use delay::task;
use delay_core::search::Stop;
use std::sync::atomic::{AtomicU32, Ordering};

/// Yields once more in every second execution.
async fn every_other_time() {
    static EXECUTIONS: AtomicU32 = AtomicU32::new(0);
    let odd = EXECUTIONS.fetch_add(1, Ordering::Relaxed) % 2 == 1;
    for _ in 0..2 {
        task::spawn(async move {
            task::yield_now().await;
            if odd {
                task::yield_now().await;
            }
        });
    }
}

#[test]
fn a_re_executed_path_is_compared_step_by_step() {
    let report = exhaustive().check(every_other_time);
    let Stop::Nondeterministic(divergence) = &report.stop else { panic!("{:?}", report.stop) };
    assert!(divergence.process.starts_with("main."), "{divergence}");
    assert!(!report.is_complete() && !report.sentences().contains("every"));
}

//! Where a sampled delay may be put: where a further choice is left, and nowhere else.

use crate::exhaustive;
use delay::{Mode, Payload, Report, sync::mpsc, task};

/// The notes' FAN-IN of three, the receiver declared first.
async fn fan_in() {
    let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::visible());
    task::spawn_named("receiver", async move {
        for _ in 0..3 {
            receiver.recv().await;
        }
    });
    for me in 0..3 {
        let sender = sender.clone();
        task::spawn_named(format!("sender {me}"), async move {
            task::yield_now().await;
            let _ = sender.send(me);
            std::mem::forget(sender);
        });
    }
    std::mem::forget(sender);
}

fn sampled(delays: u32) -> Report {
    exhaustive().explorer("rr").mode(Mode::Ss).samples(900).max_delays(delays).check(fan_in)
}

#[test]
fn without_delays_the_one_execution_is_run_once() {
    let report = sampled(0);
    assert_eq!(report.coverage.executions, 1);
    let [stratum] = report.coverage.strata.as_slice() else { panic!("one stratum") };
    assert_eq!((stratum.delays, stratum.samples, stratum.exact), (0, 1, 1));
}

#[test]
fn no_delay_is_wasted_where_nothing_is_left_to_choose() {
    let report = sampled(2);
    // At most four states of an execution have a choice, of six.
    assert_eq!((report.coverage.choices, report.coverage.longest), (4, 6));
    for stratum in &report.coverage.strata {
        assert_eq!(stratum.exact, stratum.samples, "with up to two delays every sample spends all of them");
    }
    // One run before each delay and one after the last.
    assert_eq!(report.coverage.executions, 1 + 900 * 2 + 900 * 3);
}

#[test]
fn a_sample_that_runs_out_of_choices_counts_for_a_lower_stratum() {
    let report = sampled(3);
    let stratum = report.coverage.strata.last().expect("three delays were sampled");
    // 5 of 9 are short, exactly.
    let short = (stratum.samples - stratum.exact) as f64 / stratum.samples as f64;
    assert_eq!((stratum.delays, stratum.samples), (3, 900));
    assert!((short - 5.0 / 9.0).abs() < 0.08, "{short}");
}

#[test]
fn beyond_the_last_stratum_sampling_ends_by_itself() {
    let report = sampled(1_000);
    assert!(!report.is_failure());
    let last = report.coverage.strata.last().expect("some strata were sampled");
    assert_eq!(last.exact, 0);
    assert!(last.delays <= 8, "round robin needs at most six: {last:?}");
    assert!(!report.sentences().contains("every"), "{}", report.sentences());
}

/// An explicit choice and a schedule are one list: a delay may be spent on either.
#[test]
fn delays_walk_outcomes_as_they_walk_processes() {
    let body = || async {
        let chosen = delay::choose(4).await;
        assert_ne!(chosen, 3, "the last outcome");
    };
    let found = |delays| exhaustive().mode(Mode::Ss).samples(200).max_delays(delays).check(body).is_failure();
    assert!(!found(2) && found(3), "outcome 3 costs 3 delays at one state");
}

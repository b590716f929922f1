//! A monitor that is hot for too long: a heuristic, which says so.

use crate::{Answers, Said, finds};
use delay::{Checker, Mode, monitor, sync::mpsc, task};

/// The states of a counter never repeat, and nobody is answered before it is at the end.
async fn counts(until: u64) {
    monitor::register(Answers::default());
    let (tx, mut rx) = mpsc::channel(1);
    task::spawn_named("counter", async move {
        for n in 0..until {
            let _ = tx.send(n).await;
        }
    });
    task::yield_now().await;
    monitor::announce(Said::Asked);
    while rx.recv().await.is_some() {}
    monitor::announce(Said::Answered);
}

fn random() -> Checker {
    Checker::new().mode(Mode::Random).samples(20).max_steps(1_000)
}

#[test]
fn what_stays_hot_for_too_long_is_found_and_called_a_heuristic() {
    let report = random().temperature(100).check(|| counts(u64::MAX));
    let violation = finds(&report, "for more than 100 choices (temperature): a heuristic");
    assert!(violation.contains("monitor Answers has been hot since step "), "{violation}");
    let trace = report.failure.expect("it was found").trace;
    assert_eq!(random().temperature(100).replay(&trace, || counts(u64::MAX)), trace);
    let since: u64 = trace.violation[0]
        .split("since step ")
        .nth(1)
        .expect("it says")
        .split(',')
        .next()
        .expect("it says")
        .parse()
        .expect("a number");
    assert_eq!(trace.steps, since + 101, "found at the first choice past the temperature");
}

#[test]
fn what_cools_in_time_passes() {
    assert!(!random().temperature(100).check(|| counts(10)).is_failure());
    // Cut while it is hot, which is no end.
    let report = random().check(|| counts(u64::MAX));
    assert!(!report.is_failure() && report.coverage.truncated > 0, "{}", report.sentences());
}

#[test]
fn a_break_begins_anew() {
    async fn again_and_again() {
        monitor::register(Answers::default());
        for _ in 0..50 {
            monitor::announce(Said::Asked);
            for _ in 0..10 {
                task::yield_now().await;
            }
            monitor::announce(Said::Answered);
        }
    }
    assert!(!random().temperature(9).check(again_and_again).is_failure());
    finds(&random().temperature(8).check(again_and_again), "for more than 8 choices");
}

#[test]
fn no_other_mode_takes_it() {
    for mode in [Mode::Ses, Mode::Ss, Mode::SesSs] {
        let checker = Checker::new().mode(mode).temperature(100);
        let refused = std::panic::catch_unwind(|| checker.check(|| counts(3)));
        let message = refused.expect_err("it is refused");
        let message = message.downcast_ref::<String>().expect("in words");
        let expected = format!("mode is \"{}\", expected \"random\", because `temperature` is set", mode.name());
        assert!(message.starts_with(&expected), "{message}");
    }
}

#[delay::test(mode = "random", temperature = 200, samples = 5)]
async fn an_attribute_can_ask_for_it() {
    counts(20).await;
}

//! An execution that has ended while a monitor is hot.

use crate::{Answers, Said, exhaustive, finds, passes};
use delay::{End, Mode, monitor, sync::mpsc, task};

/// The server answers unless the stop overtakes the question.
async fn asks(waits_for_the_answer: bool) {
    monitor::register(Answers::default());
    let (ask, mut asked) = mpsc::channel::<&str>(4);
    let (answer, mut answered) = mpsc::channel::<()>(1);
    let server = task::spawn(async move {
        while let Some(what) = asked.recv().await {
            if what == "stop" {
                return;
            }
            monitor::announce(Said::Answered);
            let _ = answer.send(()).await;
        }
    });
    let stop = ask.clone();
    let stopper = (!waits_for_the_answer).then(|| task::spawn(async move { stop.send("stop").await.is_ok() }));
    monitor::announce(Said::Asked);
    let _ = ask.send("question").await;
    if waits_for_the_answer {
        answered.recv().await;
        let _ = ask.send("stop").await;
    }
    drop(stopper);
    let _ = server.await;
}

#[test]
fn an_end_that_owes_something_is_found() {
    let report = exhaustive().check(|| asks(false));
    finds(&report, "monitor Answers is still hot at the end: what is owed since step 0 has not happened");
    let failure = report.failure.expect("it was found");
    let again = exhaustive().replay(&failure.trace, || asks(false));
    assert_eq!(again, failure.trace);
}

#[test]
fn an_end_that_owes_nothing_passes() {
    passes(&exhaustive().check(|| asks(true)));
}

#[test]
fn sampling_finds_it_too() {
    for mode in [Mode::Ss, Mode::Random] {
        finds(&exhaustive().mode(mode).samples(200).max_delays(3).check(|| asks(false)), "still hot at the end");
    }
}

#[test]
fn the_end_of_the_body_is_an_end() {
    async fn leaves() {
        monitor::register(Answers::default());
        monitor::announce(Said::Asked);
        task::spawn(async {
            task::yield_now().await;
            monitor::announce(Said::Answered);
        });
    }
    finds(&exhaustive().end(End::Body).check(leaves), "still hot at the end");
    passes(&exhaustive().check(leaves));
}

#[test]
fn a_deadlock_is_told_first() {
    async fn stuck() {
        monitor::register(Answers::default());
        monitor::announce(Said::Asked);
        let (_tx, mut rx) = mpsc::channel::<()>(1);
        rx.recv().await;
    }
    finds(&exhaustive().check(stuck), "deadlock");
}

#[test]
fn an_execution_that_was_cut_is_not_at_its_end() {
    async fn endless() {
        monitor::register(Answers::default());
        monitor::announce(Said::Asked);
        for _ in 0..1_000 {
            task::yield_now().await;
        }
        monitor::announce(Said::Answered);
    }
    let report = exhaustive().max_steps(100).check(endless);
    assert!(!report.is_failure() && report.coverage.truncated > 0, "{}", report.sentences());
    assert!(report.sentences().contains("cut at max_steps: nothing is claimed of what follows"));
    passes(&exhaustive().check(endless));
}

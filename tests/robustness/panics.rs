//! Panics of the program under test: caught, attributed, never doubled.

use delay::{Checker, Report, sync::mpsc, task};

fn title(report: &Report) -> String {
    let failure = report.failure.as_ref().expect("a failure was found");
    failure.violation.to_string()
}

#[test]
fn a_panic_is_attributed_to_its_task() {
    let report = Checker::new().check(|| async {
        task::spawn_named("worker", async {
            task::yield_now().await;
            panic!("out of cheese");
        });
    });
    assert_eq!(title(&report), "panic in worker: out of cheese");
}

#[test]
fn an_error_of_the_body_is_the_violation() {
    let report = Checker::new().check(|| async { Err::<(), _>("no quorum") });
    assert_eq!(title(&report), "the test body returned an error: \"no quorum\"");
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in a destructor");
    }
}

#[test]
fn a_panic_in_a_destructor_is_reported() {
    let report = Checker::new().check(|| async {
        task::spawn_named("bomber", async {
            let _bomb = Bomb;
            task::yield_now().await;
        });
    });
    assert_eq!(title(&report), "panic in bomber: in a destructor");
}

#[test]
fn a_destructor_that_panics_at_the_end_of_the_execution_does_no_harm() {
    let report = Checker::new().check(|| async {
        task::spawn_named("waits", async {
            let _bomb = Bomb;
            std::future::pending::<()>().await;
        });
    });
    // It waits for something delay does not control; the body has returned, so that is no failure.
    report.assert_passed();
}

#[test]
fn a_destructor_may_use_channels() {
    struct Farewell(mpsc::UnboundedSender<&'static str>);
    impl Drop for Farewell {
        fn drop(&mut self) {
            let _ = self.0.send("gone");
        }
    }
    let report = Checker::new().check(|| async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let handle = task::spawn_named("leaves", async move {
            let _farewell = Farewell(sender);
            std::future::pending::<()>().await;
        });
        task::yield_now().await;
        handle.abort();
        assert_eq!(receiver.recv().await, Some("gone"));
        assert!(handle.await.is_err_and(|error| error.is_cancelled()));
    });
    report.assert_passed();
}

#[test]
fn a_deadlock_says_who_waits_for_what() {
    let report = Checker::new().check(|| async {
        let (to_b, mut from_a) = mpsc::channel::<u8>(1);
        let (to_a, mut from_b) = mpsc::channel::<u8>(1);
        let a = task::spawn_named("a", async move {
            let _keep = to_b;
            from_b.recv().await
        });
        task::spawn_named("b", async move {
            let _keep = to_a;
            from_a.recv().await
        });
        let _ = a.await;
    });
    let said = title(&report);
    assert!(said.starts_with("deadlock"), "{said}");
    for line in
        ["main waits for a to end", "a waits for a message on mpsc main#2", "b waits for a message on mpsc main#1"]
    {
        assert!(said.contains(line), "{said}");
    }
    let waits = &report.failure.as_ref().expect("found").violation;
    assert!(format!("{waits:?}").contains("tests/robustness/panics.rs:"), "{waits:?}");
}

//! Code the engine does not control: found and said, never a deadlock, never a silent pass.

use delay::{Checker, Report, sync::mpsc, task};
use std::{thread, time::Duration};

fn title(report: &Report) -> String {
    report.failure.as_ref().map(|failure| failure.violation.to_string()).unwrap_or_default()
}

#[test]
fn a_wake_from_another_thread_makes_the_task_ready() {
    let report = Checker::new().max_delays(0).check(|| async {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        thread::spawn(move || sender.send(7));
        task::spawn_named("listener", async move {
            assert_eq!(receiver.await, Ok(7));
        })
        .await
        .expect("it neither panics nor is aborted");
    });
    report.assert_passed();
    if report.coverage.totals.foreign_wakes > 0 {
        let said = report.sentences();
        assert!(said.contains("partly uncontrolled"), "{said}");
        assert!(said.contains("listener"), "{said}");
        assert!(!report.is_complete());
    }
}

#[test]
fn a_channel_of_another_crate_is_partly_uncontrolled() {
    let report = Checker::new().check(|| async {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let listener = task::spawn_named("listener", receiver);
        task::yield_now().await;
        let _ = sender.send(7);
        assert_eq!(listener.await.expect("it ends"), Ok(7));
    });
    report.assert_passed();
    let said = report.sentences();
    assert!(said.contains("partly uncontrolled"), "{said}");
    assert!(said.contains("listener"), "{said}");
    assert!(!report.is_complete(), "{said}");
}

#[test]
fn waiting_for_what_never_comes_is_not_called_a_deadlock() {
    let report = Checker::new().check(std::future::pending::<()>);
    assert!(title(&report).contains("main waits for something delay does not control"), "{}", title(&report));
}

#[test]
fn raw_tokio_calls_name_their_replacement() {
    let spawns = Checker::new().check(|| async {
        tokio::spawn(async {});
    });
    let sleeps = Checker::new().check(|| async {
        tokio::time::sleep(Duration::from_millis(1)).await;
    });
    for report in [spawns, sleeps] {
        assert!(title(&report).contains("delay::task::spawn, delay::time and delay::net"), "{}", title(&report));
    }
}

#[tokio::test]
async fn raw_tokio_calls_fail_inside_a_runtime_too() {
    let report = Checker::new().check(|| async {
        tokio::spawn(async {});
    });
    assert!(title(&report).contains("delay::task::spawn"), "{}", title(&report));
}

#[test]
fn a_task_that_wakes_itself_for_ever_is_said_to_spin() {
    let report = Checker::new().check(|| async {
        std::future::poll_fn(|cx| {
            cx.waker().wake_by_ref();
            std::task::Poll::<()>::Pending
        })
        .await;
    });
    assert!(title(&report).contains("main keeps waking itself"), "{}", title(&report));
}

#[test]
fn a_handle_of_another_execution_is_refused() {
    static KEPT: std::sync::Mutex<Option<mpsc::UnboundedSender<u8>>> = std::sync::Mutex::new(None);
    let report = Checker::new().check(|| async {
        let (sender, _receiver) = mpsc::unbounded_channel();
        let kept = KEPT.lock().expect("not poisoned").replace(sender);
        if let Some(kept) = kept {
            let _ = kept.send(1);
        }
    });
    assert!(title(&report).contains("a handle of an earlier execution is used"), "{}", title(&report));
}

#[test]
fn a_checker_inside_a_test_body_is_refused() {
    let report = Checker::new().check(|| async {
        Checker::new().check(|| async {}).assert_passed();
    });
    // It runs on a thread of its own, where no execution is in place: that is allowed, and controlled by itself.
    report.assert_passed();
}

#[test]
fn a_search_that_met_no_choice_warns() {
    let report = Checker::new().check(|| async {});
    let said = report.sentences();
    assert!(said.contains("warning: no choice was met"), "{said}");
}

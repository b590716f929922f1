//! Which steps a path has does not depend on what other paths have shown.

use delay::{
    Checker, Execution, Granularity,
    sync::{broadcast, mpsc, watch},
    task,
};
use std::sync::Arc;

/// On some paths the child's sender is the last, and its start is seen by the receiver; on others it is not.
#[test]
fn who_drops_the_last_sender_does_not_change_the_steps_of_other_paths() {
    let checkers =
        ["rr", "rtc", "ordered"].map(|explorer| Checker::new().explorer(explorer).granularity(Granularity::Op));
    for checker in
        checkers.map(|checker| [Execution::Live, Execution::Learned].map(|how| checker.execution(how))).as_flattened()
    {
        let report = checker.check(|| async {
            let (sender, mut receiver) = mpsc::unbounded_channel::<()>();
            let other = sender.clone();
            task::spawn(async move {
                task::yield_now().await;
                task::spawn(async move { drop(sender) });
            });
            task::spawn(async move {
                task::yield_now().await;
                drop(other);
            });
            // Somebody who leaves something to choose on every path.
            task::spawn(async {
                task::yield_now().await;
                task::yield_now().await;
            });
            assert_eq!(receiver.recv().await, None);
        });
        report.assert_passed();
        assert!(report.is_complete(), "{checker:?}: {:?}", report.stop);
    }
}

/// Whoever waits that nobody receives can go on, and then cannot, for somebody subscribes first.
#[test]
fn a_channel_that_is_received_from_again_is_waited_for_again() {
    for execution in [Execution::Live, Execution::Learned] {
        let check = |body: fn()| {
            let report = Checker::new().execution(execution).check(|| async { body() });
            report.assert_passed();
            assert!(report.is_complete(), "{:?}", report.stop);
        };
        check(|| {
            let (sender, receiver) = watch::channel(0);
            let sender = Arc::new(sender);
            let again = Arc::clone(&sender);
            task::spawn(async move { until(sender.closed()).await });
            goes_and_comes(receiver, move || again.subscribe());
        });
        check(|| {
            let (sender, receiver) = broadcast::channel::<u32>(1);
            let again = sender.clone();
            task::spawn(async move { until(sender.closed()).await });
            goes_and_comes(receiver, move || again.subscribe());
        });
    }
}

/// A task that drops its receiver, and has another a turn later, for a turn.
fn goes_and_comes<R: Send + 'static>(receiver: R, subscribe: impl FnOnce() -> R + Send + 'static) {
    task::spawn(async move {
        drop(receiver);
        task::yield_now().await;
        let _subscribed = subscribe();
        task::yield_now().await;
    });
}

/// Waits for that, but for a turn at most.
async fn until(future: impl Future<Output = ()>) {
    tokio::select! {
        biased;
        () = future => {}
        () = task::yield_now() => {}
    }
}

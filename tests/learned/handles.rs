//! Handles that an object tells apart, made in steps and handed on: which one a task has, is nothing that it has seen, where somebody forgets.

use delay::{
    Checker, Execution, Payload, checkpoint, flip,
    sync::{Notify, broadcast, mpsc, oneshot, watch},
    task,
};
use std::sync::Arc;

/// Learned and live execution come to the same.
fn agree<F: Future<Output = ()>>(body: impl Fn() -> F + Send + Sync) {
    let [learned, live] = [Execution::Learned, Execution::Live].map(|execution| {
        let report = Checker::new().execution(execution).check(&body);
        report.assert_passed();
        assert!(report.is_complete(), "{}", report.sentences());
        assert!(!report.sentences().contains("delay does not see"), "{}", report.sentences());
        let coverage = report.coverage;
        (coverage.states, coverage.transitions, coverage.states_per_bound, coverage.longest)
    });
    assert_eq!(learned, live);
    assert!(learned.0 > 10, "{learned:?}");
}

/// What one who asks does with a receiver.
trait Receives: Send + Sized + 'static {
    fn use_it(self, number: usize) -> impl Future<Output = ()> + Send;
}

impl Receives for watch::Receiver<u64> {
    async fn use_it(mut self, number: usize) {
        let _ = self.has_changed();
        if number == 0 {
            self.mark_unchanged();
        }
        task::yield_now().await;
        let _ = *self.borrow_and_update();
    }
}

impl Receives for broadcast::Receiver<u64> {
    async fn use_it(mut self, _: usize) {
        let _ = self.len();
        let _ = self.try_recv();
        task::yield_now().await;
        let _ = self.recv().await;
    }
}

/// A server gives a receiver to each of two that ask, and forgets whom it has given one.
async fn serve<R: Receives>(make: impl Fn() -> R) {
    let (asks, mut asked) = mpsc::unbounded_channel::<oneshot::Sender<R>>();
    for number in 0..2 {
        let asks = asks.clone();
        task::spawn(async move {
            task::yield_now().await;
            let (answer, answered) = oneshot::channel();
            asks.send(answer).expect("the server is there");
            let receiver = answered.await.expect("it answers");
            task::yield_now().await;
            receiver.use_it(number).await;
        });
    }
    drop(asks);
    for _ in 0..2 {
        checkpoint(&());
        let answer = asked.recv().await.expect("two ask");
        assert!(answer.send(make()).is_ok(), "who asks waits");
    }
}

/// A task that sends twice, a turn before each.
fn tell(send: impl Fn(u64) + Send + 'static) {
    task::spawn(async move {
        for value in 1..3 {
            task::yield_now().await;
            send(value);
        }
    });
}

#[test]
fn receivers_of_watched_values_are_handed_out_by_one_who_forgets() {
    agree(|| async {
        let (sender, receiver) = watch::channel_with(0_u64, Payload::visible());
        tell(move |value| {
            let _ = sender.send(value);
        });
        serve(|| receiver.clone()).await;
    });
}

#[test]
fn receivers_of_broadcasts_are_handed_out_by_one_who_forgets() {
    agree(|| async {
        let (sender, receiver) = broadcast::channel_with(2, Payload::visible());
        tell(move |value| {
            let _ = sender.send(value);
        });
        serve(|| receiver.resubscribe()).await;
    });
}

/// How many futures listened before, is forgotten, and not whether there are any.
#[test]
fn a_listener_is_kept_over_a_checkpoint() {
    agree(|| async {
        let bell = Arc::new(Notify::new());
        let (go, mut gone) = mpsc::unbounded_channel_with(Payload::visible());
        let of_task = Arc::clone(&bell);
        task::spawn(async move {
            let bell = of_task;
            let kept = if flip().await {
                drop(bell.notified());
                Arc::clone(&bell).notified_owned()
            } else {
                let kept = Arc::clone(&bell).notified_owned();
                drop(bell.notified());
                kept
            };
            checkpoint(&());
            task::yield_now().await;
            let child = task::spawn(async move {
                checkpoint(&1);
                kept.await;
            });
            task::yield_now().await;
            go.send(()).expect("the body receives");
            assert!(child.await.is_ok());
        });
        task::yield_now().await;
        bell.notify_waiters();
        gone.recv().await;
        bell.notify_waiters();
    });
}

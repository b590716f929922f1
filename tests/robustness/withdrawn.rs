//! A send that was granted and never looked at: what it did is undone, and what is queued after that is as if it had not been.

use delay::{Checker, Execution, Payload, select, sync::mpsc, task};
use std::{future, mem, task::Poll};

/// Is ready the second time.
async fn second_time() {
    let mut is_asked = false;
    future::poll_fn(|_| if mem::replace(&mut is_asked, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

async fn sends_to_itself() {
    let (sender, mut receiver) = mpsc::channel_with(2, Payload::visible());
    for round in 0..2 {
        select! {
            biased;
            () = second_time() => {}
            _ = sender.send(10 + round) => {}
        }
        sender.try_send(round).expect("there is room");
        assert_eq!(receiver.try_recv(), Ok(round));
        task::yield_now().await;
    }
}

#[test]
fn a_send_that_was_withdrawn_leaves_the_queue_as_it_was() {
    let check = |execution| {
        Checker::new().execution(execution).check(|| async {
            let tasks =
                [task::spawn(sends_to_itself()), task::spawn(sends_to_itself()), task::spawn(sends_to_itself())];
            for task in tasks {
                task.await.expect("it ends");
            }
        })
    };
    let (learned, live) = (check(Execution::Learned), check(Execution::Live));
    assert!(learned.is_complete(), "{}", learned.sentences());
    let counted = |report: &delay::Report| (report.coverage.states, report.coverage.transitions);
    assert_eq!(counted(&learned), counted(&live));
}

//! Delay bounds: what waits for a larger one is not lost, and the published counts of another tool come out.

use delay::{
    Checker, Reduction, Report,
    sync::{mpsc, watch},
    task,
};
use std::sync::Arc;

fn check(max_delays: Option<u32>, body: impl Fn() + Send + Sync) -> Report {
    let checker = Checker::new().explorer("rr").reduction(Reduction::Dpor);
    max_delays.map_or(checker, |delays| checker.max_delays(delays)).check(|| async { body() })
}

/// Executions within 0, 1, .. delays, then in all.
fn within(delays: u32, body: impl Fn() + Send + Sync) -> (Vec<u64>, u64) {
    let bounded = (0..=delays).map(|delays| check(Some(delays), &body).coverage.executions).collect();
    let all = check(None, &body);
    assert!(all.is_complete(), "{}", all.sentences());
    (bounded, all.coverage.executions)
}

/// Each of some tasks makes the sends of its list, each a step of its own; nobody receives.
fn senders(lists: &[&[usize]]) {
    let (senders, receivers): (Vec<_>, Vec<_>) = lists.iter().map(|_| mpsc::unbounded_channel::<()>()).unzip();
    for list in lists {
        let (senders, list) = (senders.clone(), list.to_vec());
        task::spawn(async move {
            for to in list {
                task::yield_now().await;
                senders[to].send(()).expect("nothing is closed");
            }
            std::mem::forget(senders);
        });
    }
    std::mem::forget((senders, receivers));
}

/// Two races of one execution have to be reversed for what is one delay away. Leaving out what exceeds the bound would lose it for good.
#[test]
fn what_exceeds_the_bound_is_visited_later() {
    let (bounded, all) = within(3, || senders(&[&[1, 2], &[2], &[1, 0]]));
    assert_eq!(all, 4);
    assert_eq!(bounded[0], 1);
    assert!(bounded.is_sorted() && bounded[1] <= 3, "at most what can be reached within the bound: {bounded:?}");
    let larger_steps = Checker::new().explorer("rr").reduction(Reduction::Dpor).delta(3);
    assert_eq!(larger_steps.check(|| async { senders(&[&[1, 2], &[2], &[1, 0]]) }).coverage.executions, 4);
}

/// One writes, `readers` read, in this order; `reads` each, the first of a value of their own.
fn readers(readers: usize, writer_at: usize, reads: usize) {
    let shared = Arc::new(watch::Sender::new(0));
    for position in 0..=readers {
        let shared = Arc::clone(&shared);
        let own = watch::Sender::new(0);
        task::spawn(async move {
            if position == writer_at {
                task::yield_now().await;
                shared.send_replace(1);
            } else {
                if reads == 2 {
                    task::yield_now().await;
                    let _ = *own.borrow();
                }
                task::yield_now().await;
                let _ = *shared.borrow();
            }
        });
    }
}

/// Concuerror's `writers` and `readers`, under its delay bound.
#[test]
fn published_counts_of_bounded_searches() {
    assert_eq!(
        within(7, || senders(&[&[0], &[0], &[0], &[0], &[0], &[0]])),
        (vec![1, 6, 20, 49, 98, 169, 259, 360], 720)
    );
    assert_eq!(within(7, || readers(6, 6, 1)), (vec![1, 7, 22, 42, 57, 63, 64, 64], 64));
    assert_eq!(within(7, || readers(6, 0, 2)), (vec![1, 2, 8, 23, 43, 58, 64, 64], 64));
    let (three, all) = within(6, || readers(3, 0, 2));
    assert_eq!(([three[0], three[1], three[2], three[6]], all), ([1, 2, 5, 8], 8));
}

/// Each of some tasks makes the next value out of the one before; one looks for the last that is still 0.
fn last_zero(n: usize) {
    let values: Arc<Vec<watch::Sender<u32>>> = Arc::new((0..=n).map(|_| watch::Sender::new(0)).collect());
    let searched = Arc::clone(&values);
    task::spawn(async move {
        for value in searched.iter().rev() {
            task::yield_now().await;
            if *value.borrow() == 0 {
                break;
            }
        }
    });
    for own in 1..=n {
        let values = Arc::clone(&values);
        task::spawn(async move {
            task::yield_now().await;
            let before = *values[own - 1].borrow();
            task::yield_now().await;
            values[own].send_replace(before + 1);
        });
    }
    std::mem::forget(values);
}

/// Concuerror's `last_zero`, and what a reduction by sleep sets alone would execute in part.
#[test]
fn published_counts_of_whole_searches() {
    let report = check(None, || last_zero(5));
    assert!(report.is_complete(), "{}", report.sentences());
    assert_eq!(report.coverage.executions, 64);
}

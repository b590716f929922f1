//! A search that executes live what it was to learn says why.

use delay::{
    Cache, Checker, Execution, Faults, Mode, Payload, Report, announce, invariant,
    net::{Delivery, Network},
    node::Node,
    observe,
    storage::Cell,
    sync::{Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, watch},
    task,
    time::{Duration, Instant, sleep, sleep_until, timeout},
};
use std::{
    future::{Future, pending},
    sync::Arc,
};

const TIME: &str = "points in time (`Instant`, `sleep_until`)";

/// What a statement says of live execution.
fn reasons(report: &Report) -> String {
    report.assert_passed();
    let sentences = report.sentences();
    let lines = sentences.lines().filter_map(|line| line.strip_prefix("  executed live: "));
    lines.map(|line| line.strip_prefix("learned execution does not cover ").expect("there is one form of it")).collect()
}

/// What a search with the default settings says of a program that does this after a turn, beside others.
fn reasons_of<F: Future<Output = ()>>(act: impl Fn() -> F + Send + Sync) -> String {
    reasons(&Checker::new().check(async || {
        invariant("none", |_| Ok(()));
        for _ in 0..2 {
            task::spawn(task::yield_now());
        }
        task::yield_now().await;
        act().await;
    }))
}

#[test]
fn each_reason_has_a_name() {
    assert_eq!(reasons_of(async || {}), "");
    assert_eq!(reasons_of(async || sleep(Duration::from_secs(1)).await), "");
    assert_eq!(reasons_of(async || assert!(timeout(Duration::from_secs(1), pending::<()>()).await.is_err())), "");
    assert_eq!(reasons_of(async || sleep_until(Instant::now() + Duration::from_secs(1)).await), TIME);
    assert_eq!(reasons_of(async || assert!(Instant::now().elapsed() < Duration::MAX)), TIME);
    assert_eq!(reasons_of(async || drop(Mutex::new(0).lock().await)), "");
    assert_eq!(reasons_of(async || drop(RwLock::new(0).read().await)), "");
    assert_eq!(reasons_of(async || drop(Semaphore::new(1).acquire().await)), "");
    assert_eq!(reasons_of(async || Notify::new().notify_one()), "");
    assert_eq!(reasons_of(async || drop(watch::channel(0))), "");
    assert_eq!(reasons_of(async || drop(broadcast::channel::<u32>(1))), "");
    assert_eq!(reasons_of(async || assert_eq!(mpsc::unbounded_channel::<u32>().1.len(), 0)), "");
    assert_eq!(reasons_of(async || drop(Node::builder("node").start(async || {}))), "nodes");
    assert_eq!(reasons_of(async || Cell::with_payload("cell", Payload::visible()).write(1).await), "storage");
    assert_eq!(reasons_of(async || observe("value", 1)), "");
    assert_eq!(
        reasons_of(async || assert_eq!(mpsc::unbounded_channel::<u32>().1.sender_weak_count(), 0)),
        "counting weak handles"
    );
    let late = async || drop(Network::<u32>::with_payload(Delivery::Fifo, Payload::visible()).endpoint("late"));
    assert_eq!(reasons_of(late), "endpoints made in the middle of an execution");
}

#[test]
fn all_reasons_are_told_in_one_order() {
    let both = async || {
        invariant("none", |_| Ok(()));
        let (_sender, receiver) = mpsc::unbounded_channel::<u32>();
        sleep_until(Instant::now() + Duration::from_secs(1)).await;
        Cell::with_payload("cell", Payload::visible()).write(1).await;
        assert_eq!(receiver.sender_weak_count(), 0);
    };
    assert_eq!(reasons_of(both), format!("{TIME}, storage and counting weak handles"));
}

#[test]
fn what_is_done_before_the_first_step_is_learnt_or_not_all_the_same() {
    let report = Checker::new().check(async || {
        let (_sender, receiver) = mpsc::unbounded_channel::<u32>();
        let _endpoint = Network::<u32>::with_payload(Delivery::Fifo, Payload::visible()).endpoint("early");
        assert_eq!(receiver.len(), 0);
        announce(1);
        task::yield_now().await;
    });
    assert_eq!(reasons(&report), "");
    let faulty = Checker::new().faults(Faults::NONE.drop(1)).check(async || {
        let net = Network::<u32>::with_payload(Delivery::Fifo, Payload::visible());
        let (mut to, from) = (net.endpoint("to"), net.endpoint("from"));
        from.send(to.address(), 1).await.expect("it is there");
        task::spawn(async move { to.recv().await });
    });
    assert_eq!(reasons(&faulty), "");
}

/// Whoever drops the shared sender last ends the channel: that is no function of what it has seen.
#[test]
fn tasks_that_share_what_nobody_sees_are_said_to() {
    let report = Checker::new().check(async || {
        let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::visible());
        let sender = Arc::new(sender);
        for number in 0..3 {
            let sender = Arc::clone(&sender);
            task::spawn(async move {
                task::yield_now().await;
                sender.send(number).expect("the body receives");
                task::yield_now().await;
            });
        }
        drop(sender);
        while receiver.recv().await.is_some() {}
    });
    assert_eq!(reasons(&report), "tasks that share what delay does not see");
}

/// Each task does what the others do not, and only after a few turns: who meets which reason first is up to the threads.
async fn some_of_each() {
    for number in 0..4 {
        task::spawn(async move {
            for _ in 0..3 {
                task::yield_now().await;
            }
            match number {
                0 => sleep_until(Instant::now() + Duration::from_secs(1)).await,
                1 => Cell::with_payload("cell", Payload::visible()).write(1).await,
                2 => assert_eq!(mpsc::unbounded_channel::<u32>().1.sender_weak_count(), 0),
                _ => drop(Network::<u32>::with_payload(Delivery::Fifo, Payload::visible()).endpoint("late")),
            }
        });
    }
}

#[test]
fn the_reasons_are_the_same_for_any_number_of_threads() {
    let all = format!("{TIME}, storage, counting weak handles and endpoints made in the middle of an execution");
    for jobs in [1, 2, 4] {
        let report = Checker::new().jobs(jobs).budget(Duration::from_mins(2)).check(some_of_each);
        assert!(report.is_complete(), "{}", report.sentences());
        assert_eq!(reasons(&report), all, "{jobs} threads");
    }
}

#[test]
fn who_did_not_ask_for_it_is_not_told() {
    let timer = async || {
        task::spawn(task::yield_now());
        sleep_until(Instant::now() + Duration::from_secs(1)).await;
    };
    let checkers = [
        Checker::new().execution(Execution::Live),
        Checker::new().cache(Cache::Off),
        Checker::new().mode(Mode::Ss).samples(5),
        Checker::new().mode(Mode::Random).samples(5),
    ];
    for checker in checkers {
        assert_eq!(reasons(&checker.check(timer)), "");
    }
    assert_eq!(reasons(&Checker::new().mode(Mode::SesSs).check(timer)), TIME);
}

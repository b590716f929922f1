//! What tells identical tasks apart: then all states are visited, and the statement says why.

use crate::{Spawned, checker, visited, words};
use delay::{
    Cache, Checker, Mode, Payload, Reduction, Report, Stop, announce,
    monitor::{self, Monitor},
    net::{Delivery, Network},
    rng,
    sync::{Mutex, mpsc, oneshot},
    task, time,
};
use delay_core::{
    live::{BodyFuture, Options},
    search::{
        self, Program, Settings,
        budget::{Budget, Limits},
        saved::{Keep, Saved},
    },
};
use delay_explorers::run_to_completion::RunToCompletion;
use rand::RngExt;
use std::{
    cell::RefCell,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

/// A message that nobody looks into: it is told apart by all its sender has seen.
struct Opaque;

/// As many states as without, and a statement that says why.
fn is_told_apart<F: Future<Output = ()>>(why: &str, body: impl Fn(Spawned) -> F + Send + Sync) -> Report {
    is_told_apart_by(&checker(), why, body)
}

fn is_told_apart_by<F: Future<Output = ()>>(
    checker: &Checker,
    why: &str,
    body: impl Fn(Spawned) -> F + Send + Sync,
) -> Report {
    let identical = checker.check(|| body(Spawned::Identical));
    let each = checker.check(|| body(Spawned::Each));
    assert_eq!(visited(&identical), visited(&each), "{}", words(&identical));
    assert!(words(&identical).contains("3 identical tasks are told apart in all states"), "{}", words(&identical));
    assert!(words(&identical).contains(why), "{}", words(&identical));
    identical
}

/// Each asks the server, whose answer comes from all it has seen: from the others too.
async fn answers_mention_others(count: usize, spawned: Spawned) {
    let (server, mut requests) = mpsc::unbounded_channel::<oneshot::Sender<Opaque>>();
    let _clients = spawned.spawn(count, move || async move {
        task::yield_now().await;
        let (reply, answer) = oneshot::channel();
        let _ = server.send(reply);
        let _ = answer.await;
        task::yield_now().await;
    });
    while let Some(reply) = requests.recv().await {
        task::yield_now().await;
        let _ = reply.send(Opaque);
    }
}

#[test]
fn a_task_that_has_seen_another() {
    is_told_apart("comes from another of them", |spawned| answers_mention_others(3, spawned));
}

/// Of two the other one is always the same.
#[test]
fn of_two_each_may_have_seen_the_other() {
    let report = checker().check(|| answers_mention_others(2, Spawned::Identical));
    assert!(words(&report).contains("up to which of 2 identical tasks is which"), "{}", words(&report));
    let each = visited(&checker().check(|| answers_mention_others(2, Spawned::Each)));
    assert!(visited(&report).0 < each.0);
}

/// What the server says comes from all it has heard, and may be received in any order.
#[test]
fn messages_without_an_order_that_come_from_two() {
    is_told_apart("comes from two of them", |spawned| async move {
        let (server, mut heard) = mpsc::unbounded_channel::<Opaque>();
        let _tasks = spawned.spawn(3, move || async move {
            task::yield_now().await;
            let _ = server.send(Opaque);
        });
        let net = Network::new(Delivery::Unordered);
        let (out, mut all) = (net.endpoint("out"), net.endpoint("all"));
        while heard.recv().await.is_some() {
            let _ = out.send(all.address(), Opaque).await;
        }
        for _ in 0..3 {
            all.recv().await;
        }
    });
}

#[test]
fn an_id_that_is_asked_for() {
    is_told_apart("asks for the id", |spawned| async move {
        let mut tasks = spawned.spawn(3, || async {
            task::yield_now().await;
            task::id()
        });
        while tasks.join_next().await.is_some() {}
    });
    is_told_apart("asks for the id", |spawned| async move {
        let mut tasks = spawned.spawn(3, task::yield_now);
        while tasks.join_next_with_id().await.is_some() {}
    });
}

#[test]
fn joins_in_the_order_of_spawning() {
    is_told_apart("in the order in which they were spawned", |spawned| async move {
        let mut tasks = spawned.spawn(3, task::yield_now);
        task::yield_now().await;
        tasks.try_join_next();
    });
}

#[test]
fn random_numbers() {
    is_told_apart("draws random numbers", |spawned| async move {
        spawned
            .spawn(3, || async {
                task::yield_now().await;
                let _: u32 = rng().random();
            })
            .join_all()
            .await;
    });
}

#[test]
fn what_is_followed_by_names_only() {
    is_told_apart("locks, notifications, timers", |spawned| async move {
        let lock = Arc::new(Mutex::new(0));
        spawned.spawn(3, move || async move { *lock.lock().await += 1 }).join_all().await;
    });
    is_told_apart("locks, notifications, timers", |spawned| async move {
        spawned.spawn(3, || time::sleep(Duration::from_secs(1))).join_all().await;
    });
}

#[derive(Hash)]
struct Waits(u32);

#[derive(Clone, Debug)]
enum Call {
    Asked,
    Answered,
}

impl Monitor for Waits {
    type Event = Call;

    fn on(&mut self, call: &Call) -> Result<(), String> {
        match call {
            Call::Asked => self.0 += 1,
            Call::Answered => self.0 -= 1,
        }
        Ok(())
    }

    fn is_hot(&self) -> bool {
        self.0 > 0
    }
}

#[test]
fn loops_that_are_looked_for() {
    is_told_apart("a monitor can be hot", |spawned| async move {
        monitor::register(Waits(0));
        spawned
            .spawn(3, || async {
                task::yield_now().await;
                announce(Call::Asked);
                task::yield_now().await;
                announce(Call::Answered);
            })
            .join_all()
            .await;
    });
}

/// A number in what the closure shares is not seen; what is done with it is.
#[test]
fn a_closure_that_counts_its_calls() {
    let body = |spawned: Spawned, wrong: u32| async move {
        let calls = Arc::new(AtomicU32::new(0));
        let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::visible());
        let tasks = spawned.spawn(3, move || async move {
            let number = calls.fetch_add(1, Ordering::Relaxed);
            task::yield_now().await;
            if number == 1 {
                task::yield_now().await;
            }
            let _ = sender.send(number);
        });
        let _ = tasks.len();
        let mut all = Vec::new();
        while let Some(number) = receiver.recv().await {
            all.push(number);
        }
        assert!(all != [1, 0, 2] || wrong != 1, "the second came first");
    };
    is_told_apart("that had seen the same", |spawned| body(spawned, 0));
    assert!(checker().check(|| body(Spawned::Identical, 1)).is_failure());
}

/// One of them goes on otherwise when it has its second turn: until then it looks like the others.
#[test]
fn a_closure_that_counts_its_calls_and_shows_it_late() {
    is_told_apart("went on otherwise", |spawned| async move {
        let calls = Arc::new(AtomicU32::new(0));
        let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::visible());
        let _tasks = spawned.spawn(3, move || async move {
            let number = calls.fetch_add(1, Ordering::Relaxed);
            task::yield_now().await;
            task::yield_now().await;
            for _ in 0..=number {
                let _ = sender.send(7);
            }
        });
        while receiver.recv().await.is_some() {}
    });
}

/// Searches that need to see how a state was reached, or of which a part would not notice what another does.
#[test]
fn searches_that_tell_them_apart() {
    let said = |checker: Checker| {
        let report = checker.check(|| answers_mention_others(2, Spawned::Identical));
        assert!(!report.is_failure(), "{:?}", report.stop);
        words(&report)
    };
    for (checker, why) in [
        (checker().cache(Cache::StateExplorer), "(cache)"),
        (checker().cache(Cache::Off), "(cache)"),
        (checker().shard(1, 2), "divided into shards"),
        (checker().mode(Mode::SesSs).max_delays(1), "(mode)"),
        (checker().mode(Mode::Ss), "looks at executions"),
        (checker().reduction(Reduction::Dpor), "looks at executions"),
    ] {
        let said = said(checker);
        assert!(said.contains("2 identical tasks are told apart in all states") && said.contains(why), "{said}");
    }
}

/// What was noticed of them is not saved.
#[test]
fn a_search_that_is_saved() {
    static BODY: fn() -> BodyFuture<'static> = || {
        Box::pin(async {
            answers_mention_others(2, Spawned::Identical).await;
            Ok(())
        })
    };
    let program = Program { body: &BODY, options: Options::default() };
    let interrupted = AtomicBool::new(false);
    let search = |states, keep: &Keep<'_>| {
        let limits = Limits { states, ..Limits::default() };
        let budget = Budget::start(limits, &interrupted, &|_, _| {});
        search::search(program, &RunToCompletion::default(), &Settings::default(), &budget, keep)
    };
    let saved = RefCell::new(None);
    let save = |now: &Saved| *saved.borrow_mut() = Some(now.clone());
    let stopped = search(Some(9), &Keep::by(&save, Duration::MAX, None));
    assert_eq!(stopped.stop, Stop::States);
    let from = saved.take();
    let ended = search(None, &Keep::by(&save, Duration::MAX, from));
    let each = visited(&checker().check(|| answers_mention_others(2, Spawned::Each)));
    assert_eq!((ended.coverage.states, ended.coverage.transitions), each);
    assert!(ended.coverage.sentences(&ended.stop).contains("(checkpoint)"));
    // Without that they are exchanged.
    assert!(search(None, &Keep::nowhere()).coverage.states < each.0);
}

/// Whoever of them sees it.
#[test]
fn what_one_of_several_threads_has_seen() {
    for jobs in [2, 4] {
        is_told_apart_by(&checker().jobs(jobs), "comes from another of them", |spawned| {
            answers_mention_others(3, spawned)
        });
    }
}

/// Outside a test they are tasks of a set.
#[tokio::test]
async fn on_tokio_they_are_tasks_of_a_set() {
    let calls = Arc::new(AtomicU32::new(0));
    let tasks = task::spawn_identical(3, move || async move { calls.fetch_add(1, Ordering::Relaxed) });
    let mut numbers = tasks.join_all().await;
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 1, 2]);
}

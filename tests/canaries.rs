//! Programs and explorers that break the rules: each must be caught, and none may hang or pass for checked.

use delay::{
    Cache, Checker, Granularity, Mode, Payload, Report, checkpoint,
    explorer::{Event, Explorer, Process, check_soundness},
    sync::mpsc,
    task, time,
};
use delay_core::search::Stop;
use std::{
    cell::Cell,
    collections::HashSet,
    rc::Rc,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Round robin that forgets to turn at a delay.
#[derive(Clone, Hash, Default)]
struct NeverTurns(Vec<Process>);

impl Explorer for NeverTurns {
    fn step(&mut self, event: Event) {
        match event {
            Event::Enabled { process, .. } => self.0.push(process),
            Event::Blocked(process) => self.0.retain(|other| *other != process),
            _ => {}
        }
    }

    fn next(&self) -> Process {
        self.0[0]
    }

    fn delay(&mut self) {}
}

/// Turns between the first two only.
#[derive(Clone, Hash, Default)]
struct ForgetsTheThird(Vec<Process>);

impl Explorer for ForgetsTheThird {
    fn step(&mut self, event: Event) {
        match event {
            Event::Enabled { process, .. } => self.0.push(process),
            Event::Blocked(process) => self.0.retain(|other| *other != process),
            _ => {}
        }
    }

    fn next(&self) -> Process {
        self.0[0]
    }

    fn delay(&mut self) {
        if self.0.len() > 1 {
            self.0.swap(0, 1);
        }
    }
}

/// Names a process whether or not it can run.
#[derive(Clone, Hash, Default)]
struct AlwaysTheBody;

impl Explorer for AlwaysTheBody {
    fn step(&mut self, _: Event) {}

    fn next(&self) -> Process {
        Process::BODY
    }

    fn delay(&mut self) {}
}

async fn three_tasks() {
    for _ in 0..3 {
        task::spawn(async { task::yield_now().await });
    }
}

/// The conformance test refuses the explorer, and so does a search that is given it all the same.
#[track_caller]
fn is_caught<E: Explorer + Default>() {
    let unsound = check_soundness(E::default).expect_err("it is not sound");
    assert!(unsound.to_string().contains("the explorer is not sound"), "{unsound}");
    for cache in [Cache::State, Cache::StateExplorer, Cache::Off] {
        let report = Checker::new().cache(cache).check_with(|_| E::default(), three_tasks);
        assert!(matches!(report.stop, Stop::Unsound(_)), "{cache:?}: {:?}", report.stop);
        assert!(!report.is_complete() && !report.sentences().contains("every"), "{}", report.sentences());
    }
}

#[test]
fn an_explorer_that_does_not_turn_is_caught() {
    is_caught::<NeverTurns>();
}

#[test]
fn an_explorer_that_forgets_a_process_is_caught() {
    is_caught::<ForgetsTheThird>();
}

#[test]
fn an_explorer_that_names_who_cannot_run_is_caught() {
    is_caught::<AlwaysTheBody>();
    for mode in [Mode::Ss, Mode::Random] {
        let report = Checker::new().mode(mode).samples(100).max_delays(2).check_with(|_| AlwaysTheBody, three_tasks);
        assert!(matches!(report.stop, Stop::Unsound(_)), "{mode:?}: {:?}", report.stop);
    }
}

fn checker(mode: Mode) -> Checker {
    let checker = Checker::new().mode(mode).granularity(Granularity::Op);
    if mode == Mode::Ses { checker } else { checker.samples(200).max_delays(3) }
}

/// Sent round by two tasks, so that there is something to choose and to execute again.
async fn tell(values: Vec<u64>) {
    let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::visible());
    for _ in 0..2 {
        let (sender, values) = (sender.clone(), values.clone());
        task::spawn(async move {
            for value in values {
                task::yield_now().await;
                sender.send(value).expect("the body receives");
            }
        });
    }
    drop(sender);
    while receiver.recv().await.is_some() {}
}

/// What differs from one execution to the next is said, whatever the mode, and nothing is claimed.
#[track_caller]
fn is_uncontrolled(mode: Mode, report: &Report) {
    let Stop::Nondeterministic(divergence) = &report.stop else {
        panic!("{mode:?}: {:?}: {}", report.stop, report.sentences())
    };
    assert!(!divergence.process.is_empty() && divergence.expected != divergence.seen, "{mode:?}: {divergence}");
    assert!(!report.is_complete() && !report.sentences().contains("every"), "{mode:?}: {}", report.sentences());
}

#[test]
fn the_order_of_a_std_hash_set_is_caught() {
    for mode in Mode::ALL {
        let report = checker(mode).check(|| async {
            let values: HashSet<u64> = (0..12).collect();
            tell(values.into_iter().take(3).collect()).await;
        });
        is_uncontrolled(mode, &report);
    }
}

#[test]
fn a_counter_shared_by_executions_is_caught() {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    for mode in Mode::ALL {
        let report = checker(mode).check(|| async {
            let first = COUNTER.fetch_add(1, Ordering::Relaxed);
            tell(vec![first]).await;
        });
        is_uncontrolled(mode, &report);
    }
}

#[test]
fn a_count_that_changes_what_is_done_is_caught() {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    for mode in Mode::ALL {
        let report = checker(mode).check(|| async {
            let more = COUNTER.fetch_add(1, Ordering::Relaxed) % 3;
            tell(vec![0; 1 + more as usize]).await;
        });
        is_uncontrolled(mode, &report);
    }
}

#[test]
fn the_real_clock_is_caught() {
    let start = Instant::now();
    for mode in Mode::ALL {
        let report = checker(mode).check(|| async {
            tell(vec![start.elapsed().as_nanos() as u64]).await;
        });
        is_uncontrolled(mode, &report);
    }
}

/// What is set up once, in the first execution, is no difference: that execution only warms up.
#[test]
fn lazy_initialisation_is_not_reported() {
    for mode in Mode::ALL {
        let table = OnceLock::new();
        let report = checker(mode).check(|| async {
            if table.get().is_none() {
                // Only the first execution comes here, and makes more steps than any other.
                tell(vec![1, 2]).await;
                let _ = table.set(());
            }
            tell(vec![3]).await;
        });
        assert!(
            !report.is_failure() && !matches!(report.stop, Stop::Nondeterministic(_)),
            "{mode:?}: {:?}",
            report.stop
        );
        if mode == Mode::Ses {
            assert!(report.is_complete(), "{}", report.sentences());
        }
    }
}

/// Two tasks share memory behind the library's back; what one read shows only later.
async fn shares_an_arc() {
    let shared = Arc::new(Mutex::new(0));
    let (writer, reader) = (Arc::clone(&shared), shared);
    task::spawn_named("writer", async move {
        task::yield_now().await;
        *writer.lock().expect("nobody panics with it") = 1;
    });
    task::spawn_named("reader", async move {
        task::yield_now().await;
        let read = *reader.lock().expect("nobody panics with it");
        task::yield_now().await;
        assert_eq!(read, 0, "read what was written");
    });
}

/// The same, and what was read only makes the reader take another step.
async fn shares_an_rc() {
    let shared = Rc::new(Cell::new(0));
    let (writer, reader) = (Rc::clone(&shared), shared);
    task::spawn_local(async move {
        task::yield_now().await;
        writer.set(1);
    });
    task::spawn_local(async move {
        task::yield_now().await;
        let read = reader.get();
        task::yield_now().await;
        for _ in 0..read {
            task::yield_now().await;
        }
    });
}

/// A promise that leaves out who came first, which matters in the end.
async fn forgets_who_was_first() {
    let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::visible());
    for name in ["one", "two", "last"] {
        let sender = sender.clone();
        task::spawn(async move {
            task::yield_now().await;
            let _ = sender.send(name);
        });
    }
    drop(sender);
    let (mut seen, mut first) = (0, "");
    while let Some(name) = receiver.recv().await {
        if seen == 0 {
            first = name;
        }
        seen += 1;
        assert!(name != "last" || seen < 3 || first == "one", "two was first");
        checkpoint(&seen);
    }
}

/// A loop that leaves out of its checkpoint how often it went round.
async fn forgets_how_often() {
    let (ping, mut pings) = mpsc::unbounded_channel_with(Payload::visible());
    let (pong, mut pongs) = mpsc::unbounded_channel_with(Payload::visible());
    task::spawn(async move {
        while let Some(()) = pings.recv().await {
            checkpoint(&());
            let _ = pong.send(());
        }
    });
    for round in 0.. {
        checkpoint(&());
        let _ = ping.send(());
        pongs.recv().await;
        assert!(round < 20, "went round too often");
    }
}

/// Either a bug is shown, or it is said that the program cannot be explored so.
#[track_caller]
fn is_never_claimed(run: impl Fn(Checker) -> Report) {
    for (explorer, cache) in [("rtc", Cache::State), ("rr", Cache::State), ("rtc", Cache::StateExplorer)] {
        let report = run(Checker::new().explorer(explorer).cache(cache));
        let is_said = report.is_failure() || matches!(report.stop, Stop::Nondeterministic(_));
        assert!(is_said && !report.is_complete(), "{explorer}, {cache:?}: {}", report.sentences());
    }
}

#[test]
fn shared_memory_never_passes_for_every_reachable_state() {
    is_never_claimed(|checker| checker.check(shares_an_arc));
    is_never_claimed(|checker| checker.check(shares_an_rc));
}

#[test]
fn a_checkpoint_that_forgets_never_passes_for_every_reachable_state() {
    is_never_claimed(|checker| checker.check(forgets_who_was_first));
    is_never_claimed(|checker| checker.check(forgets_how_often));
}

/// The random order in which `tokio::select!` polls its branches changes nothing.
#[test]
fn a_tokio_select_is_no_nondeterminism() {
    for mode in Mode::ALL {
        let report = checker(mode).check(|| async {
            let (sender, mut receiver) = mpsc::channel_with(1, Payload::visible());
            let (other, mut others) = mpsc::unbounded_channel_with(Payload::visible());
            task::spawn(async move {
                let _ = sender.send(1).await;
                let _ = other.send(2);
            });
            for _ in 0..2 {
                tokio::select! {
                    _ = receiver.recv() => {}
                    () = time::sleep(Duration::from_secs(1)) => {}
                    _ = others.recv() => {}
                    () = task::yield_now() => {}
                }
            }
        });
        let is_said = matches!(report.stop, Stop::Nondeterministic(_) | Stop::Found(_));
        assert!(!is_said, "{mode:?}: {:?}", report.stop);
    }
}

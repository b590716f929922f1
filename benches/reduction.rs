//! Throughput of partial-order reduction: complete executions per second, each of another class, until all are executed.
//!
//! The programs are those of the performance notes: two-phase commit, with and without votes that are chosen, and a fan-in.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use delay::{Checker, Reduction, Report, flip, sync::mpsc, task};
use std::time::Duration;

/// A coordinator asks `n` participants, and tells them what came of it.
async fn two_phase(n: usize, votes: bool) {
    let (answers, mut inbox) = mpsc::unbounded_channel();
    let participants: Vec<_> = (0..n)
        .map(|me| {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            let answers = answers.clone();
            task::spawn(async move {
                receiver.recv().await;
                let vote = if votes { flip().await } else { true };
                let _ = answers.send((me, vote));
                receiver.recv().await;
            });
            sender
        })
        .collect();
    for participant in &participants {
        task::yield_now().await;
        let _ = participant.send(true);
    }
    let mut commits = true;
    for _ in 0..n {
        commits &= inbox.recv().await.is_some_and(|(_, vote)| vote);
    }
    for participant in &participants {
        task::yield_now().await;
        let _ = participant.send(commits);
    }
}

/// `n` senders of `k` messages each.
async fn fan_in(n: usize, k: usize) {
    let (sender, mut receiver) = mpsc::channel(1_000);
    for producer in 0..n {
        let sender = sender.clone();
        task::spawn(async move {
            for message in 0..k {
                let _ = sender.send((producer, message)).await;
            }
        });
    }
    for _ in 0..n * k {
        receiver.recv().await;
    }
}

fn exhaust<F: Future<Output = ()>>(body: impl Fn() -> F + Send + Sync) -> Report {
    let report = Checker::new().reduction(Reduction::Dpor).budget(Duration::from_mins(10)).check(body);
    assert!(report.is_complete(), "{}", report.sentences());
    report
}

type Exhaust = fn() -> Report;

fn reduction(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reduction");
    let programs: [(&str, u64, Exhaust); 5] = [
        ("two-phase commit, 3", 6, || exhaust(|| two_phase(3, false))),
        ("two-phase commit, 6", 720, || exhaust(|| two_phase(6, false))),
        ("two-phase commit with votes, 6", 46_080, || exhaust(|| two_phase(6, true))),
        ("fan-in 3x3", 1_680, || exhaust(|| fan_in(3, 3))),
        ("fan-in 4x3", 369_600, || exhaust(|| fan_in(4, 3))),
    ];
    for (name, executions, run) in programs {
        assert_eq!(run().coverage.executions, executions, "{name}");
        group.throughput(Throughput::Elements(executions));
        group.bench_function(BenchmarkId::new("all", name), |bencher| bencher.iter(run));
    }
    group.finish();
}

criterion_group!(benches, reduction);
criterion_main!(benches);

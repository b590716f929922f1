//! Throughput of live execution: complete executions and steps per second, sampled with recording of decisions on.
//!
//! A step is one granted op. The programs are those of the performance notes: a fan-in of 4 producers with 25 messages
//! each, a ring of 8 tasks with 100 laps, and two-phase commit of a client, a coordinator and 3 participants. Each is sampled at
//! random and as the mode `ss` does it; how it compares with other testers is for `benches/peers`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use delay::{Checker, Mode, Report, sync::mpsc, task};

async fn fan_in() {
    let (sender, mut receiver) = mpsc::channel(1_000);
    for producer in 0..4_u64 {
        let sender = sender.clone();
        task::spawn(async move {
            for k in 0..25 {
                let _ = sender.send(producer * 100 + k).await;
            }
        });
    }
    drop(sender);
    let mut sum = 0;
    while let Some(value) = receiver.recv().await {
        sum += value;
    }
    assert_eq!(sum, 16_200);
}

async fn ring() {
    const TASKS: usize = 8;
    const LAPS: u32 = 100;
    let (senders, mut receivers): (Vec<_>, Vec<_>) = (0..TASKS).map(|_| mpsc::channel::<u32>(4)).unzip();
    let mut last = receivers.pop();
    for (task, mut receiver) in receivers.into_iter().enumerate() {
        let next = senders[task + 1].clone();
        task::spawn(async move {
            while let Some(lap) = receiver.recv().await {
                let _ = next.send(lap).await;
            }
        });
    }
    let first = senders[0].clone();
    drop(senders);
    if let Some(receiver) = &mut last {
        for lap in 0..LAPS {
            let _ = first.send(lap).await;
            assert_eq!(receiver.recv().await, Some(lap));
        }
    }
}

async fn two_phase_commit() {
    const PARTICIPANTS: usize = 3;
    let (to_coordinator, mut votes) = mpsc::channel(8);
    let (to_client, mut outcome) = mpsc::channel(1);
    let mut orders = Vec::new();
    for _ in 0..PARTICIPANTS {
        let (order, mut ordered) = mpsc::channel::<bool>(2);
        orders.push(order);
        let vote = to_coordinator.clone();
        task::spawn(async move {
            let _prepare = ordered.recv().await;
            let _ = vote.send(true).await;
            assert_eq!(ordered.recv().await, Some(true));
        });
    }
    task::spawn(async move {
        let _begin = votes.recv().await;
        for order in &orders {
            let _ = order.send(true).await;
        }
        let mut commits = true;
        for _ in &orders {
            commits &= votes.recv().await == Some(true);
        }
        for order in &orders {
            let _ = order.send(commits).await;
        }
        let _ = to_client.send(commits).await;
    });
    let _ = to_coordinator.send(true).await;
    assert_eq!(outcome.recv().await, Some(true));
}

fn sample<F: Future<Output = ()>>(mode: Mode, samples: u64, body: impl Fn() -> F + Send + Sync) -> Report {
    let report = Checker::new().mode(mode).max_delays(2).samples(samples).check(body);
    report.assert_passed();
    report
}

type Sampler = fn(Mode, u64) -> Report;

fn live(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("live");
    let steps = |report: &Report| report.coverage.totals.steps;
    let programs: [(&str, Sampler); 3] = [
        ("fan-in 4x25", |mode, samples| sample(mode, samples, fan_in)),
        ("ring 8x100", |mode, samples| sample(mode, samples, ring)),
        ("two-phase commit", |mode, samples| sample(mode, samples, two_phase_commit)),
    ];
    for (name, run) in programs {
        for (word, mode, samples) in [("random", Mode::Random, 2_000), ("ss", Mode::Ss, 400)] {
            group.throughput(Throughput::Elements(steps(&run(mode, samples))));
            group.bench_function(BenchmarkId::new(word, name), |bencher| bencher.iter(|| run(mode, samples)));
        }
    }
    group.finish();
}

criterion_group!(benches, live);
criterion_main!(benches);

//! Speed of exhaustive search: states per second of two-phase commit over channels, where each participant votes as it likes.
//!
//! Each op is a step of its own. How many states and transitions there are is printed first; the program is the one that
//! `benches/peers` has, beside Spin.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use delay::{Checker, Execution, Granularity, Report};
use std::time::Duration;

#[path = "peers/src/programs/voting.rs"]
mod voting;

fn search(execution: Execution, participants: usize) -> Report {
    let checker = Checker::new().granularity(Granularity::Op).execution(execution).budget(Duration::from_mins(10));
    let report = checker.check(move || voting::voting(participants));
    assert!(report.is_complete(), "{}", report.sentences());
    report
}

fn states(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("states");
    // An iteration takes a second.
    group.sample_size(10);
    for (name, execution) in [("learned", Execution::Learned), ("live", Execution::Live)] {
        for participants in [4, 5] {
            let coverage = search(execution, participants).coverage;
            println!(
                "{name}, {participants} participants: {} states, {} transitions, {} live executions",
                coverage.states, coverage.transitions, coverage.totals.executions
            );
            group.throughput(Throughput::Elements(coverage.states));
            group.bench_function(BenchmarkId::new(name, participants), |bencher| {
                bencher.iter(|| search(execution, participants));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, states);
criterion_main!(benches);

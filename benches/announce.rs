//! What an announcement costs in production: while nobody listens, watched, and recorded.
//!
//! Nothing here runs a controlled execution: in a process that has, somebody may listen.

use criterion::{Criterion, criterion_group, criterion_main};
use delay::{
    announce,
    monitor::{self, Monitor, OnViolation, Watch},
    record::{self, Vocabulary},
};
use serde::{Deserialize, Serialize};
use std::hint::black_box;

#[derive(Serialize, Deserialize, Debug)]
struct Counted(u64);

#[derive(Hash, Default)]
struct Sum(u64);

impl Monitor for Sum {
    type Event = Counted;

    fn on(&mut self, Counted(n): &Counted) -> Result<(), String> {
        self.0 = self.0.wrapping_add(*n);
        Ok(())
    }
}

fn announcing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("announce");
    group.bench_function("nobody listens", |bencher| bencher.iter(|| announce(Counted(black_box(7)))));
    let watch = Watch::new(OnViolation::Log).install(|| monitor::register(Sum::default()));
    group.bench_function("watched", |bencher| bencher.iter(|| announce(Counted(black_box(7)))));
    drop(watch);
    let directory = tempfile::tempdir().expect("a directory");
    let words = Vocabulary::new().event::<Counted>("counted");
    let recording = record::start(directory.path().join("a.jsonl"), "a", words).expect("it can be written");
    group.bench_function("recorded", |bencher| bencher.iter(|| announce(Counted(black_box(7)))));
    let recorded = recording.finish().expect("it was written");
    println!("recorded {} lines, lost {}", recorded.lines, recorded.lost);
    group.finish();
}

criterion_group!(benches, announcing);
criterion_main!(benches);

//! The state cache: nanoseconds per insertion and per hit, beside std's `HashSet` and beside what one load from memory takes.
//!
//! Each measurement fills a table from nothing, so that its growth is in the figure, or looks for each key of a full one once, in another
//! order. std's set has a hasher that does nothing, as the keys are fingerprints. `CACHE_KEYS=50000000` adds a size.

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use delay_core::search::cache::{
    Inserted,
    table::{Memory, Table},
};
use std::{
    collections::HashSet,
    hash::{BuildHasherDefault, Hasher},
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

/// A fingerprint is its own hash.
#[derive(Default)]
struct Itself(u64);

impl Hasher for Itself {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, i: u64) {
        self.0 = i;
    }
}

type Set = HashSet<u64, BuildHasherDefault<Itself>>;

/// The n-th key: the finaliser of SplitMix64.
fn key(n: u64) -> u64 {
    let z = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The numbers below `n`, each once, far from one another.
fn scattered(n: u64) -> impl Iterator<Item = u64> {
    // Prime, and not a divisor of any size here.
    (0..n).map(move |k| k * 7_368_787 % n)
}

fn table<const WORDS: usize>() -> Table<WORDS, WORDS> {
    Table::new(&Arc::new(Memory::new(u64::MAX)))
}

fn insert<const WORDS: usize>(table: &Table<WORDS, WORDS>, keys: impl Iterator<Item = u64>) -> u64 {
    let mut access = table.access();
    let mut new = 0;
    for k in keys {
        // As a search asks before each step.
        assert!(access.has_room());
        new += u64::from(access.insert([key(k); WORDS]) == Inserted::New);
    }
    new
}

/// Time of the measured part of as many rounds.
fn rounds(times: u64, mut round: impl FnMut() -> Duration) -> Duration {
    (0..times).map(|_| round()).sum()
}

fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let started = Instant::now();
    let result = run();
    (started.elapsed(), result)
}

fn ours<const WORDS: usize>(n: u64) -> Duration {
    let table = table::<WORDS>();
    let (took, new) = timed(|| insert(&table, 0..n));
    assert_eq!(new, n);
    took
}

/// Each of the threads inserts its own part of the keys.
fn ours_in_threads(threads: u64, n: u64) -> Duration {
    let table = table::<1>();
    let (took, new) = timed(|| {
        std::thread::scope(|scope| {
            let part = |thread| n * thread / threads..n * (thread + 1) / threads;
            let table = &table;
            let workers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || insert(table, part(thread)))).collect();
            workers.into_iter().map(|worker| worker.join().expect("it does not panic")).sum::<u64>()
        })
    });
    assert_eq!(new, n);
    took
}

fn std_set(n: u64) -> Duration {
    let mut set = Set::default();
    let (took, new) = timed(|| (0..n).filter(|k| set.insert(key(*k))).count());
    assert_eq!(new as u64, n);
    took
}

/// Loads that each wait for the one before, all over as many bytes as the keys take at 12 each, or a little more.
fn chase(n: u64) -> (Vec<u64>, u64) {
    // A ring through one word of each cache line.
    let lines = (n * 12 / 64).next_power_of_two();
    let mut ring = vec![0; lines as usize * 8];
    let mut at = 0_u64;
    for _ in 0..lines {
        // A linear congruence whose period is all lines.
        let next = (at / 8).wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F) % lines * 8;
        ring[at as usize] = next;
        at = next;
    }
    (ring, lines)
}

/// Fills a table with so many keys. How long that took.
type Filling = fn(u64) -> Duration;

fn sizes() -> Vec<u64> {
    let more = std::env::var("CACHE_KEYS").ok().and_then(|keys| keys.parse().ok());
    [10_000, 100_000, 1_000_000, 10_000_000].into_iter().chain(more).collect()
}

fn inserts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("insert");
    group.sampling_mode(SamplingMode::Flat).sample_size(10).warm_up_time(Duration::from_millis(500));
    for n in sizes() {
        group.throughput(Throughput::Elements(n));
        let one: [(&str, Filling); 3] = [("64 bits", ours::<1>), ("128 bits", ours::<2>), ("std", std_set)];
        for (name, run) in one {
            group.bench_function(BenchmarkId::new(name, n), |b| b.iter_custom(|times| rounds(times, || run(n))));
        }
        group.bench_function(BenchmarkId::new("64 bits, 2 threads", n), |b| {
            b.iter_custom(|times| rounds(times, || ours_in_threads(2, n)));
        });
    }
    group.finish();
}

fn hits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hit");
    group.sampling_mode(SamplingMode::Flat).sample_size(10).warm_up_time(Duration::from_millis(500));
    for n in sizes() {
        group.throughput(Throughput::Elements(n));
        let (short, wide) = (table::<1>(), table::<2>());
        insert(&short, 0..n);
        insert(&wide, 0..n);
        let set: Set = (0..n).map(key).collect();
        println!("{n} keys: {:.2} bytes each", short.access().bytes() as f64 / n as f64);
        group
            .bench_function(BenchmarkId::new("64 bits", n), |b| b.iter(|| assert_eq!(insert(&short, scattered(n)), 0)));
        group
            .bench_function(BenchmarkId::new("128 bits", n), |b| b.iter(|| assert_eq!(insert(&wide, scattered(n)), 0)));
        group.bench_function(BenchmarkId::new("std", n), |b| {
            b.iter(|| assert!(scattered(n).all(|k| set.contains(&key(k)))));
        });
        group.bench_function(BenchmarkId::new("64 bits, 2 threads", n), |b| {
            b.iter(|| {
                std::thread::scope(|scope| {
                    for half in 0..2 {
                        let short = &short;
                        scope.spawn(move || assert_eq!(insert(short, scattered(n).skip(half).step_by(2)), 0));
                    }
                });
            });
        });
        let (ring, lines) = chase(n);
        group.throughput(Throughput::Elements(lines));
        group.bench_function(BenchmarkId::new("one load after the other", n), |b| {
            b.iter(|| black_box((0..lines).fold(0, |at, _| ring[at as usize])));
        });
    }
    group.finish();
}

criterion_group!(benches, inserts, hits);
criterion_main!(benches);

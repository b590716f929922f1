//! The state cache: nanoseconds per insertion and per hit, beside std's `HashSet` and beside what one load from memory takes.
//!
//! Each measurement fills a table from nothing, so that its growth is in the figure, or looks for each key of a full one once, in another
//! order; which key is next depends on the answer, as in a search. std's set has a hasher that does nothing, as the keys are fingerprints. `CACHE_KEYS=50000000` adds a size.

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use delay_core::search::cache::{
    Inserted,
    table::{Memory, Table},
};
use std::{
    collections::HashSet,
    hash::{BuildHasherDefault, Hasher},
    hint::black_box,
    ops::Range,
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

/// The k-th of the numbers below `n`, in an order in which each comes once and far from the one before.
fn scattered(k: u64, n: u64) -> u64 {
    // Prime, and not a divisor of any size here.
    k * 7_368_787 % n
}

fn table<const WORDS: usize>() -> Table<WORDS, WORDS> {
    Table::new(&Arc::new(Memory::new(u64::MAX)))
}

/// Inserts keys that are new, from this one on.
fn insert<const WORDS: usize>(table: &Table<WORDS, WORDS>, keys: Range<u64>) {
    let mut access = table.access();
    let mut next = keys.start;
    for _ in keys.clone() {
        // As a search asks before each step.
        assert!(access.has_room());
        next += u64::from(access.insert([key(next); WORDS]) == Inserted::New);
    }
    assert_eq!(next, keys.end);
}

/// Asks for keys that are there: those with these numbers in the scattered order of all `n`.
fn find<const WORDS: usize>(table: &Table<WORDS, WORDS>, keys: Range<u64>, n: u64) {
    let mut access = table.access();
    let mut next = keys.start;
    for _ in keys.clone() {
        assert!(access.has_room());
        next += u64::from(access.insert([key(scattered(next, n)); WORDS]) == Inserted::Known);
    }
    assert_eq!(next, keys.end);
}

/// Time of the measured part of as many rounds.
fn rounds(times: u64, mut round: impl FnMut() -> Duration) -> Duration {
    (0..times).map(|_| round()).sum()
}

fn timed(run: impl FnOnce()) -> Duration {
    let started = Instant::now();
    run();
    started.elapsed()
}

fn ours<const WORDS: usize>(n: u64) -> Duration {
    let table = table::<WORDS>();
    timed(|| insert(&table, 0..n))
}

/// Each of two threads has half of the keys.
fn halves(n: u64, half: impl Fn(Range<u64>) + Sync) {
    std::thread::scope(|scope| {
        for keys in [0..n / 2, n / 2..n] {
            let half = &half;
            scope.spawn(move || half(keys));
        }
    });
}

fn ours_in_threads(n: u64) -> Duration {
    let table = table::<1>();
    timed(|| halves(n, |keys| insert(&table, keys)))
}

fn std_set(n: u64) -> Duration {
    let mut set = Set::default();
    timed(|| {
        let next = (0..n).fold(0, |next, _| next + u64::from(set.insert(key(next))));
        assert_eq!(next, n);
    })
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
        let fillings: [(&str, Filling); 4] = [
            ("64 bits", ours::<1>),
            ("128 bits", ours::<2>),
            ("std", std_set),
            ("64 bits, 2 threads", ours_in_threads),
        ];
        for (name, run) in fillings {
            group.bench_function(BenchmarkId::new(name, n), |b| b.iter_custom(|times| rounds(times, || run(n))));
        }
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
        group.bench_function(BenchmarkId::new("64 bits", n), |b| b.iter(|| find(&short, 0..n, n)));
        group.bench_function(BenchmarkId::new("128 bits", n), |b| b.iter(|| find(&wide, 0..n, n)));
        group.bench_function(BenchmarkId::new("std", n), |b| {
            b.iter(|| {
                let found = (0..n).fold(0, |next, _| next + u64::from(set.contains(&key(scattered(next, n)))));
                assert_eq!(found, n);
            });
        });
        group.bench_function(BenchmarkId::new("64 bits, 2 threads", n), |b| {
            b.iter(|| halves(n, |keys| find(&short, keys, n)));
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

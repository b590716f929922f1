//! The state cache under every order of its threads that the memory model allows: its own source, on loom's atomics and locks.

/// loom's in place of those of `search/cache/sync.rs`.
mod sync {
    pub(super) use loom::{
        hint::spin_loop,
        sync::{
            Arc, Condvar, Mutex, MutexGuard,
            atomic::{AtomicBool, AtomicU64},
        },
    };
}
#[path = "../src/bug.rs"]
mod bug;
#[path = "../src/search/cache/slots.rs"]
#[expect(unreachable_pub, reason = "the source of a library")]
mod slots;
#[path = "../src/search/cache/table.rs"]
#[expect(unreachable_pub, dead_code, reason = "the source of a library")]
mod table;

/// As in `search/cache/mod.rs`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Inserted {
    New,
    Known,
    Full,
}

use loom::thread;
use slots::Slots;
use table::{Access, Memory, Table};

/// Every order with at most so many preemptions: most bugs need one or two.
fn model(preemptions: usize, check: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(check);
}

/// Each of the threads inserts its keys. Which were new to it.
fn insert_all<const WORDS: usize>(
    slots: &loom::sync::Arc<Slots<WORDS, WORDS>>,
    threads: [&'static [[u64; WORDS]]; 2],
) -> Vec<[u64; WORDS]> {
    let start = |keys: &'static [[u64; WORDS]]| {
        let slots = loom::sync::Arc::clone(slots);
        thread::spawn(move || {
            keys.iter().copied().filter(|key| slots.insert(*key).1 && slots.contains(*key)).collect::<Vec<_>>()
        })
    };
    let threads = threads.map(start);
    let mut new: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().expect("it does not panic")).collect();
    new.sort_unstable();
    new
}

#[test]
fn of_two_that_race_for_keys_each_is_inserted_once() {
    // All at home in the same slot.
    model(3, || {
        let slots = loom::sync::Arc::new(Slots::<1, 1>::new(4));
        let new = insert_all(&slots, [&[[1], [2]], &[[2], [1]]]);
        assert_eq!(new, [[1], [2]]);
        assert!(slots.contains([1]) && slots.contains([2]) && !slots.contains([3]));
    });
}

#[test]
fn keys_of_two_words_are_not_taken_for_each_other_while_they_are_written() {
    model(3, || {
        let slots = loom::sync::Arc::new(Slots::<2, 2>::new(4));
        let new = insert_all(&slots, [&[[1, 1], [1, 2]], &[[1, 2], [1, 1]]]);
        assert_eq!(new, [[1, 1], [1, 2]]);
        assert!(slots.contains([1, 2]) && !slots.contains([1, 3]));
    });
}

/// What two threads do with accesses of their own to a small table, while it grows. The table afterwards.
fn share<const KEY: usize, const WORDS: usize>(
    slots: usize,
    run: impl Fn(usize, &mut Access<KEY, WORDS>) -> usize + Send + Sync + Copy + 'static,
) -> (Table<KEY, WORDS>, usize) {
    let table = Table::<KEY, WORDS>::with_slots(slots, &loom::sync::Arc::new(Memory::new(1 << 20)));
    let other = table.clone();
    let worker = thread::spawn(move || run(1, &mut other.access()));
    let new = run(0, &mut table.access());
    (table, new + worker.join().expect("it does not panic"))
}

const KEYS: [[u64; 1]; 4] = [[1], [u64::MAX], [1 << 63], [2]];

#[test]
fn a_table_grows_under_two_threads_and_loses_nothing() {
    model(2, || {
        let (table, new) = share::<1, 1>(2, |thread, access| {
            let order = (0..4).map(|k| KEYS[(k + thread * 2) % 4]);
            order.filter(|key| access.insert(*key) == Inserted::New).count()
        });
        assert_eq!((new, table.count()), (4, 4));
        let access = table.access();
        assert!(KEYS.iter().all(|key| access.contains(*key)));
    });
}

#[test]
fn a_value_is_raised_once_while_the_table_grows() {
    model(2, || {
        let (table, new) = share::<1, 2>(2, |thread, access| {
            let keys = [KEYS[thread], [7], KEYS[1 - thread]];
            keys.into_iter().filter(|key| access.raise(*key, 5) == Inserted::New).count()
        });
        assert_eq!((new, table.count()), (3, 3));
    });
}

/// One ends while the other waits to grow.
#[test]
fn who_ends_keeps_nobody_waiting() {
    model(3, || {
        let (table, new) = share::<1, 1>(3, |thread, access| {
            let keys = if thread == 0 { &KEYS[..1] } else { &KEYS[1..] };
            keys.iter().filter(|key| access.has_room() && access.insert(**key) == Inserted::New).count()
        });
        assert_eq!((new, table.count()), (4, 4));
    });
}

#[test]
fn at_the_end_of_the_memory_threads_stop_and_what_is_there_stays() {
    model(2, || {
        let table = Table::<1, 1>::with_slots(3, &loom::sync::Arc::new(Memory::new(40)));
        let other = table.clone();
        let fill = |table: &Table<1, 1>, from: u64| {
            let mut access = table.access();
            (from..from + 3).filter(|key| access.insert([key << 60]) == Inserted::New).count() as u64
        };
        let worker = thread::spawn(move || fill(&other, 4));
        let new = fill(&table, 1) + worker.join().expect("it does not panic");
        // Five slots, of which four are used; what one has claimed the other may have wanted.
        assert!(new == table.count() && (3..=4).contains(&new), "{new}");
    });
}

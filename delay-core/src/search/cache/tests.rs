//! The table against std's set, through all its sizes, by several threads, and at the end of its memory.

use super::{
    Inserted,
    table::{Access, Memory, Table},
};
use crate::random::SplitMix64;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Keys to insert: under Miri each takes as long as some thousand elsewhere.
const MANY: usize = if cfg!(miri) { 400 } else { 200_000 };

/// Keys with one home: the time to find them all goes with their square.
const CROWD: u64 = if cfg!(miri) { 40 } else { 1_500 };

fn unlimited() -> Arc<Memory> {
    Arc::new(Memory::new(u64::MAX))
}

fn table<const KEY: usize, const WORDS: usize>() -> Access<KEY, WORDS> {
    Table::new(&unlimited()).access()
}

fn draw(random: &mut SplitMix64) -> u64 {
    random.below(usize::MAX) as u64
}

/// Random keys, of which about one in four comes twice.
fn random(seed: u64, many: usize) -> Vec<u64> {
    let mut random = SplitMix64::new(seed);
    let fresh: Vec<u64> = (0..many).map(|_| draw(&mut random)).collect();
    let again: Vec<u64> = (0..many / 4).map(|_| fresh[random.below(many)]).collect();
    fresh.into_iter().chain(again).collect()
}

/// Inserts the keys, compared with std's set; looks for all of them each time the table has grown.
fn like_a_set<const KEY: usize>(keys: impl IntoIterator<Item = [u64; KEY]>) {
    let mut table = table::<KEY, KEY>();
    let mut set = BTreeSet::new();
    let mut bytes = table.bytes();
    for key in keys {
        assert_eq!(table.contains(key), set.contains(&key));
        let expected = if set.insert(key) { Inserted::New } else { Inserted::Known };
        assert_eq!(table.insert(key), expected);
        assert_eq!(table.count(), set.len() as u64);
        if table.bytes() != bytes {
            bytes = table.bytes();
            assert!(set.iter().all(|key| table.contains(*key)), "a key is lost when the table has {bytes} bytes");
        }
    }
    assert!(set.iter().all(|key| table.contains(*key)));
}

#[test]
fn a_table_is_made_again_of_its_words() {
    for many in [0, 1, 448, 449, MANY / 10] {
        let memory = unlimited();
        let (table, values) = (Table::<1, 1>::new(&memory), Table::<2, 3>::new(&memory));
        let keys = random(3, many);
        for key in &keys {
            assert!(table.access().insert([*key]) != Inserted::Full);
            values.access().raise([*key, 7], 5 + key % 3);
        }
        let (again, values_again) = (
            Table::<1, 1>::again(&table.words(), &memory).expect("there is room"),
            Table::<2, 3>::again(&values.words(), &memory).expect("there is room"),
        );
        assert_eq!((again.count(), values_again.count()), (table.count(), values.count()));
        assert!(keys.iter().all(|key| again.access().contains([*key])));
        assert!(keys.iter().all(|key| values_again.access().raise([*key, 7], 5 + key % 3) == Inserted::Known));
        assert!(keys.first().is_none_or(|key| values_again.access().raise([*key, 7], 9) == Inserted::New));
        let less = Arc::new(Memory::new(table.count() * 8));
        assert!(Table::<1, 1>::again(&table.words(), &less).is_none(), "not even the keys fit, with empty slots");
    }
}

#[test]
fn random_keys_are_as_in_a_set() {
    like_a_set(random(1, MANY).into_iter().map(|key| [key.max(1)]));
}

#[test]
fn keys_of_128_bits_are_as_in_a_set() {
    let mut keys = random(2, MANY / 4).into_iter();
    like_a_set(std::iter::from_fn(|| Some([keys.next()?.max(1), keys.next()?.max(1)])));
}

#[test]
fn keys_that_share_64_of_128_bits_are_told_apart() {
    like_a_set((1..=CROWD).flat_map(|low| [[7, low], [u64::MAX - 7, low], [low, 7], [low << 50, 7]]));
}

/// The worst there is for probing: all homes are the last slots or the first, and runs go over the end.
#[test]
fn keys_that_crowd_at_the_ends_are_as_in_a_set() {
    let crowded = (0..CROWD).flat_map(|k| [u64::MAX - k, k + 1, u64::MAX - k, u64::MAX / 2 + k]);
    like_a_set(crowded.map(|key| [key]));
}

#[test]
fn tables_as_small_as_can_be_grow_too() {
    for seed in 0..if cfg!(miri) { 3 } else { 300 } {
        let keys = random(seed, 60);
        let table = Table::<1, 1>::with_slots(2 + seed as usize % 7, &unlimited());
        let mut access = table.access();
        let new = keys.iter().filter(|key| access.insert([**key]) == Inserted::New).count();
        assert_eq!(new, 60);
        assert!(keys.iter().all(|key| access.contains([*key])));
        drop(access);
        assert_eq!(table.count(), 60);
    }
}

#[test]
fn zero_is_a_key_like_others() {
    let mut table = table::<2, 2>();
    assert!(!table.contains([0, 0]));
    assert_eq!([table.insert([0, 0]), table.insert([0, 0])], [Inserted::New, Inserted::Known]);
    assert_eq!([table.insert([0, 5]), table.insert([5, 0])], [Inserted::New, Inserted::New]);
    assert!(table.contains([0, 0]) && !table.contains([5, 5]));
}

#[test]
fn the_memory_ends_where_it_was_said_to() {
    let run = || {
        let mut table = Table::<1, 1>::new(&Arc::new(Memory::new(20_000))).access();
        let mut random = SplitMix64::new(4);
        let first = draw(&mut random);
        table.insert([first]);
        while table.has_room() {
            assert_eq!(table.insert([draw(&mut random)]), Inserted::New);
        }
        assert_eq!(table.insert([first]), Inserted::Known);
        assert_eq!(table.insert([draw(&mut random)]), Inserted::Full);
        assert!(!table.has_room());
        (table.count(), table.bytes())
    };
    // 2,500 slots, of which 7 in 8 are used.
    assert_eq!(run(), (2_187, 20_000));
    assert_eq!(run(), run());
}

#[test]
fn tables_share_memory() {
    let memory = Arc::new(Memory::new(20_000));
    let mut one = Table::<1, 1>::new(&memory).access();
    let mut two = Table::<1, 2>::new(&memory).access();
    let mut random = SplitMix64::new(5);
    while one.has_room() && two.has_room() {
        one.insert([draw(&mut random)]);
        two.raise([draw(&mut random)], 1);
    }
    assert!(one.bytes() + two.bytes() <= 20_000);
    assert!(one.bytes() + two.bytes() > 18_000);
}

#[test]
fn a_value_only_rises() {
    let mut table = table::<1, 2>();
    let raised = [5, 5, 4, 6, 6, 1].map(|value| table.raise([9], value));
    let [new, known] = [Inserted::New, Inserted::Known];
    assert_eq!(raised, [new, known, known, new, known, known]);
    assert_eq!(table.count(), 1);
}

#[test]
fn values_move_with_their_keys() {
    let mut table = table::<2, 3>();
    let mut values = BTreeMap::new();
    for (value, key) in random(6, MANY / 4).into_iter().enumerate() {
        let key = [key, !key];
        table.raise(key, value as u64 + 1);
        values.insert(key, value as u64 + 1);
    }
    for (key, value) in values {
        assert_eq!(table.raise(key, value), Inserted::Known);
        assert_eq!(table.raise(key, value + 1), Inserted::New);
    }
}

/// Threads insert the same keys, each in its own order, while the table grows: each key is new once.
#[expect(clippy::disallowed_methods, reason = "threads of a test, joined here")]
fn race<const KEY: usize, const WORDS: usize>(
    threads: usize,
    keys: &[[u64; KEY]],
    insert: impl Fn(&mut Access<KEY, WORDS>, [u64; KEY]) -> Inserted + Sync,
) {
    let table = Table::<KEY, WORDS>::with_slots(8, &unlimited());
    let one = |thread: usize| {
        let mut access = table.access();
        let order = (0..keys.len()).map(|k| (k + thread * keys.len() / threads / 3) % keys.len());
        order.filter(|k| insert(&mut access, keys[*k]) == Inserted::New).collect::<Vec<_>>()
    };
    let mut new = vec![0; keys.len()];
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || one(thread))).collect();
        for k in workers.into_iter().flat_map(|worker| worker.join().unwrap()) {
            new[k] += 1;
        }
    });
    assert_eq!(new.iter().position(|times| *times != 1), None);
    let access = table.access();
    assert!(keys.iter().all(|key| access.contains(*key)));
    assert_eq!(table.count(), keys.len() as u64);
}

#[test]
fn of_threads_that_race_for_a_key_one_inserts_it() {
    let mut random = SplitMix64::new(7);
    let keys: Vec<[u64; 1]> = (0..MANY / 2).map(|_| [draw(&mut random)]).collect();
    race::<1, 1>(4, &keys, Access::insert);
}

#[test]
fn of_threads_that_race_for_128_bits_one_inserts_them() {
    let mut random = SplitMix64::new(8);
    // Pairs of keys that agree in the first word.
    let keys: Vec<[u64; 2]> =
        (0..MANY as u64 / 4).map(|k| [(k / 2).wrapping_mul(0x9E37_79B9_7F4A_7C15), draw(&mut random)]).collect();
    race::<2, 2>(4, &keys, Access::insert);
}

#[test]
fn of_threads_that_race_for_a_value_one_raises_it() {
    let mut random = SplitMix64::new(9);
    let keys: Vec<[u64; 1]> = (0..MANY / 4).map(|_| [draw(&mut random)]).collect();
    race::<1, 2>(3, &keys, |access, key| access.raise(key, 5));
}

/// What is claimed by one thread and not spent does not keep another from ending exactly.
#[test]
#[expect(clippy::disallowed_methods, reason = "threads of a test, joined here")]
fn threads_stop_at_the_memory_and_none_is_stuck() {
    let table = Table::<1, 1>::new(&Arc::new(Memory::new(10_000)));
    let inserted: u64 = std::thread::scope(|scope| {
        let one = |seed| {
            let mut access = table.access();
            let mut random = SplitMix64::new(seed);
            let mut inserted = 0;
            while access.has_room() {
                inserted += u64::from(access.insert([draw(&mut random)]) == Inserted::New);
            }
            inserted
        };
        let workers: Vec<_> = (10..14).map(|seed| scope.spawn(move || one(seed))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(table.count(), inserted);
    assert!(table.access().bytes() <= 10_000);
}

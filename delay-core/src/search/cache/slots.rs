//! The slots of a table of fingerprints: open addressing with linear probing, insert-if-absent without a lock.
//!
//! A slot is `WORDS` atomic words: the `KEY` words of a key, then those of its value. Zero is "empty", so no word of a key is
//! zero (one that is counts as 1).
//!
//! Invariants:
//! - While the slots are shared, the first word of a slot goes from zero to that of a key once and then never changes.
//! - From a key's home to its slot no slot is empty. So who looks for a key and comes to an empty slot has not found it.
//! - Some slot is empty: callers insert at most [`Slots::limit`] keys.
//!
//! Why a key is inserted once, however many threads insert it at a time: all of them look at the same slots in the same
//! order, and pass by a slot only once it holds another key for ever. So they compete for the same empty slot, by
//! compare-and-swap; one wins it, and the others learn from what they lost to that the key is there, or go on together.
//! Nothing but the words themselves is published by them, so all accesses are relaxed.
//!
//! A key of two words is in its slot when both are. Who finds the first word its own and the second still zero waits for it: two
//! instructions of another thread, and only where two keys agree in their first 64 bits.
//!
//! **Growing in place.** Homes keep the order of keys (`key * slots / 2^64`, no division): keys must be fingerprints, whose upper bits are as
//! random as any. So slots can be added at the end and the keys spread over all of them from the end to the beginning. Runs of occupied
//! slots are taken out one by one, the last first, and put in again; the home of a key of a run that began at slot a is at or above a in
//! the larger table too, so that it only ever meets keys that have moved already. The run at the very beginning may hold keys whose home
//! is near the end; it is put in last. Until then nothing runs over the end: of the keys whose new home is j or above all stood in the
//! old table at or above j's place in it, which is not farther from its end than j is from the new one. Memory is read and written from one
//! end to the other. Where the system can move pages without copying them (`mremap`), there is never an old table beside a new one.

use super::sync::{AtomicU64, spin_loop};
use std::{collections::TryReserveError, sync::atomic::Ordering::Relaxed};

/// One slot's words.
type Slot<const WORDS: usize> = [AtomicU64; WORDS];

/// A table of keys with `KEY` words, in slots of `WORDS`.
#[derive(Debug)]
pub struct Slots<const KEY: usize, const WORDS: usize>(Vec<Slot<WORDS>>);

impl<const KEY: usize, const WORDS: usize> Slots<KEY, WORDS> {
    /// Bytes of a slot.
    pub const BYTES: u64 = size_of::<[u64; WORDS]>() as u64;

    /// That many empty slots, at least 2.
    pub fn new(slots: usize) -> Self {
        const { assert!(KEY > 0 && KEY <= WORDS, "a slot holds its key") };
        assert!(slots > 1, "one slot would be full at once");
        Self((0..slots).map(|_| empty()).collect())
    }

    /// That many slots with the keys that have these [`Slots::words`]. They must be within [`Slots::limit`].
    pub fn again(slots: usize, words: &[u64]) -> Self {
        let mut slots = Self::new(slots);
        let keys = words.chunks_exact(WORDS);
        slots.put(keys.map(|key| std::array::from_fn(|word| if word == 0 { not_zero(key[0]) } else { key[word] })));
        slots
    }

    /// The words of all keys with their values, one after the other.
    pub fn words(&self) -> Vec<u64> {
        let used = self.0.iter().filter(|slot| slot[0].load(Relaxed) != 0);
        used.flatten().map(|word| word.load(Relaxed)).collect()
    }

    /// How many slots there are.
    pub fn size(&self) -> usize {
        self.0.len()
    }

    /// How many keys may be inserted: 7 for each 8 slots.
    pub fn limit(&self) -> u64 {
        self.0.len() as u64 * 7 / 8
    }

    /// Inserts a key that is not there. Says in which slot it is, and whether it is new.
    #[inline]
    pub fn insert(&self, key: [u64; KEY]) -> (usize, bool) {
        let key = key.map(not_zero);
        let mut at = self.home(key[0]);
        loop {
            let slot = &self.0[at];
            let mut first = slot[0].load(Relaxed);
            if first == 0 {
                match slot[0].compare_exchange(0, key[0], Relaxed, Relaxed) {
                    Ok(_) => {
                        for (word, part) in slot.iter().zip(key).skip(1) {
                            word.store(part, Relaxed);
                        }
                        return (at, true);
                    }
                    Err(other) => first = other,
                }
            }
            if first == key[0] && goes_on_as(slot, key) {
                return (at, false);
            }
            at = self.next(at);
        }
    }

    /// Whether the key is there.
    pub fn contains(&self, key: [u64; KEY]) -> bool {
        let key = key.map(not_zero);
        let mut at = self.home(key[0]);
        loop {
            let slot = &self.0[at];
            match slot[0].load(Relaxed) {
                0 => return false,
                first if first == key[0] && goes_on_as(slot, key) => return true,
                _ => at = self.next(at),
            }
        }
    }

    /// Raises the value of the key in a slot. Says whether it was lower; a new key's is zero.
    #[inline]
    pub fn raise(&self, at: usize, value: u64) -> bool {
        const { assert!(KEY < WORDS, "a slot holds a value") };
        self.0[at][KEY].fetch_max(value, Relaxed) < value
    }

    /// Adds empty slots. Nothing has changed if the system refuses the memory.
    ///
    /// # Errors
    /// It does.
    pub fn grow(&mut self, more: usize) -> Result<(), TryReserveError> {
        let before = self.0.len();
        self.0.try_reserve_exact(more)?;
        self.0.resize_with(before + more, empty);
        let begun: Vec<_> = (0..before).map_while(|at| self.take(at)).collect();
        let mut run = Vec::new();
        for at in (begun.len()..before).rev() {
            match self.take(at) {
                Some(words) => run.push(words),
                None => self.put(run.drain(..)),
            }
        }
        self.put(begun.into_iter());
        Ok(())
    }

    /// Takes out what is in a slot.
    fn take(&mut self, at: usize) -> Option<[u64; WORDS]> {
        let slot = &self.0[at];
        let words = std::array::from_fn(|word| slot[word].load(Relaxed));
        if words[0] == 0 {
            return None;
        }
        for word in slot {
            word.store(0, Relaxed);
        }
        Some(words)
    }

    /// Puts in what was taken out.
    fn put(&mut self, taken: impl Iterator<Item = [u64; WORDS]>) {
        for words in taken {
            let mut at = self.home(words[0]);
            while self.0[at][0].load(Relaxed) != 0 {
                at = self.next(at);
            }
            for (word, part) in self.0[at].iter().zip(words) {
                word.store(part, Relaxed);
            }
        }
    }

    /// Where the search for a key begins.
    #[inline]
    fn home(&self, first: u64) -> usize {
        ((u128::from(first) * self.0.len() as u128) >> 64) as usize
    }

    #[inline]
    fn next(&self, at: usize) -> usize {
        if at + 1 == self.0.len() { 0 } else { at + 1 }
    }
}

fn empty<const WORDS: usize>() -> Slot<WORDS> {
    std::array::from_fn(|_| AtomicU64::new(0))
}

/// Whether the words of a slot after the first are those of the key, once they are there.
#[inline]
fn goes_on_as<const KEY: usize, const WORDS: usize>(slot: &Slot<WORDS>, key: [u64; KEY]) -> bool {
    slot.iter().zip(key).skip(1).all(|(word, part)| {
        loop {
            match word.load(Relaxed) {
                0 => spin_loop(),
                found => return found == part,
            }
        }
    })
}

#[inline]
fn not_zero(word: u64) -> u64 {
    word.max(1)
}

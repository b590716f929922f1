//! A table of fingerprints that threads share: each has an [`Access`], and the table grows, or is full.
//!
//! **Counting.** No counter is shared per key. An access claims room for a number of keys at a time and spends it; what is
//! claimed and not spent is not in the table. Claims never exceed [`Slots::limit`], so an insertion always finds a place.
//!
//! **Growing.** Slots move when a table grows, so nobody may be looking at them. An access holds an `Arc` of the slots and no
//! lock. Who finds nothing left to claim raises a flag, lets go of its own `Arc` and waits until all others have. They look at
//! the flag each time they ask for room, once a step of a search, and let go as well; those that have ended let go when they are
//! dropped. The last `Arc` is then the table's own, which is what the compiler wants to see before it lets the slots be changed. So:
//!
//! - Per insertion there is no lock: one load of a flag that seldom changes, and the compare-and-swap.
//! - **An access must not be held while waiting for another thread that has one**: that thread may wait for this one to let go. Drop
//!   it and ask for another.
//!
//! **Budget.** Growing takes its bytes from [`Memory`], which several tables may share. The last growth takes what is left. Then
//! [`Access::has_room`] says no, and nothing is added any more: with one access that is so after the same insertions on every machine.
//! Memory that the system refuses counts as a budget that is used up.

use super::{
    Inserted,
    slots::Slots,
    sync::{Arc, AtomicBool, AtomicU64, Condvar, Mutex, MutexGuard},
};
use std::sync::{PoisonError, atomic::Ordering::Relaxed};

/// Slots of a table at first, whatever the budget.
const SLOTS_MIN: usize = 1 << 9;
/// A table below so many bytes doubles: to be half empty makes it faster. A larger one grows by 3 in 10: to be half empty is dear.
const LARGE: u64 = 1 << 30;
/// Keys an access claims room for at a time.
const CLAIM: u64 = 64;

/// Bytes that tables may still take; several may share them.
#[derive(Debug)]
pub struct Memory(AtomicU64);

impl Memory {
    /// That many bytes.
    pub fn new(bytes: u64) -> Self {
        Self(AtomicU64::new(bytes))
    }

    /// Takes the bytes of so many slots, or what is left. In slots.
    fn take(&self, slots: u64, bytes: u64) -> u64 {
        let mut left = self.0.load(Relaxed);
        loop {
            let taken = slots.min(left / bytes);
            match self.0.compare_exchange(left, left - taken * bytes, Relaxed, Relaxed) {
                Ok(_) => return taken,
                Err(other) => left = other,
            }
        }
    }
}

/// By how many slots of so many bytes a table grows.
const fn growth(slots: u64, bytes: u64) -> u64 {
    if slots * bytes < LARGE { slots } else { slots * 3 / 10 }
}

/// A table of keys with `KEY` words, in slots of `WORDS`; shared by clones.
#[derive(Debug)]
pub struct Table<const KEY: usize, const WORDS: usize>(Arc<Shared<KEY, WORDS>>);

#[derive(Debug)]
struct Shared<const KEY: usize, const WORDS: usize> {
    /// Keys that were inserted, and those that accesses may insert without asking.
    claimed: AtomicU64,
    /// Somebody waits for all others to let go of the slots.
    wanted: AtomicBool,
    kept: Mutex<Kept<KEY, WORDS>>,
    /// Somebody has let go of the slots, or they have grown.
    changed: Condvar,
    memory: Arc<Memory>,
}

/// Where the slots are while they change.
#[derive(Debug)]
struct Kept<const KEY: usize, const WORDS: usize> {
    slots: Arc<Slots<KEY, WORDS>>,
    /// Accesses that hold the slots.
    inside: usize,
    /// As `wanted`, under the lock.
    growing: bool,
}

impl<const KEY: usize, const WORDS: usize> Clone for Table<KEY, WORDS> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<const KEY: usize, const WORDS: usize> Table<KEY, WORDS> {
    /// An empty table that grows within the memory.
    pub fn new(memory: &Arc<Memory>) -> Self {
        Self::with_slots(SLOTS_MIN, memory)
    }

    /// An empty table that starts with so many slots.
    pub fn with_slots(slots: usize, memory: &Arc<Memory>) -> Self {
        memory.take(slots as u64, Slots::<KEY, WORDS>::BYTES);
        Self::of(Slots::new(slots), 0, memory)
    }

    /// Of slots with so many keys.
    fn of(slots: Slots<KEY, WORDS>, keys: u64, memory: &Arc<Memory>) -> Self {
        Self(Arc::new(Shared {
            claimed: AtomicU64::new(keys),
            wanted: AtomicBool::new(false),
            kept: Mutex::new(Kept { slots: Arc::new(slots), inside: 0, growing: false }),
            changed: Condvar::new(),
            memory: Arc::clone(memory),
        }))
    }

    /// The table with these [`Table::words`]. None if the memory is too small.
    pub fn again(words: &[u64], memory: &Arc<Memory>) -> Option<Self> {
        let keys = words.len() / WORDS;
        // With room for all of them from the start: they stand in the order of their homes, and would crowd in a smaller table.
        let slots = (keys + keys / 7 + 2).max(SLOTS_MIN);
        if memory.take(slots as u64, Slots::<KEY, WORDS>::BYTES) < slots as u64 {
            return None;
        }
        let slots = Slots::again(slots, words);
        Some(Self::of(slots, keys as u64, memory))
    }

    /// The words of all keys with their values, one after the other; those of whoever has an access may be missing.
    pub fn words(&self) -> Vec<u64> {
        self.0.kept().slots.words()
    }

    /// An access for one thread. Waits while the table grows.
    pub fn access(&self) -> Access<KEY, WORDS> {
        let slots = self.0.enter(self.0.kept());
        Access { shared: Arc::clone(&self.0), slots: Some(slots), claims: 0 }
    }

    /// How many keys there are, once no thread has an access; else at most.
    pub fn count(&self) -> u64 {
        self.0.claimed.load(Relaxed)
    }
}

impl<const KEY: usize, const WORDS: usize> Shared<KEY, WORDS> {
    fn kept(&self) -> MutexGuard<'_, Kept<KEY, WORDS>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed<'p>(&self, kept: MutexGuard<'p, Kept<KEY, WORDS>>) -> MutexGuard<'p, Kept<KEY, WORDS>> {
        self.changed.wait(kept).unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, mut kept: MutexGuard<'_, Kept<KEY, WORDS>>) -> Arc<Slots<KEY, WORDS>> {
        while kept.growing {
            kept = self.changed(kept);
        }
        kept.inside += 1;
        Arc::clone(&kept.slots)
    }
}

/// One thread's access to a table.
#[derive(Debug)]
pub struct Access<const KEY: usize, const WORDS: usize> {
    shared: Arc<Shared<KEY, WORDS>>,
    /// None only while the table grows.
    slots: Option<Arc<Slots<KEY, WORDS>>>,
    /// Keys it may insert without asking. They are part of `Shared::claimed`.
    claims: u64,
}

impl<const KEY: usize, const WORDS: usize> Access<KEY, WORDS> {
    /// Whether a key can be inserted. Once it said so, the next insertion succeeds.
    #[inline]
    pub fn has_room(&mut self) -> bool {
        (self.claims > 0 && !self.shared.wanted.load(Relaxed)) || self.claim()
    }

    /// Inserts a key that is not there.
    #[inline]
    pub fn insert(&mut self, key: [u64; KEY]) -> Inserted {
        self.place(key, |_, _, is_new| is_new)
    }

    /// Inserts a key that is not there, and raises its value. `New` if the value was lower, too.
    #[inline]
    pub fn raise(&mut self, key: [u64; KEY], value: u64) -> Inserted {
        self.place(key, |slots, at, _| slots.raise(at, value))
    }

    #[inline]
    fn place(&mut self, key: [u64; KEY], is_new: impl FnOnce(&Slots<KEY, WORDS>, usize, bool) -> bool) -> Inserted {
        if self.claims == 0 && !self.claim() {
            return if self.contains(key) { Inserted::Known } else { Inserted::Full };
        }
        let slots = held(self.slots.as_ref());
        let (at, is_inserted) = slots.insert(key);
        self.claims -= u64::from(is_inserted);
        if is_new(slots, at, is_inserted) { Inserted::New } else { Inserted::Known }
    }

    /// Whether the key is there.
    pub fn contains(&self, key: [u64; KEY]) -> bool {
        held(self.slots.as_ref()).contains(key)
    }

    /// How many keys there are, if no other thread has an access; else at most.
    #[inline]
    pub fn count(&self) -> u64 {
        self.shared.claimed.load(Relaxed) - self.claims
    }

    /// The bytes of the slots.
    pub fn bytes(&self) -> u64 {
        held(self.slots.as_ref()).size() as u64 * Slots::<KEY, WORDS>::BYTES
    }

    /// Makes room for a key, if there can be.
    #[cold]
    fn claim(&mut self) -> bool {
        loop {
            if self.shared.wanted.load(Relaxed) {
                self.make_way();
            }
            if self.claims > 0 {
                return true;
            }
            let limit = held(self.slots.as_ref()).limit();
            let mut claimed = self.shared.claimed.load(Relaxed);
            while claimed < limit {
                let more = CLAIM.min(limit - claimed);
                match self.shared.claimed.compare_exchange(claimed, claimed + more, Relaxed, Relaxed) {
                    Ok(_) => {
                        self.claims = more;
                        return true;
                    }
                    Err(other) => claimed = other,
                }
            }
            if !self.grow() {
                return false;
            }
        }
    }

    /// Lets the table grow that somebody else wants to.
    fn make_way(&mut self) {
        self.leave();
        self.slots = Some(self.shared.enter(self.shared.kept()));
    }

    /// Has the table grow. Says whether it has.
    fn grow(&mut self) -> bool {
        let mut kept = self.shared.kept();
        if kept.growing {
            drop(kept);
            self.make_way();
            return true;
        }
        let slots = kept.slots.size() as u64;
        let more = self.shared.memory.take(growth(slots, Slots::<KEY, WORDS>::BYTES), Slots::<KEY, WORDS>::BYTES);
        if more == 0 {
            return false;
        }
        kept.growing = true;
        self.shared.wanted.store(true, Relaxed);
        drop(kept);
        self.leave();
        let mut kept = self.shared.kept();
        while kept.inside > 0 {
            kept = self.shared.changed(kept);
        }
        let Some(slots) = Arc::get_mut(&mut kept.slots) else {
            crate::bug!("nobody is inside and somebody holds the slots")
        };
        let has_grown = slots.grow(more as usize).is_ok();
        if !has_grown {
            self.shared.memory.0.store(0, Relaxed);
        }
        kept.growing = false;
        self.shared.wanted.store(false, Relaxed);
        self.shared.changed.notify_all();
        self.slots = Some(self.shared.enter(kept));
        has_grown
    }

    /// Lets go of the slots and gives back what was claimed and not spent.
    fn leave(&mut self) {
        drop(self.slots.take());
        self.shared.claimed.fetch_sub(std::mem::take(&mut self.claims), Relaxed);
        let mut kept = self.shared.kept();
        kept.inside -= 1;
        if kept.inside == 0 && kept.growing {
            self.shared.changed.notify_all();
        }
    }
}

impl<const KEY: usize, const WORDS: usize> Drop for Access<KEY, WORDS> {
    fn drop(&mut self) {
        // Else it panicked while the table grew, and has left already.
        if self.slots.is_some() {
            self.leave();
        }
    }
}

#[inline]
fn held<const KEY: usize, const WORDS: usize>(slots: Option<&Arc<Slots<KEY, WORDS>>>) -> &Slots<KEY, WORDS> {
    let Some(slots) = slots else { crate::bug!("an access without slots") };
    slots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_table_never_takes_more_than_12_bytes_for_a_key_of_64_bits() {
        let mut slots = SLOTS_MIN as u64;
        while slots < 1 << 40 {
            let (full, grown) = (slots * 7 / 8, slots + growth(slots, 8));
            let most = if slots * 8 < LARGE { 19 } else { 12 };
            assert!(grown * 8 <= most * full, "{grown} slots for {full} keys");
            slots = grown;
        }
    }
}

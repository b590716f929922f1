//! A table from 64-bit keys to numbers, made to be looked up: open addressing, at most half full.

/// Stands where there is no key. No way is called so.
const EMPTY: u64 = u64::MAX;

/// The table.
#[derive(Debug, Default)]
pub(super) struct Ways {
    entries: Vec<(u64, u32)>,
    /// Distance of the bits of a mixed key that tell its place.
    shift: u32,
    count: usize,
}

impl Ways {
    #[inline]
    fn place(&self, key: u64) -> usize {
        // The low bits of the product depend on the low bits of the key only.
        let mixed = (key ^ key >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> self.shift) as usize
    }

    /// The number of a key.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<u32> {
        if self.entries.is_empty() {
            return None;
        }
        let last = self.entries.len() - 1;
        let mut place = self.place(key);
        loop {
            let (found, number) = self.entries[place & last];
            if found == key {
                return Some(number);
            }
            if found == EMPTY {
                return None;
            }
            place += 1;
        }
    }

    /// Adds a key that is not there.
    pub(super) fn insert(&mut self, key: u64, number: u32) {
        debug_assert!(key != EMPTY && self.get(key).is_none(), "a key is added once");
        if self.count * 2 >= self.entries.len() {
            self.grow();
        }
        self.put(key, number);
        self.count += 1;
    }

    fn put(&mut self, key: u64, number: u32) {
        let last = self.entries.len() - 1;
        let mut place = self.place(key);
        while self.entries[place & last].0 != EMPTY {
            place += 1;
        }
        self.entries[place & last] = (key, number);
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.entries.len() * 2).max(1 << 10);
        self.shift = u64::BITS - size.trailing_zeros();
        let entries = std::mem::replace(&mut self.entries, vec![(EMPTY, 0); size]);
        for (key, number) in entries.into_iter().filter(|(key, _)| *key != EMPTY) {
            self.put(key, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_keeps_its_number() {
        let mut ways = Ways::default();
        assert_eq!(ways.get(7), None);
        let key = |point: u64, number: u64| number << 32 | point;
        for point in 0..100 {
            for number in 0..100 {
                ways.insert(key(point, number), (point * 100 + number) as u32);
            }
        }
        for point in 0..100 {
            for number in 0..100 {
                assert_eq!(ways.get(key(point, number)), Some((point * 100 + number) as u32));
            }
        }
        assert_eq!(ways.get(key(100, 0)), None);
    }
}

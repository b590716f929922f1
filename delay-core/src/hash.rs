//! The one fingerprint hasher: fixed keys, domain tags, ordered and bag combiners.
//!
//! A [`Print`] is 128 bits in two independent lanes, each mixed by a folded 64 x 64 -> 128 bit multiplication. It is
//! the same on every machine. Ordered combination is [`Print::with`]; a multiset is a wrapping sum of mixed prints
//! (never XOR: two equal messages would cancel out). `fxhash` is only used for maps keyed by ids, through
//! [`IdMap`] and [`IdSet`], whose iteration order is never looked at.

use std::hash::Hasher;

/// Map keyed by small ids or by fingerprints; never iterated.
pub type IdMap<K, V> = fxhash::FxHashMap<K, V>;
/// Set of small ids; never iterated.
pub type IdSet<K> = fxhash::FxHashSet<K>;

const KEYS: [u64; 4] = [0x9E37_79B9_7F4A_7C15, 0xD6E8_FEB8_6659_FD93, 0xA076_1D64_78BD_642F, 0xE703_7ED1_A0B4_28DB];

#[inline]
const fn fold(a: u64, b: u64) -> u64 {
    let wide = (a as u128).wrapping_mul(b as u128);
    (wide as u64) ^ ((wide >> 64) as u64)
}

/// A 128-bit fingerprint.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct Print {
    high: u64,
    low: u64,
}

/// What a fingerprint stands for; hashed first, so that equal contents of different kinds differ.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub enum Domain {
    Process = 1,
    ProcessName,
    ObjectName,
    Mailbox,
    Sender,
    Message,
    Observation,
    Checkpoint,
    Monitor,
    Content,
    Draw,
    Choosing,
    Explorer,
    Clock,
    Environment,
    Budget,
    Node,
    Late,
    Store,
    Shared,
    Version,
    Part,
    Queue,
    History,
    Copy,
}

impl Print {
    /// The start of a fingerprint of that kind.
    #[inline]
    #[must_use]
    pub const fn of(domain: Domain) -> Self {
        Self { high: KEYS[0], low: KEYS[1] }.with(domain as u64)
    }

    /// This, then `word`: order matters.
    #[inline]
    #[must_use]
    pub const fn with(self, word: u64) -> Self {
        self.with_lanes(word, word)
    }

    #[inline]
    const fn with_lanes(self, high: u64, low: u64) -> Self {
        Self {
            high: fold(self.high ^ high, KEYS[2]) ^ self.high.rotate_left(23),
            low: fold(self.low ^ low.rotate_left(32), KEYS[3]).wrapping_add(self.low.rotate_left(41)),
        }
    }

    /// This, then `other` with a word added to both lanes of it.
    #[inline]
    #[must_use]
    pub const fn with_added(self, other: Self, word: u64) -> Self {
        self.with_lanes(other.high.wrapping_add(word), other.low.wrapping_add(word))
    }

    /// This, then all of `other`.
    #[inline]
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        self.with(other.high).with(other.low)
    }

    /// Adds to a multiset: order does not matter, multiplicity does.
    #[inline]
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self { high: self.high.wrapping_add(other.high), low: self.low.wrapping_add(other.low) }
    }

    /// Takes out of a multiset what [`Print::plus`] put in.
    #[inline]
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self { high: self.high.wrapping_sub(other.high), low: self.low.wrapping_sub(other.low) }
    }

    /// The 64 bits kept by a cache of 64-bit fingerprints, or a seed derived from the print.
    #[inline]
    #[must_use]
    pub const fn short(self) -> u64 {
        fold(self.high ^ KEYS[1], self.low ^ KEYS[0])
    }

    /// All of it.
    #[inline]
    #[must_use]
    pub const fn words(self) -> [u64; 2] {
        [self.high, self.low]
    }

    /// One of 64 bits, for a quick look at whether a print is in a small set.
    #[inline]
    #[must_use]
    pub const fn bit(self) -> u64 {
        1 << (self.low & 63)
    }

    /// The print of a hashable value.
    pub fn of_value<T: std::hash::Hash + ?Sized>(domain: Domain, value: &T) -> Self {
        let mut hasher = PrintHasher(Self::of(domain));
        value.hash(&mut hasher);
        hasher.0
    }

    /// The print of text.
    #[must_use]
    pub fn of_text(domain: Domain, text: &str) -> Self {
        let mut hasher = PrintHasher(Self::of(domain));
        hasher.write(text.as_bytes());
        hasher.0
    }
}

/// The print of a list of prints that goes along when one is added at its end, or the first is taken: the sum of all, each multiplied by
/// a power of an odd number that tells its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sequence(Print);

/// Odd numbers, one for each lane, and their inverses modulo 2^64.
const ODD: [u64; 2] = [0xE703_7ED1_A0B4_28DB, 0xA076_1D64_78BD_642F];
const INVERSE: [u64; 2] = [inverse(ODD[0]), inverse(ODD[1])];

/// The inverse of an odd number modulo 2^64, by Newton's iteration.
const fn inverse(odd: u64) -> u64 {
    let mut inverse = odd;
    let mut round = 0;
    while round < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        round += 1;
    }
    inverse
}

impl Sequence {
    /// Of a whole list.
    pub fn of(prints: impl IntoIterator<Item = Print>) -> Self {
        let mut sequence = Self::default();
        for (place, print) in prints.into_iter().enumerate() {
            sequence.push(print, place);
        }
        sequence
    }

    /// Adds one to a list of so many.
    #[inline]
    pub fn push(&mut self, Print { high, low }: Print, length: usize) {
        let power = |odd: u64| odd.wrapping_pow(length as u32);
        let moved = Print { high: high.wrapping_mul(power(ODD[0])), low: low.wrapping_mul(power(ODD[1])) };
        self.0 = self.0.plus(moved);
    }

    /// Takes the first away.
    #[inline]
    pub fn take_first(&mut self, first: Print) {
        let Print { high, low } = self.0.minus(first);
        self.0 = Print { high: high.wrapping_mul(INVERSE[0]), low: low.wrapping_mul(INVERSE[1]) };
    }

    /// The print of the list.
    #[inline]
    pub fn print(self) -> Print {
        self.0
    }
}

/// `std::hash::Hasher` over [`Print`], for user values that implement `Hash`.
#[derive(Clone, Copy, Debug)]
pub struct PrintHasher(pub Print);

impl Hasher for PrintHasher {
    fn finish(&self) -> u64 {
        self.0.short()
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
        let rest = chunks.remainder();
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        // The length keeps "a" then "b" apart from "ab", and padding apart from zeros.
        self.0 = self.0.with(u64::from_le_bytes(word)).with(bytes.len() as u64);
    }

    fn write_u8(&mut self, i: u8) {
        self.write_u64(u64::from(i));
    }

    fn write_u16(&mut self, i: u16) {
        self.write_u64(u64::from(i));
    }

    fn write_u32(&mut self, i: u32) {
        self.write_u64(u64::from(i));
    }

    fn write_u64(&mut self, i: u64) {
        self.0 = self.0.with(i);
    }

    fn write_u128(&mut self, i: u128) {
        self.0 = self.0.with(i as u64).with((i >> 64) as u64);
    }

    fn write_usize(&mut self, i: usize) {
        self.write_u64(i as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bag_counts_equal_messages() {
        // Pitfall B.7: with XOR two equal messages would be an empty mailbox.
        let message = Print::of(Domain::Message).with(7);
        let empty = Print::default();
        assert_ne!(empty.plus(message).plus(message), empty);
        assert_ne!(empty.plus(message).plus(message), empty.plus(message));
        assert_eq!(empty.plus(message).plus(message).minus(message), empty.plus(message));
    }

    #[test]
    fn a_sequence_goes_along_with_its_list() {
        let print = |n: u64| Print::of(Domain::Message).with(n);
        let mut sequence = Sequence::of([print(1), print(2)]);
        sequence.push(print(3), 2);
        assert_eq!(sequence, Sequence::of([print(1), print(2), print(3)]));
        sequence.take_first(print(1));
        assert_eq!(sequence, Sequence::of([print(2), print(3)]));
        assert_ne!(sequence, Sequence::of([print(3), print(2)]));
        sequence.take_first(print(2));
        sequence.take_first(print(3));
        assert_eq!(sequence, Sequence::default());
    }

    #[test]
    fn order_and_length_matter() {
        let of = |words: &[u64]| words.iter().fold(Print::of(Domain::Message), |print, word| print.with(*word));
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[0]), of(&[0, 0]));
        assert_ne!(Print::of_value(Domain::Content, "ab"), Print::of_value(Domain::Content, "a"));
        assert_ne!(Print::of_value(Domain::Content, &("ab", "c")), Print::of_value(Domain::Content, &("a", "bc")));
    }

    #[test]
    fn short_prints_of_small_inputs_do_not_collide() {
        let mut seen = std::collections::BTreeSet::new();
        for a in 0..300u64 {
            for b in 0..300u64 {
                assert!(seen.insert(Print::of(Domain::Process).with(a).with(b).short()), "{a} {b}");
            }
        }
    }
}

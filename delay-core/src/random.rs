//! The one pseudo-random generator: SplitMix64, named so that a seed means the same for ever.
//!
//! Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA'14.

/// A generator. Cloning it clones its future; it is part of the state of an explorer that draws.
///
/// ```
/// use delay_core::random::SplitMix64;
/// let mut dice = SplitMix64::new(7);
/// assert!(dice.below(6) < 6);
/// assert_eq!(SplitMix64::new(7).below(1_000), SplitMix64::new(7).below(1_000));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The generator with this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A uniform number below `bound`; its bias is below bound / 2^64. Always 0 if `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.draw()) * bound as u128) >> 64) as usize
    }
}

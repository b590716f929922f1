//! Random numbers that do not branch: inside a controlled execution they are a function of the test's seed.

use super::backend;
use rand::TryRng;
use std::{
    convert::Infallible,
    hash::{BuildHasher, Hasher, RandomState},
};

/// A random number generator with rand's traits.
///
/// Inside a controlled execution a draw is a function of the test's seed, the task's name and how often that task drew
/// before: the same under every schedule in which the task draws as often, and never a choice to explore (use
/// [`choose`](super::choose::choose) for that). Outside one it draws from the system's entropy; not for secrets.
///
/// ```
/// use rand::RngExt;
/// let mut rng = delay_core::api::random::rng();
/// let jitter = rng.random_range(0..50);
/// assert!(jitter < 50);
/// ```
#[must_use]
pub fn rng() -> DelayRng {
    DelayRng { _private: () }
}

/// The generator [`rng`] gives out.
#[derive(Clone, Debug)]
pub struct DelayRng {
    _private: (),
}

/// 64 bits nobody can foresee, and nobody else has: std's own seed for its hash maps, which differs at every call.
pub(super) fn entropy() -> u64 {
    RandomState::new().build_hasher().finish()
}

fn draw() -> u64 {
    backend::draw().unwrap_or_else(entropy)
}

impl TryRng for DelayRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        // The upper half: the lower bits of a mixed word are the weaker ones.
        Ok((draw() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(draw())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&draw().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

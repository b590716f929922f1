//! Rule: fingerprints have 64 or 128 bits.

use delay::delay_test;

#[delay_test(fingerprints = 32)]
async fn fingerprints_of_32_bits() {}

fn main() {}

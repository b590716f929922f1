//! Rule: a key is given once.

use delay::delay_test;

#[delay_test(max_delays = 3, seed = 1, max_delays = 4)]
async fn repeated_key() {}

fn main() {}

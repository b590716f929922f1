//! Rule: a number is not negative.

use delay::delay_test;

#[delay_test(max_delays = -1, seed = -3)]
async fn negative_number() {}

fn main() {}

//! Rule: a number has no suffix.

use delay::delay_test;

#[delay_test(max_delays = 3u8)]
async fn number_with_suffix() {}

fn main() {}

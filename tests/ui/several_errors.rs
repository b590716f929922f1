//! Rule: all mistakes are reported at once.

use delay::delay_test;

#[delay_test(explorer = "rtc", mod = "ses", max_delays = -1, seed 3, max_steps = 0, cache = "of")]
fn several_errors() {}

fn main() {}

//! Rule: to be hot for long says something in `random` only.

use delay::delay_test;

#[delay_test(temperature = 1000, mode = "ses")]
async fn temperature_needs_random() {}

fn main() {}

//! Rule: the granularity exists.

use delay::delay_test;

#[delay_test(granularity = "sends")]
async fn unknown_granularity() {}

fn main() {}

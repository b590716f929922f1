//! Rule: a size has a unit.

use delay::delay_test;

#[delay_test(max_cache = "512")]
async fn max_cache_without_unit() {}

fn main() {}

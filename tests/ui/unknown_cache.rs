//! Rule: the cache mode exists.

use delay::delay_test;

#[delay_test(cache = "states")]
async fn unknown_cache() {}

fn main() {}

//! Rule: where nothing is kept there is nothing to say of it.

use delay::delay_test;

#[delay_test(cache = "off", max_cache = "1GiB", fingerprints = 128)]
async fn cache_off_keeps_nothing() {}

fn main() {}

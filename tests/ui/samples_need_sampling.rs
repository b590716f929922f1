//! Rule: `ses` does not sample.

use delay::delay_test;

#[delay_test(mode = "ses", samples = 1_000)]
async fn samples_need_sampling() {}

fn main() {}

//! Rule: there is something to search.

use delay::delay_test;

#[delay_test(max_states = 0)]
async fn no_states() {}

#[delay_test(samples = 0)]
async fn no_samples() {}

fn main() {}

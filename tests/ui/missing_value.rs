//! Rule: a key has a value.

use delay::delay_test;

#[delay_test(mode = , seed = 3)]
async fn missing_value() {}

fn main() {}

//! Rule: the mode exists.

use delay::delay_test;

#[delay_test(mode = "sess")]
async fn near() {}

#[delay_test(mode = "exhaustive")]
async fn far() {}

fn main() {}

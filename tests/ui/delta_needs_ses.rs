//! Rule: a step spends several delays in `ses` only.

use delay::delay_test;

#[delay_test(delta = 2, mode = "random")]
async fn delta_needs_ses() {}

fn main() {}

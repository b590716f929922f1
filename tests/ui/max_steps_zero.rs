//! Rule: an execution has a step.

use delay::delay_test;

#[delay_test(max_steps = 0)]
async fn max_steps_zero() {}

fn main() {}

//! Rule: a step may spend a delay.

use delay::delay_test;

#[delay_test(delta = 0)]
async fn delta_zero() {}

fn main() {}

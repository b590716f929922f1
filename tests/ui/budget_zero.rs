//! Rule: a budget leaves time.

use delay::delay_test;

#[delay_test(budget = "0s")]
async fn budget_zero() {}

fn main() {}

//! Rule: a budget is a whole number and a unit.

use delay::delay_test;

#[delay_test(budget = "10 s")]
async fn space() {}

#[delay_test(budget = "1.5s")]
async fn fraction() {}

#[delay_test(budget = "10")]
async fn no_unit() {}

#[delay_test(budget = "s")]
async fn no_number() {}

#[delay_test(budget = "2d")]
async fn other_unit() {}

#[delay_test(budget = "18446744073709551615h")]
async fn too_long() {}

fn main() {}

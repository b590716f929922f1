//! Rule: a value has the type its key takes.

use delay::delay_test;

#[delay_test(
    explorer = 3,
    mode = 3,
    max_delays = "3",
    seed = 1.5,
    budget = 10,
    config = "THOROUGH",
    crate = 3,
)]
async fn wrong_value_type() {}

fn main() {}

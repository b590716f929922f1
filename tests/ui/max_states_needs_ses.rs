//! Rule: states are counted by `ses` only.

use delay::delay_test;

#[delay_test(mode = "random", max_states = 1_000)]
async fn max_states_needs_ses() {}

fn main() {}

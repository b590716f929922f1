//! Rule: the registry knows the explorer.

use delay::delay_test;

#[delay_test(explorer = "rct")]
async fn unknown_explorer() {}

fn main() {}

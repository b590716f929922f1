//! Rule: what may happen to waiting tasks exists.

use delay::delay_test;

#[delay_test(waiting = "forbid")]
async fn unknown_waiting() {}

fn main() {}

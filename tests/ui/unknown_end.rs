//! Rule: the end exists.

use delay::delay_test;

#[delay_test(end = "quiet")]
async fn unknown_end() {}

fn main() {}

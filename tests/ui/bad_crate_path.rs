//! Rule: `crate` is a path.

use delay::delay_test;

#[delay_test(crate = "not a path")]
async fn text() {}

#[delay_test(crate = my_crate::<u32>::delay)]
async fn generic() {}

fn main() {}

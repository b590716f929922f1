//! Rule: a key that does not exist is named, with the nearest one that does.

use delay::delay_test;

#[delay_test(max_delay = 3)]
async fn near() {}

#[delay_test(flavor = "multi_thread")]
async fn far() {}

fn main() {}

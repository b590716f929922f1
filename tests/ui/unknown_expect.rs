//! Rule: the expectation exists.

use delay::delay_test;

#[delay_test(expect = "failure")]
async fn unknown_expect() {}

fn main() {}

//! Rule: the body is async.

use delay::delay_test;

#[delay_test]
fn not_async() {}

fn main() {}

//! Rule: a test is safe to call.

use delay::delay_test;

#[delay_test]
async unsafe fn unsafe_fn() {}

fn main() {}

//! Rule: a test has Rust's calling convention.

use delay::delay_test;

#[delay_test]
async extern "C" fn extern_fn() {}

fn main() {}

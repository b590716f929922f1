//! Rule: only functions are tests.

use delay::delay_test;

#[delay_test]
struct Ring;

#[delay_test]
mod ring {}

#[delay_test]
const PROCESSES: usize = 3;

fn main() {}

//! Rule: a test takes no parameters.

use delay::delay_test;

#[delay_test]
async fn fn_parameters(processes: usize, leader: usize) {}

fn main() {}

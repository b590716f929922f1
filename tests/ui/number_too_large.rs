//! Rule: a number fits its type.

use delay::delay_test;

#[delay_test(max_delays = 4_294_967_296, seed = 18_446_744_073_709_551_616)]
async fn number_too_large() {}

fn main() {}

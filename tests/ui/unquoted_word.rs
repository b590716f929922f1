//! Rule: a word is a string.

use delay::delay_test;

#[delay_test(mode = ses)]
async fn plain() {}

#[delay_test(mode = Mode::Random)]
async fn path() {}

fn main() {}

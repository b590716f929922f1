//! Rule: pairs are separated by commas.

use delay::delay_test;

#[delay_test(mode = "ses" seed = 3)]
async fn missing_comma() {}

fn main() {}

//! Rule: `config` is the path of a constant.

use delay::delay_test;

#[delay_test(config = delay::Checker::new())]
async fn bad_config() {}

fn main() {}

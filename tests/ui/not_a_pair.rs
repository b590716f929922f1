//! Rule: an argument is `key = value`.

use delay::delay_test;

#[delay_test("rtc")]
async fn bare_value() {}

#[delay_test(max_delays(3))]
async fn call() {}

#[delay_test(max_delays)]
async fn bare_key() {}

fn main() {}

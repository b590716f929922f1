//! Rule: a delay test is a `#[test]` already.

use delay::delay_test;

#[delay_test]
#[test]
async fn with_test() {}

#[delay_test]
#[delay::test]
async fn with_itself() {}

fn main() {}

//! Rule: clocks differ by a duration.

#[delay::test(skew = "-5ms")]
async fn ring() {}

fn main() {}

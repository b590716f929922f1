//! Rule: a budget that is written is at least 1.

#[delay::test(faults(drop = 0))]
async fn ring() {}

fn main() {}

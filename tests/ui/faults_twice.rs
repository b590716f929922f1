//! Rule: each kind has one budget.

#[delay::test(faults(drop = 1, drop = 2))]
async fn ring() {}

fn main() {}

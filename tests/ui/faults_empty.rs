//! Rule: faults say at least one budget.

#[delay::test(faults())]
async fn ring() {}

fn main() {}

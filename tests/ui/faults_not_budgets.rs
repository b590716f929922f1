//! Rule: faults are budgets in parentheses.

#[delay::test(faults = 3)]
async fn ring() {}

fn main() {}

//! Rule: what never crashes never restarts.

#[delay::test(faults(restart = 1))]
async fn ring() {}

fn main() {}

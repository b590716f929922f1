//! Rule: a kind of fault is one of the list.

#[delay::test(faults(drp = 1))]
async fn ring() {}

fn main() {}

//! Rule: time is one of the list.

#[delay::test(time = "order")]
async fn ring() {}

fn main() {}

//! Rule: a test is a free function.

use delay::delay_test;

struct Ring;

impl Ring {
    #[delay_test]
    async fn self_receiver(&self) {}
}

fn main() {}

//! Rule: a test has a body.

use delay::delay_test;

trait Protocol {
    #[delay_test]
    async fn fn_without_body();
}

fn main() {}

//! A second crate of the package, with a test of the same name as one in its library.

use delay::delay_test;

#[delay_test]
async fn fails() {
    assert_eq!(votes::race().await, 3, "in the second crate");
}

#[test]
fn is_no_delay_test() {}

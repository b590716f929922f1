//! Rule: a test has no type to be generic over.

use delay::delay_test;

#[delay_test]
async fn types<T: Default>() {}

#[delay_test]
async fn lifetimes<'a>() {}

#[delay_test]
async fn bounds()
where
    String: Clone,
{
}

fn main() {}

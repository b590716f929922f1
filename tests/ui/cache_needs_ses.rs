//! Rule: states are cached by `ses` only.

use delay::delay_test;

#[delay_test(mode = "ss", cache = "off")]
async fn cache_needs_ses() {}

fn main() {}

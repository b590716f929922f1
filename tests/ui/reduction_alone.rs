//! Rule: a reduction has no cache and executes all that it visits, without faults, in mode `ses`.

use delay::delay_test;

#[delay_test(reduction = "dpor", cache = "off", execution = "learned", end = "body", faults(drop = 1))]
async fn reduction_without_room() {}

#[delay_test(mode = "ses+ss", reduction = "dpor")]
async fn reduction_needs_ses() {}

#[delay_test(reduction = "sleep")]
async fn unknown_reduction() {}

fn main() {}

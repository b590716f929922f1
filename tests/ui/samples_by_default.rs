//! Rule: without a mode nothing is sampled, and no monitor is looked at for how long it is hot.

use delay::{Checker, Mode, delay_test};

const SAMPLED: Checker = Checker::new().mode(Mode::Ss);

#[delay_test(samples = 5)]
async fn samples_by_default() {}

#[delay_test(temperature = 9)]
async fn temperature_by_default() {}

#[delay_test(config = SAMPLED, samples = 5)]
async fn samples_by_its_config() {}

fn main() {}

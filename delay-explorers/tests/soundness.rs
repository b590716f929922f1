//! Every explorer of the registry through the conformance test.

use delay_core::{explorer::Explorer, soundness};
use delay_explorers::{
    ordered::Ordered,
    probabilistic::ProbabilisticRoundRobin,
    registry::NAMES,
    round_robin::RoundRobin,
    run_to_completion::{RunToCompletion, RunToReceiver},
};

#[track_caller]
fn is_sound<E: Explorer>(make: impl Fn() -> E) {
    if let Err(unsound) = soundness::check(make) {
        panic!("{unsound}");
    }
}

#[test]
fn every_explorer_of_the_registry_is_sound() {
    for name in NAMES {
        match name {
            "rtc" => is_sound(RunToCompletion::default),
            "rr" => is_sound(RoundRobin::default),
            "prr" => (0..5).for_each(|seed| is_sound(|| ProbabilisticRoundRobin::new(seed))),
            "ordered" => is_sound(Ordered::default),
            "rtc-recv" => is_sound(RunToReceiver::default),
            _ => panic!("{name} is in the registry and has no test here"),
        }
    }
}

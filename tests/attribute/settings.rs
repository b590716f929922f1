//! Settings: all keys at once, a shared configuration, another name for the crate.

use delay::{Cache, Checker, Mode, choose, delay_test, task::yield_now};

#[delay_test(
    explorer = "rtc",
    mode = "ses",
    max_delays = 3,
    max_steps = 10_000,
    cache = "state+explorer",
    granularity = "macro",
    end = "body",
    budget = "10s",
    delta = 2,
    seed = 0xdead,
    max_states = 1_000,
    expect = "fail",
    waiting = "deny"
)]
async fn all_keys_of_an_exhaustive_search() {
    assert_ne!(choose(3).await, 2);
}

#[delay_test(mode = "ss", samples = 50, seed = 7)]
async fn a_trailing_comma() {
    choose(3).await;
}

#[delay_test()]
async fn no_keys() {
    choose(3).await;
}

/// Finds nothing that takes a delay.
const FEW: Checker = Checker::new().mode(Mode::Ses).cache(Cache::Off).max_delays(0);

#[delay_test(config = FEW)]
async fn a_shared_configuration_is_used() {
    assert_eq!(choose(2).await, 0);
}

#[delay_test(config = FEW, max_delays = 1, expect = "fail")]
async fn a_key_wins_over_the_shared_configuration() {
    assert_eq!(choose(2).await, 0);
}

#[delay_test(crate = "crate::names::facade", max_delays = 1)]
async fn the_crate_by_a_string() {
    yield_now().await;
}

#[delay_test(crate = super::names::facade, max_delays = 1)]
async fn the_crate_by_a_path() {
    yield_now().await;
}

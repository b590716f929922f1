//! What the macros' expansion calls. Not for people: may change with any release.

use delay_core::{
    api::record::Observer,
    explorer::Explorer,
    harness::{
        self, Erased, Outcome, Test,
        registry::{Job, Registry},
    },
};
pub use delay_core::{harness::Pin, protocol::Record};
use delay_explorers::BuiltIn;
pub use delay_explorers::known_explorer;
pub use insta;
use std::{any::type_name, future::Future, hint::black_box};

/// Runs a test with an explorer chosen by name.
pub fn run<const N: usize, F, Fut>(
    meta: &'static Record<N>,
    record: &str,
    manifest_dir: &str,
    checker: crate::Checker,
    pin: impl Fn(&Pin<'_>) + Sync,
    body: F,
) where
    F: Fn() -> Fut + Send + Sync,
    Fut: Future,
    Fut::Output: Outcome,
{
    // Keeps the link-section record of a test that is linked in.
    black_box(meta);
    let test = Test { record, manifest_dir, own_explorer: None };
    harness::run::<BuiltIn>(&test, &checker, &pin, &BuiltIn::run, &Erased(&body));
}

/// Runs a test with an explorer of the user's own.
pub fn run_with<const N: usize, E, F, Fut>(
    meta: &'static Record<N>,
    record: &str,
    manifest_dir: &str,
    checker: crate::Checker,
    pin: impl Fn(&Pin<'_>) + Sync,
    make: impl Fn(u64) -> E + Sync,
    body: F,
) where
    E: Explorer,
    F: Fn() -> Fut + Send + Sync,
    Fut: Future,
    Fut::Output: Outcome,
{
    black_box(meta);
    let own = type_name::<E>();
    let runner = |name: &str, seed, job: Job<'_, '_, '_>| {
        if name != own {
            return BuiltIn::run(name, seed, job);
        }
        job.run(make(seed));
        Some(())
    };
    let test = Test { record, manifest_dir, own_explorer: Some(own) };
    harness::run::<BuiltIn>(&test, &checker, &pin, &runner, &Erased(&body));
}

/// Checks recordings, if cargo-delay asks for it.
pub fn observe<const N: usize>(meta: &'static Record<N>, record: &str, make: fn() -> Observer) {
    black_box(meta);
    harness::observe(record, make);
}

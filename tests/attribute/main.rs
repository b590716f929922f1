//! What `#[delay_test]` makes of functions: an ordinary test that keeps its other attributes, its result and its name, and
//! touches no name of the user's.
//!
//! Most of this file is right if it compiles under the lints below and its tests pass.
#![forbid(unsafe_code)]
#![deny(
    warnings,
    missing_docs,
    unreachable_pub,
    unused_lifetimes,
    unused_qualifications,
    elided_lifetimes_in_paths,
    missing_debug_implementations,
    clippy::all,
    clippy::pedantic,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::unwrap_used
)]

mod explorers;
mod hygiene;
mod names;
mod pins;
mod results;
mod settings;

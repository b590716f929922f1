//! Specifications beyond assertions, each with a program that keeps it and one that does not.

mod conformance;
mod inbox;
mod invariants;
mod linearizability;
mod long_histories;
#[path = "../verdicts/mod.rs"]
#[expect(dead_code, reason = "shared with tests that know the text beforehand")]
mod verdicts;

use verdicts::{exhaustive, found, passes};

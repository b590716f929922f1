//! Learned execution against live execution: the same searches, the same numbers.

mod beyond;
mod handles;
mod invariants;
mod programs;
mod random_programs;
mod shared_programs;
mod sharing;
mod threads;

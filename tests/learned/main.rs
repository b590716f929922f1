//! Learned execution against live execution: the same searches, the same numbers.

mod programs;
mod random_programs;
mod sharing;
mod threads;

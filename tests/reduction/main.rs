//! `reduction = "dpor"`: of executions that differ only in the order of steps that commute, one.
//!
//! [`model`] enumerates all executions of small programs and finds out which steps commute by making them in both orders. It shares
//! nothing with the library, which runs the same programs as async code in [`programs`].

mod bounds;
mod model;
mod programs;
mod refusals;

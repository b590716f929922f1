//! Programs that do not behave: endless ones, uncontrolled ones, ones that panic where it hurts. Each must come to an
//! end, with a verdict that says what happened.

mod alike;
mod beginning;
mod endless;
mod ends;
mod memory;
mod orders;
mod panics;
mod uncontrolled;
mod withdrawn;

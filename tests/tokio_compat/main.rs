//! Our types against tokio's: the same code, the same results.

mod beyond;
mod bounds;
mod driver;
mod nodes;
#[macro_use]
mod parity;
mod select;
mod shared;

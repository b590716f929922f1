//! Our types against tokio's: the same code, the same results.

mod beyond;
mod bounds;
mod driver;
mod parity;
mod select;

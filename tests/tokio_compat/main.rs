//! Our types against tokio's: the same code, the same results.

mod beyond;
mod bounds;
mod driver;
mod items;
mod nodes;
#[macro_use]
mod parity;
mod once;
mod outside;
mod places;
mod races;
mod select;
mod shared;
mod streams;
mod tokens;

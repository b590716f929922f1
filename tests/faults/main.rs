//! The fault model: each kind of fault finds what cannot be found without it, within its budget and no further.

#![expect(clippy::unwrap_used, reason = "a test")]

mod bad_input;
mod differential;
mod granularity;
mod messages;
mod nodes;
mod outcomes;
mod storage;
mod time;

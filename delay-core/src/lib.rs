//! The engine of `delay`. For authors of explorers; may change: depend on the facade crate `delay-test` instead.
//!
//! | the paper | here | tokio |
//! |---|---|---|
//! | process | [`ids::Process`] | task |
//! | program state S | [`world::World`] | |
//! | Choices(s) | [`world::Choice`], `world/choice.rs` | |
//! | delaying explorer (D, Next, Step, Delay, d0) | [`explorer::Explorer`] | scheduler |
//! | SES (Figure 5), SS (Figure 7) | [`search`] | |
//!
//! Reading order: `world/mod.rs` (what a state is), `live/mod.rs` (how real futures move it), `explorer.rs` (who
//! decides), `search/mod.rs` (what is visited), `harness/mod.rs` (one test from start to end).

#[macro_use]
mod bug;
pub mod api;
pub mod coverage;
pub mod explorer;
pub mod harness;
pub mod hash;
pub mod ids;
pub mod limits;
pub mod live;
pub mod name;
pub mod protocol;
pub mod random;
pub mod replay;
pub mod search;
pub mod soundness;
pub mod trace;
pub mod verdict;
pub mod world;

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
//!
//! Without the feature `controlled` there is no engine: [`api`] is what runs on tokio.

#[macro_use]
mod bug;
pub mod api;
#[cfg(feature = "controlled")]
pub mod coverage;
#[cfg(feature = "controlled")]
pub mod explorer;
#[cfg(feature = "controlled")]
pub mod harness;
pub mod hash;
#[cfg(feature = "controlled")]
pub mod ids;
#[cfg(feature = "controlled")]
pub mod learned;
pub mod limits;
#[cfg(feature = "controlled")]
pub mod live;
#[cfg(feature = "controlled")]
pub mod name;
pub mod numbers;
#[cfg(feature = "controlled")]
pub mod protocol;
#[cfg(feature = "controlled")]
pub mod random;
#[cfg(feature = "controlled")]
pub mod replay;
#[cfg(feature = "controlled")]
pub mod search;
#[cfg(feature = "controlled")]
pub mod soundness;
#[cfg(feature = "controlled")]
pub mod trace;
#[cfg(feature = "controlled")]
pub mod verdict;
#[cfg_attr(not(feature = "controlled"), path = "world/plain.rs")]
pub mod world;

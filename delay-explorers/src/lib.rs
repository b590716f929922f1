//! The built-in delaying explorers and their registry.
//!
//! | name | runs first | good for |
//! |---|---|---|
//! | `rtc` | the receiver of the last message | protocols: follows causal chains. The default |
//! | `rr` | the process that has waited longest | fair turns |
//! | `prr` | `rr`, in a random order of arrival | sampling when the order of creation is unlucky |
//! | `ordered` | what the program ranks first | "no failure before it has stabilised" |
//! | `rtc-recv` | as `rtc`, moving every receiver up | comparison with the paper's wording |
//!
//! To write your own, implement [`delay_core::explorer::Explorer`] and check it with [`delay_core::soundness::check`].

#![warn(missing_docs)]

pub mod ordered;
pub mod probabilistic;
pub mod registry;
pub mod round_robin;
pub mod run_to_completion;

pub use registry::{BuiltIn, known_explorer};

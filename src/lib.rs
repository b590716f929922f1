//! `delay` finds the bugs of async protocols that only appear under rare message orders and failures.
//!
//! Protocol code uses the modules here in place of tokio's: names and signatures are the same. Inside a
//! `#[delay_test]` every task, message, choice and timer is controlled, and schedules are searched; outside one the
//! same code runs on tokio. [`guide`] starts from the first test.
//!
//! Without the default feature `controlled` nothing but that is left: tokio's own types, and ours on tokio.
#![warn(missing_docs)]

pub use delay_core::{
    api::{
        checkpoint::{checkpoint, checkpoint_with},
        choose::{choose, fair_choose, fair_flip, flip},
        collections, inbox,
        invariant::{self, invariant, observe},
        join, linearizability,
        monitor::{self, announce},
        net, node,
        payload::Payload,
        pin,
        random::{DelayRng, rng},
        record, select, storage, sync,
        task::{self, spawn},
        task_local, time, tokio_stream, tokio_util, try_join,
    },
    world::fault::{Faults, Time},
};
#[cfg(feature = "controlled")]
pub use delay_core::{
    harness::{Expect, Outcome, Report, conformance},
    live::{End, Waiting},
    search::{Cache, Execution, Fingerprints, Mode, Reduction, Stop},
    world::Granularity,
};
pub use delay_macros::{delay_test, observer, test};

/// Configures a check of a test body and runs it; the attribute expands to it.
#[cfg(feature = "controlled")]
pub type Checker = delay_core::harness::Checker<delay_explorers::BuiltIn>;

/// Writing an explorer of your own.
#[cfg(feature = "controlled")]
pub mod explorer {
    pub use delay_core::{
        explorer::{Event, Explorer},
        ids::Process,
        soundness::{Unsound, check as check_soundness},
    };
}

mod receive;

#[cfg(feature = "controlled")]
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

/// What most tests and protocols need: `use delay::prelude::*;`.
pub mod prelude {
    pub use crate::{
        Faults, Payload, Time, announce, choose, delay_test, flip, inbox::Inbox, monitor::Monitor, net, node::Node,
        observe, receive, sync, task, time,
    };
}

/// The guide, from the first test to moving a code base.
#[cfg(feature = "controlled")]
pub mod guide {
    #[doc = include_str!("../docs/guide/01-first-test.md")]
    pub mod first_test {}
    #[doc = include_str!("../docs/guide/02-what-is-controlled.md")]
    pub mod what_is_controlled {}
    #[doc = include_str!("../docs/guide/03-explorers-and-searches.md")]
    pub mod explorers_and_searches {}
    #[doc = include_str!("../docs/guide/04-traces-and-pins.md")]
    pub mod traces_and_pins {}
    #[doc = include_str!("../docs/guide/05-state-caching.md")]
    pub mod state_caching {}
    #[doc = include_str!("../docs/guide/06-from-tokio.md")]
    pub mod from_tokio {}
    #[doc = include_str!("../docs/guide/07-specifications.md")]
    pub mod specifications {}
    #[doc = include_str!("../docs/guide/08-faults.md")]
    pub mod faults {}
    #[doc = include_str!("../docs/guide/09-from-p.md")]
    pub mod from_p {}
    #[cfg(feature = "tcp")]
    #[doc = include_str!("../docs/guide/10-deploy.md")]
    pub mod deploy {}
    #[doc = include_str!("../docs/guide/11-observe.md")]
    pub mod observe {}
    #[doc = include_str!("../docs/guide/12-migrations.md")]
    pub mod migrations {}
    #[doc = include_str!("../docs/guide/13-long-searches.md")]
    pub mod long_searches {}
}

/// Compiles the README's programs.
#[cfg(all(doctest, feature = "controlled"))]
#[doc = include_str!("../README.md")]
pub mod readme {}

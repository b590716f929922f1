//! Monitors and recordings of production: what is announced outside a test.
//!
//! Invariant: a recording is the process's, so tests that record take turns ([`rig::turn`]); a watch hears all that is announced in the
//! process, so each test has events of its own.

mod gaps;
mod kills;
mod recordings;
mod rig;
mod watch;

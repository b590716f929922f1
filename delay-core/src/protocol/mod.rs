//! What cargo-delay and a test binary say to each other: records in a link section, a request file, a file of events.
//!
//! Mirror types only: nothing here decides, and no other room's type crosses the process border. `docs/protocol.md` is the
//! same in prose. Invariants: every message carries or is preceded by its version; a reader refuses a version it does not
//! know instead of guessing; a change of any field is a new [`VERSION`].

pub mod covered;
pub mod event;
pub mod record;
pub mod request;
pub mod shard;

pub use covered::Covered;
pub use event::{
    Envelope, ErrorKind, Event, EventError, Finding, Finished, Pin, PinVerdict, Progress, ReplayOutcome, Replayed,
    Started, Verdict,
};
pub use record::{Kind, Record, RecordError, TestRecord, parse_section};
pub use request::{Command, Extent, JOBS_MAX, MODES, Overrides, REDUCTIONS, Request, RequestError};
pub use shard::{Shard, ShardError};

/// The version of requests and events. A record has its own, [`record::VERSION`], as it is read before anything runs.
pub const VERSION: u32 = 5;

/// Names the JSON file with the [`Request`]. Without it a test runs by its attributes and its `DELAY_*` variables.
pub const REQUEST_ENV: &str = "CARGO_DELAY_REQUEST";

/// Names the file to which a test appends its [`Envelope`]s, one JSON value a line.
pub const EVENTS_ENV: &str = "CARGO_DELAY_EVENTS";

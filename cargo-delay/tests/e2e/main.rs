//! The command end to end: the real `cargo-delay` on real packages that depend on this workspace.
//!
//! The packages are made for the occasion and share one target directory, so that their dependencies are built once.
//! Nothing is downloaded: the lock file is this workspace's. The first run builds for a minute or two.
#![expect(clippy::unwrap_used, reason = "in a test a panic is a failure, as it should be")]

mod check;
mod checkpoints;
mod list;
mod pins;
mod plain;
mod project;
mod quiet;
mod replay;
mod run;
mod shards;
mod stop;

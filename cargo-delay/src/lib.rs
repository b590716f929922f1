//! `cargo delay`: builds test binaries, finds the delay tests and observers in them, runs each in a process of its own and reports.
//!
//! Invariants: nothing here explores, replays or judges a property; the test does, and this side starts it and shows what it
//! says (`docs/protocol.md`). Text for people goes to standard error, what was asked for (a list, help) to standard output.
//! One run: `cli` -> `workspace` -> `build` -> `discover` -> `filter` -> `run` -> `report` -> `exit_code`; where a run is divided,
//! `saved_report` -> `merge`.

mod build;
mod cargo_args;
mod cli;
mod command;
mod discover;
mod error;
mod exit_code;
mod filter;
mod interrupt;
mod outcome;
mod output;
mod report;
mod run;
mod saved_report;
mod trace_header;
mod workspace;

use crate::{
    cli::{Cargo, Subcommand},
    error::Error,
};
use clap::Parser as _;
use std::{ffi::OsString, io::Write as _, process::ExitCode};

/// Does what the command line `arguments` asks and returns the exit code, documented in `cargo delay help exit-codes`.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Cargo::Delay(arguments) = match Cargo::try_parse_from(arguments) {
        Ok(cargo) => cargo,
        Err(error) => error.exit(),
    };
    let cli::Arguments { output, command } = arguments;
    output.color.apply();
    let result = match command {
        Subcommand::List(list) => command::list::list(&list, &output),
        Subcommand::Test(test) => command::test::test(&test, &output),
        Subcommand::Merge(merge) => command::merge::merge(&merge, &output),
        Subcommand::Replay(replay) => command::replay::replay(&replay, &output),
        Subcommand::Check(check) => command::check::check(&check, &output),
        Subcommand::Help { topic } => command::help::help(topic),
    };
    result.unwrap_or_else(|error| complain(&error)).into()
}

/// Says on standard error what stopped the command.
fn complain(error: &Error) -> exit_code::Code {
    if let Some(text) = error.text() {
        let style = report::style::ERROR;
        // Nobody is left to hear that standard error is gone.
        let _ = writeln!(anstream::stderr(), "{style}error{style:#}: {text}");
    }
    error.code()
}

//! `cargo delay help`: the help of a command, or a topic.

use crate::{
    cli::{Cargo, Topic},
    error::Error,
    exit_code::{self, Code},
};
use clap::CommandFactory as _;
use std::io::Write as _;

/// Prints the help of `topic`, or of the whole.
pub(crate) fn help(topic: Option<Topic>) -> Result<Code, Error> {
    let text = match topic {
        None => long_help(&["delay"]),
        Some(Topic::List) => long_help(&["delay", "list"]),
        Some(Topic::Test) => long_help(&["delay", "test"]),
        Some(Topic::Merge) => long_help(&["delay", "merge"]),
        Some(Topic::Replay) => long_help(&["delay", "replay"]),
        Some(Topic::Check) => long_help(&["delay", "check"]),
        Some(Topic::ExitCodes) => exit_code::help(),
    };
    write!(anstream::stdout(), "{text}").map_err(Error::Output)?;
    Ok(Code::Ok)
}

/// The help of the command at `path`, with its styles.
fn long_help(path: &[&str]) -> String {
    let mut command = Cargo::command();
    command.build();
    let mut found = &mut command;
    for name in path {
        found = found.find_subcommand_mut(name).expect("every topic is a command");
    }
    found.render_long_help().ansi().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_has_its_help() {
        for name in ["list", "test", "merge", "replay", "check"] {
            assert!(
                anstream::adapter::strip_str(&long_help(&["delay", name]))
                    .to_string()
                    .contains(&format!("Usage: cargo delay {name}"))
            );
        }
        assert!(anstream::adapter::strip_str(&long_help(&["delay"])).to_string().contains("Usage: cargo delay"));
    }
}

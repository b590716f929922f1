//! The exit codes, their meaning, and the text of `cargo delay help exit-codes`.
//!
//! Invariant: codes below 120 mean what the same code of `cargo nextest` means, so that scripts made for one fit the other; a
//! published code never changes its meaning.

use std::process::ExitCode;

/// How the command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Code {
    /// Everything asked for was done, and no test failed.
    Ok = 0,
    /// The command line makes no sense.
    Usage = 2,
    /// No test matched, or no monitor heard anything of a recording.
    NoTests = 4,
    /// Something around the tests went wrong: a trace file, a recording, a report, a directory, a process that cannot be started.
    Setup = 96,
    /// A test failed, a recording violates a monitor, or the run was stopped.
    TestFailed = 100,
    /// `cargo test --no-run` failed.
    BuildFailed = 101,
    /// `cargo metadata` failed.
    MetadataFailed = 102,
    /// A test binary could not be listed.
    ListFailed = 104,
    /// The output could not be written.
    OutputFailed = 110,
    /// A replayed trace no longer applies to the program.
    Diverged = 120,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}

/// All codes, ascending, each with its line of the help text.
const MEANINGS: [(Code, &str); 10] = [
    (Code::Ok, "success: every test passed, or failed where a failure is expected"),
    (Code::Usage, "the command line cannot be understood"),
    (Code::NoTests, "no test to run (see --no-tests), or nothing recorded that an observer hears"),
    (Code::Setup, "a trace file, recording, report, directory or process could not be used"),
    (
        Code::TestFailed,
        "a test failed, a recording violates a monitor, a replay ended with another verdict, or the run was stopped",
    ),
    (Code::BuildFailed, "the build failed"),
    (Code::MetadataFailed, "cargo metadata failed"),
    (Code::ListFailed, "the tests of a binary could not be listed"),
    (Code::OutputFailed, "the output could not be written"),
    (Code::Diverged, "a replayed trace no longer applies to the program"),
];

/// The text of `cargo delay help exit-codes`.
pub(crate) fn help() -> String {
    let lines = MEANINGS.map(|(code, meaning)| format!("{:>5}  {meaning}\n", code as u8));
    let title = "The exit codes of cargo delay. Those below 120 mean what they mean for cargo nextest.";
    format!("{title}\n\n{}", lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_every_code_once_in_order() {
        let codes: Vec<u8> = MEANINGS.iter().map(|(code, _)| *code as u8).collect();
        assert_eq!(codes, [0, 2, 4, 96, 100, 101, 102, 104, 110, 120]);
        insta::assert_snapshot!(help());
    }
}

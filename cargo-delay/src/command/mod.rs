//! The commands, one file each, and what they share: from the command line to the tests that are there.

pub(crate) mod check;
pub(crate) mod help;
pub(crate) mod list;
pub(crate) mod merge;
pub(crate) mod replay;
pub(crate) mod test;

use crate::{
    build,
    cargo_args::CargoArgs,
    cli::OutputArgs,
    discover::{self, Test},
    error::Error,
    filter::Filter,
    report::Verbosity,
    workspace::Workspace,
};
use delay_core::protocol::Kind;

/// Builds what `arguments` select of `workspace` and returns its delay tests.
fn find_tests(workspace: &Workspace, arguments: &CargoArgs, output: &OutputArgs) -> Result<Vec<Test>, Error> {
    find(Kind::Test, workspace, arguments, output)
}

/// Builds what `arguments` select of `workspace` and returns what it has of this kind.
fn find(kind: Kind, workspace: &Workspace, arguments: &CargoArgs, output: &OutputArgs) -> Result<Vec<Test>, Error> {
    let Some(packages) = workspace.package_words(arguments) else { return Ok(Vec::new()) };
    let mut found = discover::discover(build::build(workspace, &packages, arguments, output)?)?;
    found.retain(|test| test.record.kind == kind);
    Ok(found)
}

/// The tests that `filter` admits, and how many it does not.
fn select(tests: Vec<Test>, filter: &Filter) -> (Vec<Test>, usize) {
    let all = tests.len();
    let selected: Vec<Test> = tests.into_iter().filter(|test| filter.admits(test)).collect();
    let skipped = all - selected.len();
    (selected, skipped)
}

fn verbosity(output: &OutputArgs) -> Verbosity {
    match (output.quiet, output.verbose) {
        (true, _) => Verbosity::Quiet,
        (false, true) => Verbosity::Verbose,
        (false, false) => Verbosity::Normal,
    }
}

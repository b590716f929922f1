//! `cargo delay test`: builds, finds, runs, reports.

use super::{find_tests, select, verbosity};
use crate::{
    cli::{NoTests, OutputArgs, RunnerArgs, SearchArgs, TestArgs},
    error::Error,
    exit_code::Code,
    filter::Filter,
    interrupt::Interrupt,
    report::{Report, progress::Meter, style::WARNING, terminal::Terminal},
    run::{self, Happening, OnFailure, Plan},
    saved_report::{SavedReport, Saving},
    workspace::Workspace,
};
use delay_core::protocol::{Command, Overrides, Shard};
use std::{env, io::Write as _, thread};

/// The variables by which a person sets the threads of a search, and its part, without this command.
const JOBS_ENV: &str = "DELAY_JOBS";
const SHARD_ENV: &str = "DELAY_SHARD";

/// Runs the tests that the filter admits.
pub(crate) fn test(arguments: &TestArgs, output: &OutputArgs) -> Result<Code, Error> {
    let TestArgs { filter, search, runner, cargo } = arguments;
    let filter = Filter::new(filter)?;
    let shard = shard(search)?;
    // Before anything is built and run: to lose the report of a long run helps nobody.
    let saving = runner.report.as_deref().map(Saving::begin).transpose()?;
    let workspace = Workspace::load(cargo)?;
    let (tests, skipped) = select(find_tests(&workspace, cargo, output)?, &filter);
    if tests.is_empty() {
        return without_tests(runner.no_tests, skipped);
    }
    let interrupt = Interrupt::listen()?;
    let threads = runner.test_threads as usize;
    let plan = Plan {
        tests: &tests,
        request: Command::Test,
        overrides: overrides(search, threads.min(tests.len())),
        threads,
        on_failure: on_failure(runner),
        interrupt: &interrupt,
    };
    let terminal = Terminal::new(anstream::stderr(), verbosity(output));
    let mut report = Report::new(&tests, skipped, terminal, Meter::new(runner.show_progress, tests.len()));
    report.begin()?;
    let mut saved = SavedReport::of(shard, &tests);
    let result = run::run(&plan, |happening| {
        if let Happening::Ended(index, run) = &happening {
            saved.tests[*index].end(run);
        }
        report.tell(happening)
    });
    if let Some(saving) = saving {
        saving.finish(&saved)?;
    }
    let summary = report.finish()?;
    result?;
    Ok(if summary.failures.is_empty() && summary.run() == summary.meant { Code::Ok } else { Code::TestFailed })
}

/// Which part of the run this is, if somebody divided it.
fn shard(search: &SearchArgs) -> Result<Option<Shard>, Error> {
    let variable = env::var(SHARD_ENV).ok().filter(|text| !text.is_empty());
    match (search.shard, variable) {
        (Some(shard), _) => Ok(Some(shard)),
        (None, Some(text)) => {
            let shard = text.parse().map_err(|error| Error::Usage(format!("the variable {SHARD_ENV}: {error}")))?;
            Ok(Some(shard))
        }
        (None, None) => Ok(None),
    }
}

/// What is said and done if the filter admits nothing.
fn without_tests(action: NoTests, skipped: usize) -> Result<Code, Error> {
    let text = match skipped {
        0 => "no delay tests to run: is `delay-test` a (dev-)dependency of the selected packages?".to_owned(),
        skipped => format!("no delay tests to run: the filter leaves out all {skipped}"),
    };
    match action {
        NoTests::Fail => return Err(Error::NoTests(format!("{text}\n(use --no-tests=pass to allow this)"))),
        NoTests::Warn => {
            writeln!(anstream::stderr(), "{WARNING}warning{WARNING:#}: {text}").map_err(Error::Output)?;
        }
        NoTests::Pass => {}
    }
    Ok(Code::Ok)
}

/// `fail_fast` is the default and there for symmetry; the later of the two options wins.
fn on_failure(runner: &RunnerArgs) -> OnFailure {
    if runner.no_fail_fast { OnFailure::GoOn } else { OnFailure::Stop }
}

/// The overrides, with the cores shared between `tests_at_a_time` unless somebody has said how many to use. More threads
/// change no result, only the time.
fn overrides(search: &SearchArgs, tests_at_a_time: usize) -> Overrides {
    let mut overrides = search.overrides();
    if overrides.jobs.is_none() && env::var_os(JOBS_ENV).is_none() {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        overrides.jobs = u32::try_from((cores / tests_at_a_time.max(1)).max(1)).ok();
    }
    overrides
}

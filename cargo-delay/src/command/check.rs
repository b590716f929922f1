//! `cargo delay check`: has the observers of the selected packages check recordings.
//!
//! Invariant: success means that some monitor heard something and none objected.

use super::{find, verbosity};
use crate::{
    cli::{CheckArgs, OutputArgs},
    discover::Test,
    error::Error,
    exit_code::Code,
    interrupt::Interrupt,
    outcome::TestRun,
    report::{style::WARNING, terminal::Terminal},
    run::{self, Happening, OnFailure, Plan},
    workspace::Workspace,
};
use delay_core::protocol::{Command, ErrorKind, Extent, Kind, Overrides, Verdict};
use std::{fs::File, io::Write as _, path, path::PathBuf};

/// What stands behind the name of the function in the name of its test.
const SUFFIX: &str = "::observer";

/// Below this similarity a "did you mean" would puzzle more than help; the value is clap's.
const SIMILARITY_MIN: f64 = 0.7;

/// Checks the recordings named on the command line.
pub(crate) fn check(arguments: &CheckArgs, output: &OutputArgs) -> Result<Code, Error> {
    let CheckArgs { recordings, observer, part, cargo } = arguments;
    // Before anything is built.
    let recordings: Vec<String> = recordings.iter().map(readable).collect::<Result<_, _>>()?;
    let workspace = Workspace::load(cargo)?;
    let observers = chosen(find(Kind::Observer, &workspace, cargo, output)?, observer.as_deref())?;
    let extent = if *part { Extent::Part } else { Extent::Whole };
    let runs = run_all(&observers, Command::Check { recordings, extent })?;
    let somebody_heard = runs.iter().any(|run| !is_unheard(run));
    let mut terminal = Terminal::new(anstream::stderr(), verbosity(output));
    for (test, run) in observers.iter().zip(&runs) {
        if is_unheard(run) && somebody_heard {
            // Of another protocol, as it seems.
            let name = test.label();
            writeln!(anstream::stderr(), "{WARNING}warning{WARNING:#}: {name} heard nothing of these recordings")
        } else {
            terminal.ended(test, run)
        }
        .map_err(Error::Output)?;
    }
    Ok(code(&runs))
}

/// The absolute path of a recording that is there.
fn readable(recording: &PathBuf) -> Result<String, Error> {
    let unusable = |error| Error::File { path: recording.clone(), error };
    File::open(recording).map_err(unusable)?;
    let absolute = path::absolute(recording).map_err(unusable)?;
    let text = absolute.to_str().ok_or_else(|| unusable(std::io::Error::other("the path is not UTF-8")))?;
    Ok(text.to_owned())
}

/// The name a person knows the observer by: the function's.
fn name(test: &Test) -> &str {
    test.record.path.strip_suffix(SUFFIX).unwrap_or(&test.record.path)
}

/// The observers that are meant.
fn chosen(observers: Vec<Test>, wanted: Option<&str>) -> Result<Vec<Test>, Error> {
    if observers.is_empty() {
        return Err(Error::NoTests(
            "no observer to check with: write a function with `#[delay::observer]` in the tests of the package that has the monitors (see the guide, 11)"
                .to_owned(),
        ));
    }
    let Some(wanted) = wanted else { return Ok(observers) };
    let is_meant = |test: &Test| {
        let name = name(test);
        name == wanted || name.rsplit("::").next() == Some(wanted) || test.label() == wanted
    };
    if observers.iter().any(is_meant) {
        return Ok(observers.into_iter().filter(is_meant).collect());
    }
    let names: Vec<&str> = observers.iter().map(name).collect();
    let similarity = |name: &&str| strsim::jaro(wanted, name.rsplit("::").next().unwrap_or(name));
    let nearest = names.iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    let hint = nearest.filter(|name| similarity(name) > SIMILARITY_MIN);
    let hint = hint.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    Err(Error::NoTests(format!("there is no observer `{wanted}`{hint}\nthere are: {}", names.join(", "))))
}

fn run_all(observers: &[Test], request: Command) -> Result<Vec<TestRun>, Error> {
    let interrupt = Interrupt::listen()?;
    let plan = Plan {
        tests: observers,
        request,
        overrides: Overrides::default(),
        threads: 1,
        on_failure: OnFailure::GoOn,
        interrupt: &interrupt,
    };
    let mut runs = Vec::new();
    run::run(&plan, |happening| {
        match happening {
            Happening::Ended(_, run) => runs.push(*run),
            Happening::Started(_) | Happening::Progress(_, _) | Happening::Quiet => {}
        }
        Ok(())
    })?;
    if runs.len() < observers.len() { Err(Error::Interrupted) } else { Ok(runs) }
}

/// Why the observer could not say anything, if it says so.
fn error(run: &TestRun) -> Option<ErrorKind> {
    match run.story.finished.as_ref().map(|finished| &finished.verdict) {
        Some(Verdict::Error { kind, message: _ }) => Some(*kind),
        Some(Verdict::Passed | Verdict::Unfinished | Verdict::Failed | Verdict::ExpectedFailure) | None => None,
    }
}

fn is_unheard(run: &TestRun) -> bool {
    error(run) == Some(ErrorKind::Unheard)
}

/// A violation comes first: it is certain whatever else went wrong.
fn code(runs: &[TestRun]) -> Code {
    let is_bad = |run: &TestRun| !run.status().is_success() && error(run).is_none();
    if runs.iter().any(is_bad) {
        Code::TestFailed
    } else if runs.iter().any(|run| error(run).is_some() && !is_unheard(run)) {
        Code::Setup
    } else if runs.iter().all(is_unheard) {
        Code::NoTests
    } else {
        Code::Ok
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        discover::tests::test,
        outcome::{
            End, Status,
            tests::{exit_101, finished, run},
        },
    };

    #[test]
    fn an_observer_is_chosen_by_the_name_of_its_function() {
        let observers = || vec![test("ex::spec", "atomic::observer", true), test("ex", "bank::linear::observer", true)];
        let names = |wanted: Option<&str>| match chosen(observers(), wanted) {
            Ok(tests) => tests.iter().map(name).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        };
        assert_eq!(names(None), "atomic bank::linear");
        assert_eq!(names(Some("atomic")), "atomic");
        assert_eq!(names(Some("linear")), "bank::linear");
        assert_eq!(names(Some("bank::linear")), "bank::linear");
        let text = "there is no observer `atomc`; did you mean `atomic`?\nthere are: atomic, bank::linear";
        assert_eq!(names(Some("atomc")), text);
        assert_eq!(names(Some("x")), "there is no observer `x`\nthere are: atomic, bank::linear");
        assert!(chosen(Vec::new(), None).unwrap_err().to_string().starts_with("no observer to check with"));
    }

    #[test]
    fn the_exit_code_goes_by_what_matters_most() {
        let error = |kind| run(vec![finished(Verdict::Error { kind, message: String::new() })], exit_101());
        let passed = || run(vec![finished(Verdict::Passed)], End::Success);
        let failed = || run(vec![finished(Verdict::Failed)], exit_101());
        assert_eq!(code(&[passed()]), Code::Ok);
        assert_eq!(code(&[passed(), error(ErrorKind::Unheard)]), Code::Ok);
        assert_eq!(code(&[error(ErrorKind::Unheard), error(ErrorKind::Unheard)]), Code::NoTests);
        assert_eq!(code(&[passed(), error(ErrorKind::Invalid)]), Code::Setup);
        assert_eq!(code(&[error(ErrorKind::Invalid), failed()]), Code::TestFailed);
        assert_eq!(code(&[run(vec![], exit_101())]), Code::TestFailed, "an observer that died has not passed");
        assert!(matches!(failed().status(), Status::Failed));
    }
}
